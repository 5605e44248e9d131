/** The statement of one month in its printed form, with links to its files. */
import { Button, Code, Group, Stack, Table, Text, Title } from "@mantine/core"
import { IconDownload, IconPrinter } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { StatementView } from "../../../features/statements/StatementsApi.ts"
import { type Column, RowTable } from "../DataTable.tsx"
import { FailureNote } from "../FailureNote.tsx"
import { Amount, Timestamp } from "../texts.tsx"
import { entriesFile, useDownload } from "./downloads.ts"

const ICON = 16

const Files = ({
  statement,
  path
}: {
  readonly statement: StatementView
  readonly path: string
}) => {
  const { t } = useTranslation("money")
  const download = useDownload()
  const name = `statement-${statement.organization_id}-${statement.month}`
  const files = [
    { label: "csv", ...entriesFile(path) },
    { label: "focus", ...entriesFile(`${path}/focus`) },
    { label: "focus13", ...entriesFile(`${path}/focus?version=1.3`) },
    { label: "json", path, accept: "application/json", name: `${name}.json` },
    { label: "html", path, accept: "text/html", name: `${name}.html` }
  ] as const
  return (
    <Stack gap="xs" className="unprinted">
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconPrinter size={ICON} />}
          onClick={() => window.print()}
        >
          {t("statements.print")}
        </Button>
        {files.map((file) => (
          <Button
            key={file.label}
            variant="default"
            leftSection={<IconDownload size={ICON} />}
            loading={
              download.isPending &&
              download.variables.path === file.path &&
              download.variables.accept === file.accept
            }
            onClick={() => download.mutate(file)}
          >
            {t(`statements.files.${file.label}`)}
          </Button>
        ))}
      </Group>
      {download.error === null ? null : <FailureNote error={download.error} />}
    </Stack>
  )
}

interface ChargeTotals {
  readonly count: number
  readonly gross: string
  readonly returned: string
  readonly net: string
}

/** The first and the last day of a month, in the time zone of its statement. */
const daysOf = ({ from, to, time_zone: timeZone }: StatementView, language: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone }).formatRange(
    Date.parse(from),
    Date.parse(to) - 1
  )

const negate = (amount: string): string => (amount === "0" ? amount : `-${amount}`)

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Stack gap={4} component="section">
    <Title order={3} size="h5">
      {title}
    </Title>
    {children}
  </Stack>
)

const useChargeColumns = (): ReadonlyArray<Column<ChargeTotals>> => {
  const { t } = useTranslation("money")
  return [
    { name: "count", label: t("statements.count"), cell: ({ count }) => count, isNumber: true },
    ...(["gross", "returned", "net"] as const).map((name) => ({
      name,
      label: t(`statements.charged.${name}`),
      cell: (row: ChargeTotals) => <Amount value={row[name]} />,
      isNumber: true
    }))
  ]
}

const Balance = ({ statement }: { readonly statement: StatementView }) => {
  const { t } = useTranslation("money")
  const { charges, adjustments, deposits } = statement
  const lines = [
    ["opening", null, statement.opening_balance],
    ["deposits", deposits.count, deposits.amount],
    ["charges", charges.count, negate(charges.gross)],
    ["corrections", adjustments.corrections.count, charges.returned],
    ["credits", adjustments.credits.count, adjustments.credits.amount],
    ["withdrawals", adjustments.withdrawals.count, negate(adjustments.withdrawals.amount)],
    ["closing", null, statement.closing_balance]
  ] as const
  return (
    <Table aria-label={t("statements.balance")} maw={520}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t("statements.line")}</Table.Th>
          <Table.Th scope="col" ta="right">
            {t("statements.count")}
          </Table.Th>
          <Table.Th scope="col" ta="right">
            {t("statements.amount", { currency: statement.currency })}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {lines.map(([name, count, amount]) => (
          <Table.Tr key={name} fw={count === null ? 600 : 400}>
            <Table.Th scope="row" fw="inherit">
              {t(`statements.lines.${name}`)}
            </Table.Th>
            <Table.Td ta="right">{count}</Table.Td>
            <Table.Td ta="right">
              <Amount value={amount} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface MovementTotals {
  readonly id: string
  readonly at: string
  readonly kind: "deposit" | "credit" | "withdrawal" | "correction"
  readonly reference: string
  readonly reason: string
  readonly author: string
  readonly amount: string
}

const movementsOf = ({ deposits, adjustments }: StatementView): ReadonlyArray<MovementTotals> =>
  [
    ...deposits.data.map((deposit) => ({
      ...deposit,
      kind: "deposit" as const,
      reason: "",
      author: ""
    })),
    ...adjustments.data
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1))

const useMovedColumns = (): ReadonlyArray<Column<MovementTotals>> => {
  const { t } = useTranslation("money")
  const text = (name: "reference" | "reason" | "author") => ({
    name,
    label: t(`statements.moved.${name}`),
    cell: (row: MovementTotals) => <span className="said">{row[name]}</span>
  })
  return [
    { name: "at", label: t("statements.moved.at"), cell: ({ at }) => <Timestamp at={at} /> },
    { name: "kind", label: t("statements.moved.kind"), cell: ({ kind }) => t(`kinds.${kind}`) },
    text("reference"),
    text("reason"),
    text("author"),
    {
      name: "amount",
      label: t("statements.moved.amount"),
      cell: ({ kind, amount }) => (
        <Amount value={kind === "withdrawal" ? negate(amount) : amount} />
      ),
      isNumber: true
    }
  ]
}

const Seal = ({ statement }: { readonly statement: StatementView }) => {
  const { t } = useTranslation("money")
  const { sealed, open_orders, open_amount, currency } = statement
  if (sealed === null) {
    return (
      <Text size="sm">
        {open_orders === 0
          ? t("statements.notSealed")
          : t("statements.stillOpen", { count: open_orders, amount: open_amount, currency })}
      </Text>
    )
  }
  return (
    <Text size="sm" component="div">
      {t("statements.sealedAt", { count: sealed.entries })} <Timestamp at={sealed.at} />
      <br />
      SHA-256: <Code style={{ overflowWrap: "anywhere" }}>{sealed.sha256}</Code>
    </Text>
  )
}

export const StatementSheet = ({
  statement,
  path
}: {
  readonly statement: StatementView
  readonly path: string
}) => {
  const { t, i18n } = useTranslation("money")
  const chargeColumns = useChargeColumns()
  const movementColumns = useMovedColumns()
  const { charges } = statement
  const tables = [
    {
      name: "byModel",
      rows: charges.by_model.map((row) => ({ ...row, title: row.model }))
    },
    {
      name: "byMember",
      rows: charges.by_member.map((row) => ({ ...row, title: row.name }))
    },
    {
      name: "byTag",
      rows: charges.by_tag.map((row) => ({ ...row, title: `${row.name} = ${row.value}` }))
    }
  ] as const
  return (
    <Stack component="article" gap="lg" aria-label={`${t("statements.one")} ${statement.month}`}>
      <Files statement={statement} path={path} />
      <div>
        <Title order={2}>{`${t("statements.one")} ${statement.month}`}</Title>
        <Text>{statement.organization_name}</Text>
        <Text size="sm" c="dimmed">
          {t("statements.period", {
            days: daysOf(statement, i18n.language),
            zone: statement.time_zone,
            currency: statement.currency
          })}
        </Text>
      </div>
      <Section title={t("statements.balance")}>
        <Balance statement={statement} />
      </Section>
      <Section title={t("statements.movements")}>
        <RowTable
          label={t("statements.movements")}
          rows={movementsOf(statement)}
          columns={movementColumns}
          empty={t("statements.nothing")}
          isFixed
        />
      </Section>
      {tables.map(({ name, rows }) => (
        <Section key={name} title={t(`statements.${name}`)}>
          <RowTable<ChargeTotals & { readonly title: string }>
            label={t(`statements.${name}`)}
            rows={rows}
            columns={[
              {
                name: "title",
                label: t(`statements.names.${name}`),
                cell: ({ title }) => <span className="said">{title}</span>
              },
              ...chargeColumns
            ]}
            empty={t("statements.nothing")}
            isFixed
          />
        </Section>
      ))}
      <Section title={t("statements.seal")}>
        <Seal statement={statement} />
      </Section>
    </Stack>
  )
}
