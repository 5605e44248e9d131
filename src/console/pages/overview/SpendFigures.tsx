/** Spend, orders, success and margin of a day or month, each a link to the orders or costs it sums. */
import { Anchor, Card, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { currentSlot } from "../../parts/money/currentSlot.ts"
import { sumOf } from "../../parts/money/decimals.ts"
import { dayBeginning } from "../../parts/money/spendSlots.ts"
import { QueryView } from "../../parts/QueryView.tsx"
import { Amount, groupDigits } from "../../parts/texts.tsx"
import { formatMillis } from "../channels/channelFigures.tsx"
import { percentText } from "./shares.ts"
import { OVERVIEW_MILLIS, useChannels } from "./useChannels.ts"

type Interval = "day" | "month"

/** The days of the slot that begins at `start`, for the filters of other pages. */
export const daysOf = (start: string, interval: Interval) => {
  const from = dayBeginning(start)
  if (interval === "day") return { from, to: from }
  const [year = 0, month = 0] = from.split("-").map(Number)
  // Day 0 of the next month is the last day of this one.
  return { from, to: new Date(Date.UTC(year, month, 0)).toISOString().slice(0, from.length) }
}

const Figure = ({
  label,
  href,
  value,
  note
}: {
  readonly label: string
  readonly href: string
  readonly value: ReactNode
  readonly note?: ReactNode
}) => (
  <Card withBorder p="sm">
    <Anchor component={Link} href={href} size="sm">
      {label}
    </Anchor>
    <Text fw={600} size="lg">
      {value}
    </Text>
    {note === undefined ? null : (
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    )}
  </Card>
)

/** The highest p95 latency of the channels, of their calls in the last hour. */
const LatencyFigure = () => {
  const { t } = useTranslation("overview")
  const channels = useChannels()
  const [slowest] = (channels.data?.data ?? []).toSorted(
    (channel, other) => (other.latency_ms.p95 ?? -1) - (channel.latency_ms.p95 ?? -1)
  )
  if (slowest === undefined || slowest.latency_ms.p95 === null) {
    return <Figure label={t("p95")} href="~/console/channels" value={t("unknown")} />
  }
  return (
    <Figure
      label={t("p95")}
      href={`~/console/channels/${encodeURIComponent(slowest.id)}`}
      value={<span className="amount">{formatMillis(slowest.latency_ms.p95)}</span>}
      note={t("p95Hint", { channel: slowest.name ?? slowest.id })}
    />
  )
}

export const SpendFigures = ({ interval }: { readonly interval: Interval }) => {
  const { t } = useTranslation("overview")
  const series = useApiQuery(
    ["overview", "series", interval],
    (gateway) => gateway.usageSums.readSeries({ query: { interval, ...currentSlot() } }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
  const title = t(interval === "day" ? "today" : "month")
  return (
    <Stack component="section" gap="xs" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      <QueryView query={series} lines={3}>
        {({ data }) => {
          const [sum] = data
          if (sum === undefined) return <Text c="dimmed">{t("nothing")}</Text>
          const { from, to } = daysOf(sum.start, interval)
          const days = `from=${from}&to=${to}`
          const count = sum.count + sum.failed
          const spend = sumOf([sum.charge, `-${sum.returned}`])
          return (
            <SimpleGrid cols={{ base: 2, md: 3 }} spacing="sm">
              <Figure
                label={t("spend")}
                href={`~/console/books?range=own&interval=${interval === "day" ? "hour" : "day"}&${days}`}
                value={<Amount value={spend} currency={sum.currency} />}
              />
              <Figure
                label={t("orders")}
                href={`~/console/all-orders?${days}`}
                value={<span className="amount">{groupDigits(String(count))}</span>}
              />
              <Figure
                label={t("success")}
                href={`~/console/all-orders?state=failed&${days}`}
                value={percentText(sum.count, count) ?? t("unknown")}
                note={t("failed", { count: sum.failed })}
              />
              <Figure
                label={t("margin")}
                href={`~/console/books/costs?${days}`}
                value={
                  (sum.margin === null ? null : percentText(Number(sum.margin), Number(spend))) ??
                  t("unknown")
                }
                note={
                  sum.without_cost === 0 ? undefined : t("unknownCost", { count: sum.without_cost })
                }
              />
              {interval === "day" ? <LatencyFigure /> : null}
            </SimpleGrid>
          )
        }}
      </QueryView>
    </Stack>
  )
}
