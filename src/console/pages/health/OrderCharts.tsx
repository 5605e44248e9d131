/** Orders by outcome and channel over time, from the stored sums of all gateways. */
import { Group, Stack, Text, Title } from "@mantine/core"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { ColorMark, MOST_SERIES } from "../../parts/charts/colors.tsx"
import { TimeChart } from "../../parts/charts/TimeChart.tsx"
import { RowTable } from "../../parts/DataTable.tsx"
import { SpendRange } from "../../parts/money/SpendRange.tsx"
import { type SpendPeriods, spendPeriodsOf } from "../../parts/money/spendPeriods.ts"
import { slotsOf, slotText } from "../../parts/money/spendSlots.ts"
import { QueryView } from "../../parts/QueryView.tsx"
import { groupDigits, roundedDigits } from "../../parts/texts.tsx"

interface OrderSum {
  readonly start: string
  readonly channel?: string
  /** The orders that ended with a charge. */
  readonly count: number
  readonly failed: number
}

const REFRESH_MILLIS = 60_000
const PERCENT = 100
/** The filters that determine what is read. */
const readFilters = ["range", "from", "to", "interval"] as const

const sumBy = (rows: ReadonlyArray<OrderSum>, name: "count" | "failed"): number =>
  rows.reduce((sum, row) => sum + row[name], 0)

const digits = (count: number) => <span className="amount">{groupDigits(String(count))}</span>

const channelsOf = (rows: ReadonlyArray<OrderSum>) =>
  [...Map.groupBy(rows, ({ channel = "" }) => channel)]
    .map(([channel, channelRows]) => ({
      channel,
      count: sumBy(channelRows, "count"),
      failed: sumBy(channelRows, "failed"),
      rows: channelRows
    }))
    .toSorted((channel, other) => other.failed - channel.failed)

const Charts = ({
  periods: { interval, current },
  rows
}: {
  readonly periods: SpendPeriods
  readonly rows: ReadonlyArray<OrderSum>
}) => {
  const { t, i18n } = useTranslation("health")
  const { t: money } = useTranslation("money")
  if (rows.length === 0) return <Text c="dimmed">{money("spend.nothing")}</Text>
  const slots = slotsOf(
    rows.map(({ start }) => Date.parse(start)),
    interval,
    current
  )
  const valuesOf = (chartRows: ReadonlyArray<OrderSum>, name: "count" | "failed") => {
    const bySlot = Map.groupBy(chartRows, ({ start }) => Date.parse(start))
    return slots.map((slot) => sumBy(bySlot.get(slot) ?? [], name))
  }
  const channels = channelsOf(rows)
  const others = channels.slice(MOST_SERIES).flatMap((channel) => channel.rows)
  const channelText = (channel: string) => (channel === "" ? t("noChannel") : channel)
  const chart = {
    unit: t("ordersUnit"),
    kind: "bars" as const,
    isCount: true,
    times: slots,
    formatValue: roundedDigits,
    formatTime: (time: number, isFull: boolean) =>
      slotText(time, interval, { language: i18n.language, isFull })
  }
  const outcomes = (["count", "failed"] as const).map((name) => ({
    label: t(`outcomes.${name}`),
    values: valuesOf(rows, name),
    total: sumBy(rows, name)
  }))
  return (
    <Stack>
      <Title order={3} size="h5">
        {t("byOutcome")}
      </Title>
      <Group gap="md">
        {outcomes.map(({ label, total }, index) => (
          <Text key={label} size="sm">
            <ColorMark index={index} /> {label} {digits(total)}
          </Text>
        ))}
      </Group>
      <TimeChart {...chart} label={t("byOutcome")} series={outcomes} />
      <Title order={3} size="h5">
        {t("failedByChannel")}
      </Title>
      <TimeChart
        {...chart}
        label={t("failedByChannel")}
        series={[
          ...channels.slice(0, MOST_SERIES).map((channel) => ({
            label: channelText(channel.channel),
            values: valuesOf(channel.rows, "failed")
          })),
          ...(others.length === 0
            ? []
            : [{ label: money("spend.others"), values: valuesOf(others, "failed") }])
        ]}
      />
      <RowTable
        label={t("byChannel")}
        rows={channels}
        columns={[
          {
            name: "channel",
            label: t("channel"),
            cell: (row) => (
              <>
                <ColorMark index={channels.indexOf(row)} /> {channelText(row.channel)}
              </>
            )
          },
          {
            name: "orders",
            label: t("orders"),
            cell: ({ count, failed }) => digits(count + failed),
            isNumber: true
          },
          {
            name: "failed",
            label: t("outcomes.failed"),
            cell: ({ failed }) => digits(failed),
            isNumber: true
          },
          {
            name: "share",
            label: t("failedShare"),
            cell: ({ count, failed }) =>
              `${((failed / Math.max(1, count + failed)) * PERCENT).toFixed(1)} %`,
            isNumber: true
          }
        ]}
      />
    </Stack>
  )
}

export const OrderCharts = () => {
  const { t } = useTranslation("health")
  const filters = useAddressFilters()
  const { get } = filters
  const orders = useApiQuery(
    ["health", "orders", readFilters.map(get)],
    (gateway) => {
      const periods = spendPeriodsOf(get, Date.now())
      const { interval, current } = periods
      return Effect.map(
        gateway.usageSums.readSeries({ query: { ...current.query, interval, by: "channel" } }),
        ({ data }) => ({
          periods,
          rows: data.filter(({ start }) => current.contains(Date.parse(start)))
        })
      )
    },
    { intervalMillis: REFRESH_MILLIS }
  )
  return (
    <Stack>
      <Title order={2} size="h4">
        {t("tabs.metrics")}
      </Title>
      <Text c="dimmed" size="sm">
        {t("metricsLead")}
      </Text>
      <Group gap="sm" align="flex-end">
        <SpendRange filters={filters} />
      </Group>
      <QueryView query={orders} lines={8}>
        {(shown) => <Charts {...shown} />}
      </QueryView>
    </Stack>
  )
}
