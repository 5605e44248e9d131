/** The monthly statements of an organisation: a list, and one month to read, print and download. */
import { Anchor, Button, Group, Stack, Text, TextInput, Title } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { Effect } from "effect"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link, Route, Switch, useLocation, useParams } from "wouter"
import type { SealedMonthView, StatementView } from "../../../features/statements/StatementsApi.ts"
import type { ApiCall } from "../../gateway/client.ts"
import { type ListPage, type PageCursor, useApiQuery, usePages } from "../../gateway/hooks.tsx"
import { BackLink } from "../controls/BackLink.tsx"
import { StateBadge } from "../controls/StateBadge.tsx"
import { type Column, DataTable, RowTable } from "../DataTable.tsx"
import { FailureNote } from "../FailureNote.tsx"
import { QueryView } from "../QueryView.tsx"
import { Amount, Id } from "../texts.tsx"
import { entriesFile, useDownload } from "./downloads.ts"
import { StatementSheet } from "./StatementSheet.tsx"

type SealedMonth = typeof SealedMonthView.Type
type MonthRow = SealedMonth & { readonly id: string }

export interface StatementSource {
  /** The prefix of the cache keys. */
  readonly area: ReadonlyArray<string>
  /** The path of the statements; the files of a month are below it. */
  readonly path: string
  readonly list: (after: PageCursor) => ApiCall<ListPage<SealedMonth>>
  readonly readMonth: (month: string) => ApiCall<StatementView>
}

const isMonth = (text: string): boolean => /^[12]\d{3}-(?:0[1-9]|1[0-2])$/.test(text)

const before = (month: string): string => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return new Date(Date.UTC(year, number - 2, 1)).toISOString().slice(0, 7)
}

/** The maximum number of open months in the list: those that may still wait for their seal. */
const MOST_OPEN = 3

/** The open months, from the present one back to the one after the last sealed month. */
const openMonths = (sealed: ReadonlyArray<MonthRow>): ReadonlyArray<string> => {
  const months: Array<string> = []
  for (
    let month = new Date().toISOString().slice(0, 7);
    months.length < MOST_OPEN && month > (sealed[0]?.month ?? "");
    month = before(month)
  ) {
    months.push(month)
  }
  return months
}

const MonthField = () => {
  const { t } = useTranslation("money")
  const [, navigate] = useLocation()
  const [month, setMonth] = useState("")
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isMonth(month)) navigate(`/${month}`)
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          type="month"
          label={t("statements.month")}
          placeholder="2026-10"
          value={month}
          onChange={(event) => setMonth(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!isMonth(month)}>
          {t("statements.open")}
        </Button>
      </Group>
    </form>
  )
}

const Months = ({ source }: { readonly source: StatementSource }) => {
  const { t } = useTranslation("money")
  const sealed = usePages<MonthRow, ListPage<MonthRow>, unknown>(
    [...source.area, "months"],
    (after) =>
      Effect.fnUntraced(function* (gateway) {
        const page = yield* source.list(after)(gateway)
        const data = page.data.map((month) => ({ ...month, id: month.month }))
        return { ...page, data }
      })
  )
  const link = (month: string) => (
    <Anchor component={Link} href={`/${month}`} size="sm">
      {month}
    </Anchor>
  )
  const download = useDownload()
  const file = ({ month }: { readonly month: string }) => {
    const entries = entriesFile(`${source.path}/${month}`)
    return (
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconDownload size={14} />}
        loading={download.isPending && download.variables.path === entries.path}
        aria-label={`${t("statements.files.csv")}: ${month}`}
        onClick={() => download.mutate(entries)}
      >
        {t("statements.files.csv")}
      </Button>
    )
  }
  const columns: ReadonlyArray<Column<MonthRow>> = [
    { name: "month", label: t("statements.month"), cell: ({ month }) => link(month) },
    {
      name: "opening",
      label: t("statements.opening"),
      cell: (row) => <Amount value={row.opening_balance} />,
      isNumber: true
    },
    {
      name: "closing",
      label: t("statements.closing"),
      cell: (row) => <Amount value={row.closing_balance} />,
      isNumber: true
    },
    {
      name: "seal",
      label: t("statements.seal"),
      cell: (row) => <Id id={row.sealed.sha256} />
    },
    { name: "file", label: t("statements.file"), cell: file }
  ]
  return (
    <Stack>
      <Text c="dimmed">{t("statements.lead")}</Text>
      {download.error === null ? null : <FailureNote error={download.error} />}
      <Title order={2} size="h4">
        {t("statements.openMonths")}
      </Title>
      <RowTable
        label={t("statements.openMonths")}
        rows={
          sealed.isPending
            ? []
            : openMonths(sealed.data?.pages[0]?.data ?? []).map((month) => ({ month }))
        }
        columns={[
          { name: "month", label: t("statements.month"), cell: ({ month }) => link(month) },
          {
            name: "state",
            label: t("statements.state"),
            cell: () => <StateBadge tone="off">{t("statements.unsealed")}</StateBadge>
          },
          { name: "file", label: t("statements.file"), cell: file }
        ]}
        isBusy={sealed.isPending}
      />
      <Title order={2} size="h4">
        {t("statements.sealedMonths")}
      </Title>
      <DataTable
        label={t("statements.sealedMonths")}
        query={sealed}
        columns={columns}
        empty={t("statements.noneSealed")}
      />
      <MonthField />
    </Stack>
  )
}

const MonthStatement = ({ source }: { readonly source: StatementSource }) => {
  const { t } = useTranslation("money")
  const { month = "" } = useParams<{ month: string }>()
  const statement = useApiQuery([...source.area, "statement", month], source.readMonth(month))
  return (
    <Stack>
      <BackLink href="/" label={t("statements.all")} />
      <QueryView query={statement} lines={12}>
        {(answer) => <StatementSheet statement={answer} path={`${source.path}/${month}`} />}
      </QueryView>
    </Stack>
  )
}

/** The statements component. It must be mounted below its own path, with `nest`. */
export const Statements = ({ source }: { readonly source: StatementSource }) => (
  <Switch>
    <Route path="/:month">
      <MonthStatement source={source} />
    </Route>
    <Route>
      <Months source={source} />
    </Route>
  </Switch>
)
