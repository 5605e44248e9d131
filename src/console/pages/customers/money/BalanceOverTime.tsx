/**
 * The balance and the holds of an organisation over time, computed from its journal, and the
 * journal itself.
 */
import { Alert, Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core"
import { useEffect, useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { formatNano } from "../../../../domain/money/Money.ts"
import { optionOf, useAddressFilters } from "../../../parts/addressFilters.ts"
import { ColorMark } from "../../../parts/charts/colors.tsx"
import { TimeChart } from "../../../parts/charts/TimeChart.tsx"
import { type Column, DataTable, RowTable } from "../../../parts/DataTable.tsx"
import { Amount, Id, roundedDigits, Timestamp } from "../../../parts/texts.tsx"
import { type HistoryPoint, historyOf, type JournalLine } from "./balanceHistory.ts"
import { useJournal } from "./journalPages.ts"

const NANO = 1e9
const TWO_DAYS = 172_800_000
const TEN_MINUTES = 600_000
const names = ["balance", "held"] as const

/** The text of a time at the axis, a day or within few days a time, or in full in the tooltip. */
const timeText = (
  time: number,
  options: { readonly language: string; readonly isFull: boolean; readonly span: number }
): string => {
  const { language, isFull, span } = options
  const date = new Date(time)
  if (isFull) return date.toLocaleString(language, { dateStyle: "medium", timeStyle: "medium" })
  return span > TWO_DAYS
    ? date.toLocaleDateString(language, { month: "short", day: "numeric" })
    : date.toLocaleTimeString(language, { timeStyle: span > TEN_MINUTES ? "short" : "medium" })
}

const useJournalColumns = (): ReadonlyArray<Column<JournalLine>> => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  return [
    { name: "at", label: t("journal.at"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "kind", label: t("journal.kind"), cell: ({ kind }) => money(`kinds.${kind}`) },
    {
      name: "accounts",
      label: money("receipt.accounts"),
      cell: ({ debit, credit }) => `${debit} → ${credit}`
    },
    {
      name: "amount",
      label: t("journal.amount"),
      cell: ({ amount }) => <Amount value={amount} />,
      isNumber: true
    },
    {
      name: "of",
      label: t("journal.of"),
      cell: ({ hold_id, usage_id, reference }) =>
        hold_id !== null ? (
          <Id id={hold_id} />
        ) : (
          <Stack gap={0}>
            <span className="said">{reference}</span>
            {usage_id === null ? null : <Id id={usage_id} />}
          </Stack>
        )
    },
    {
      name: "reason",
      label: t("journal.reason"),
      cell: ({ reason }) => <span className="said">{reason ?? ""}</span>
    },
    {
      name: "author",
      label: t("journal.author"),
      cell: ({ author }) => <span className="said">{author ?? ""}</span>
    },
    { name: "id", label: t("journal.id"), cell: ({ id }) => <Id id={id} />, isHidden: true }
  ]
}

const PointTable = ({ points }: { readonly points: ReadonlyArray<HistoryPoint> }) => {
  const { t } = useTranslation("books")
  return (
    <RowTable
      label={t("history.title")}
      rows={points.toReversed()}
      columns={[
        { name: "at", label: t("journal.at"), cell: ({ at }) => <Timestamp at={at} /> },
        {
          name: "balance",
          label: t("pool.balance"),
          cell: ({ balance }) => <Amount value={formatNano(balance)} />,
          isNumber: true
        },
        {
          name: "held",
          label: t("pool.held"),
          cell: ({ held }) => <Amount value={formatNano(held)} />,
          isNumber: true
        }
      ]}
    />
  )
}

const HistoryChart = ({
  points,
  currency
}: {
  readonly points: ReadonlyArray<HistoryPoint>
  readonly currency: string
}) => {
  const { t, i18n } = useTranslation("books")
  const times = points.map(({ at }) => Date.parse(at))
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return (
    <>
      <Group gap="md">
        {names.map((name, index) => (
          <Text key={name} size="sm">
            <ColorMark index={index} /> {t(`pool.${name}`)}
          </Text>
        ))}
      </Group>
      <TimeChart
        label={t("history.title")}
        unit={currency}
        kind="steps"
        times={times}
        series={names.map((name) => ({
          label: t(`pool.${name}`),
          values: points.map((point) => Number(point[name]) / NANO)
        }))}
        formatValue={roundedDigits}
        formatTime={(time, isFull) => timeText(time, { language: i18n.language, isFull, span })}
      />
    </>
  )
}

export const BalanceOverTime = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("books")
  const { get, set } = useAddressFilters()
  const columns = useJournalColumns()
  const journal = useJournal(id)
  const [isAll, setIsAll] = useState(false)
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = journal
  useEffect(() => {
    if (isAll && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [isAll, hasNextPage, isFetching, isError, fetchNextPage])
  const present = data?.pages[0]?.present ?? null
  const history = useMemo(() => {
    if (data === undefined || present === null) return null
    const lines = data.pages.flatMap((page) => page.data)
    return historyOf(lines, present, !hasNextPage)
  }, [data, present, hasNextPage])
  const [first] = history?.points ?? []
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={3} size="h4">
          {t("history.title")}
        </Title>
        <SegmentedControl
          aria-label={t("history.as")}
          value={optionOf(get("as"), ["plot", "table"])}
          data={[
            { value: "plot", label: t("history.plot") },
            { value: "table", label: t("history.table") }
          ]}
          onChange={(value) => set({ as: value === "plot" ? null : value })}
        />
      </Group>
      {history === null || first === undefined || present === null ? null : (
        <>
          {get("as") === "table" ? (
            <PointTable points={history.points} />
          ) : (
            <HistoryChart points={history.points} currency={present.currency} />
          )}
          <Text size="sm" c="dimmed">
            {history.remainder === null ? t("history.part") : t("history.whole")}{" "}
            <Timestamp at={first.at} />. {t("history.note")}{" "}
            {history.remainder === null ? t("history.partNote") : ""}
          </Text>
          {history.remainder === null || history.remainder === 0n ? null : (
            <Alert color="orange" role="status">
              {t("history.moved", { rest: formatNano(history.remainder) })}{" "}
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => void journal.refetch()}
                loading={journal.isRefetching}
              >
                {t("history.again")}
              </Button>
            </Alert>
          )}
        </>
      )}
      <Group justify="space-between">
        <Title order={3} size="h4">
          {t("journal.title")}
        </Title>
        {hasNextPage ? (
          <Button variant="default" size="xs" loading={isAll} onClick={() => setIsAll(true)}>
            {t("history.all")}
          </Button>
        ) : null}
      </Group>
      <DataTable
        label={t("journal.title")}
        columns={columns}
        query={journal}
        empty={t("journal.empty")}
      />
    </Stack>
  )
}
