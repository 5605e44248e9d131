/** Data about channels besides their state: the models mounted on them, and their costs. */
import { Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import type { CostView } from "../../../features/usage/UsageSumsApi.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useCatalog } from "../../gateway/useCatalog.ts"

/** The polling interval, short enough to see a circuit breaker open. */
export const EVERY_MILLIS = 5_000
const COSTS_EVERY_MILLIS = 60_000
export const COST_DAYS = 30
const DAY_MILLIS = 86_400_000
const DAY_LENGTH = "2026-10-01".length
const MOST_COSTS = 1000

export type ChannelCost = typeof CostView.Type

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * DAY_MILLIS).toISOString().slice(0, DAY_LENGTH)

/** The charges and costs of each channel in the last days. */
export const useChannelCosts = () => {
  const costs = useApiQuery(
    ["channels", "costs"],
    (gateway) =>
      gateway.usageSums.readCosts({
        // Days are in the time zone of the deployment, in which tomorrow may have begun already.
        query: {
          from: dayBefore(COST_DAYS - 1),
          to: dayBefore(-1),
          by: "channel",
          limit: MOST_COSTS
        }
      }),
    { intervalMillis: COSTS_EVERY_MILLIS }
  )
  return new Map((costs.data?.data ?? []).map((cost) => [cost.channel ?? "", cost]))
}

/** The enabled mounts of each channel. */
export const useMountedModels = () => {
  const catalog = useCatalog()
  return Map.groupBy(
    (catalog.data?.mounts ?? []).filter(({ enabled }) => enabled),
    ({ channel }) => channel
  )
}

const PERCENT = 100

export const FailureShare = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const { calls, failures, refused } = channel
  if (calls === 0) return "–"
  const count = Object.values(failures).reduce((sum, failureCount) => sum + failureCount, 0)
  return (
    <>
      <span className="amount">
        {t("failed", { count, calls, share: Math.round((count / calls) * PERCENT) })}
      </span>
      {refused === 0 ? null : (
        <Text size="xs" c="dimmed" className="amount">
          {t("refused", { count: refused })}
        </Text>
      )}
    </>
  )
}

const SECOND = 1000

export const formatMillis = (millis: number | null): string =>
  millis === null ? "–" : millis < SECOND ? `${millis} ms` : `${(millis / SECOND).toFixed(1)} s`

export const Durations = ({ of: { p50, p95 } }: { readonly of: ChannelView["latency_ms"] }) => {
  const { t } = useTranslation("channels")
  return (
    <span className="amount">
      {p50 === null && p95 === null
        ? "–"
        : t("halfAndMost", { p50: formatMillis(p50), p95: formatMillis(p95) })}
    </span>
  )
}
