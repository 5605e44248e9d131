/** The audit log of the admin API: the actor, the action, its subject, and the response. */
import { Code, Group, Select, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { AuditView } from "../../../features/history/HistoryApi.ts"
import { useApiQuery, usePages } from "../../gateway/hooks.tsx"
import { omitEmpty, TextFilter, useAddressValue } from "../../parts/controls/addressFields.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
import { auditKey, operatorsKey, PAGE } from "../customers/accountKeys.ts"

type Entry = typeof AuditView.Type

const MOST_OPERATORS = 100
const MIN_ERROR_STATUS = 400

const OperatorFilter = () => {
  const { t } = useTranslation("accounts")
  const { t: shell } = useTranslation()
  const [operatorId, setOperatorId] = useAddressValue("operator")
  const operators = useApiQuery([...operatorsKey, "names"], (gateway) =>
    gateway.operators.listOperators({ query: { limit: MOST_OPERATORS } })
  )
  return (
    <Select
      label={t("operator")}
      searchable
      allowDeselect={false}
      value={operatorId}
      data={[
        { value: "", label: shell("any") },
        ...(operators.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? []),
        ...(operatorId === "" || operators.data?.data.some(({ id }) => id === operatorId) === true
          ? []
          : [{ value: operatorId, label: operatorId }])
      ]}
      onChange={setOperatorId}
    />
  )
}

export const AuditList = () => {
  const { t } = useTranslation("accounts")
  const [operator] = useAddressValue("operator")
  const [action] = useAddressValue("action")
  const [subject] = useAddressValue("subject")
  const [from] = useAddressValue("from")
  const [to] = useAddressValue("to")
  const audit = usePages(
    [...auditKey, { operator, action, subject, from, to }],
    (after) => (gateway) =>
      gateway.history.listAudit({
        query: {
          limit: PAGE,
          ...after,
          ...omitEmpty("operator_id", operator),
          ...omitEmpty("action", action),
          ...omitEmpty("subject_id", subject),
          ...omitEmpty("from", from),
          ...omitEmpty("to", to)
        }
      })
  )
  const columns: ReadonlyArray<Column<Entry>> = [
    { name: "at", label: t("at"), cell: (row) => <Timestamp at={row.at} /> },
    { name: "who", label: t("operator"), cell: (row) => row.operator_name },
    { name: "action", label: t("action"), cell: (row) => <Code>{row.action}</Code> },
    {
      name: "subject",
      label: t("subject"),
      cell: (row) => (row.subject_id === null ? "" : <Id id={row.subject_id} />)
    },
    {
      name: "status",
      label: t("status"),
      cell: (row) => (
        <StateBadge tone={row.status >= MIN_ERROR_STATUS ? "bad" : "good"}>{row.status}</StateBadge>
      )
    },
    {
      name: "fields",
      label: t("fields"),
      cell: (row) => (
        <Text size="xs" ff="monospace" className="said" ta="start" lineClamp={3} maw={360}>
          {JSON.stringify(row.fields)}
        </Text>
      )
    },
    {
      name: "request",
      label: t("request"),
      cell: (row) => <Id id={row.request_id} />,
      isHidden: true
    }
  ]
  return (
    <Stack>
      <Group align="flex-end">
        <OperatorFilter />
        <TextFilter name="action" label={t("action")} />
        <TextFilter name="subject" label={t("subject")} />
        <TextFilter name="from" label={t("from")} type="date" />
        <TextFilter name="to" label={t("to")} type="date" />
      </Group>
      <DataTable label={t("audit")} columns={columns} query={audit} empty={t("nothingDone")} />
    </Stack>
  )
}
