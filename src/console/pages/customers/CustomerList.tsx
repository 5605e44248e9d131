/** All organisations, with their balances. */
import { Alert, Anchor, Button, Group, Stack, Title } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useTranslation } from "react-i18next"
import { Link, useLocation } from "wouter"
import type { OrganizationView } from "../../../features/accounts/AccountsApi.ts"
import { usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import {
  ChoiceFilter,
  matchOption,
  omitEmpty,
  TextFilter,
  useAddressValue
} from "../../parts/controls/addressFields.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Figures } from "../../parts/money/Figures.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { enabledStates, organizationsKey, PAGE } from "./accountKeys.ts"
import { EnabledBadge } from "./EnabledBadge.tsx"
import { NewCustomerDialog } from "./NewCustomerDialog.tsx"

type Organization = typeof OrganizationView.Type
const REFRESH_MILLIS = 15_000
const amounts = ["balance", "held", "available"] as const

const useColumns = (): ReadonlyArray<Column<Organization>> => {
  const { t } = useTranslation("accounts")
  return [
    {
      name: "name",
      label: t("name"),
      cell: (row) => (
        <Anchor component={Link} href={`/${encodeURIComponent(row.id)}`} size="sm">
          {row.name}
        </Anchor>
      )
    },
    ...amounts.map((name) => ({
      name,
      label: t(name),
      isNumber: true,
      cell: (row: Organization) => <Amount value={row[name]} currency={row.currency} />
    })),
    {
      name: "low",
      label: t("lowBalance"),
      isNumber: true,
      cell: (row) =>
        row.low_balance === null ? "–" : <Amount value={row.low_balance} currency={row.currency} />
    },
    {
      name: "state",
      label: t("state"),
      cell: (row) =>
        row.stopped_reason === null ? (
          <EnabledBadge isEnabled={row.enabled} />
        ) : (
          <StateBadge tone="bad">{t("stoppedShort")}</StateBadge>
        )
    },
    {
      name: "created",
      label: t("created"),
      cell: (row) => <Timestamp at={row.created_at} />,
      isHidden: true
    },
    { name: "id", label: "ID", cell: (row) => <Id id={row.id} />, isHidden: true }
  ]
}

export const CustomerList = () => {
  const { t } = useTranslation("accounts")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [, navigate] = useLocation()
  const [name] = useAddressValue("name")
  const [stateFilter] = useAddressValue("state")
  const state = matchOption(stateFilter, enabledStates)
  const [low] = useAddressValue("low")
  const isLow = low === "true"
  const [isOpen, { open, close }] = useDisclosure(false)
  const organizations = usePages(
    [...organizationsKey, "list", { name, state, isLow }],
    (after) => (gateway) =>
      gateway.accounts.listOrganizations({
        query: {
          limit: PAGE,
          totals: "true",
          ...after,
          ...omitEmpty("name", name),
          ...(state === undefined ? {} : { state }),
          ...(isLow ? { low_balance: "true" as const } : {})
        }
      }),
    { intervalMillis: REFRESH_MILLIS }
  )
  const columns = useColumns()
  const totals = organizations.data?.pages[0]?.totals
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1}>{shell("pages.customers")}</Title>
        {hasRole(session, "operator", "finance") ? (
          <Button onClick={open}>{t("newCustomer")}</Button>
        ) : null}
      </Group>
      {hasRole(session, "operator", "finance") ? null : (
        <Alert color="gray" role="status">
          {shell("noRight")}
        </Alert>
      )}
      {totals === undefined ? null : (
        <Figures
          figures={[
            { label: t("customers"), value: totals.count },
            ...amounts.map((one) => ({
              label: t(one),
              value: <Amount value={totals[one]} currency={totals.currency} />
            }))
          ]}
        />
      )}
      <Group align="flex-end">
        <TextFilter name="name" label={t("nameBegins")} />
        <ChoiceFilter
          name="state"
          label={t("state")}
          choices={enabledStates.map((value) => ({ value, label: t(value) }))}
        />
        <ChoiceFilter
          name="low"
          label={t("lowFilter")}
          choices={[{ value: "true", label: t("isLow") }]}
        />
      </Group>
      <DataTable
        label={t("customers")}
        columns={columns}
        query={organizations}
        empty={t("noCustomers")}
      />
      {isOpen ? (
        <NewCustomerDialog
          currency={totals?.currency}
          onClose={(id) => {
            close()
            if (id !== null) navigate(`/${id}`)
          }}
        />
      ) : null}
    </Stack>
  )
}
