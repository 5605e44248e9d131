/** Usage sums in memory, computed from the orders on each read. */
import { DateTime, Effect, Layer } from "effect"
import { type SumQuery, type UsageSum, UsageSums } from "../../features/usage/UsageSums.ts"
import { Settings } from "../../runtime/Settings.ts"
import { MemoryStore, type StoredOrder } from "../memory/MemoryStore.ts"

type Amounts = Omit<UsageSum, "start" | "name">

const zeroAmounts: Amounts = {
  count: 0,
  failed: 0,
  chargeNano: 0n,
  costNano: 0n,
  withoutCost: 0,
  reportedCostNano: 0n,
  withoutReportedCost: 0,
  returnedNano: 0n,
  tokens: 0n,
  seconds: 0n,
  images: 0n,
  clips: 0n,
  characters: 0n,
  searches: 0n
}

const unitFields = {
  token: "tokens",
  second: "seconds",
  image: "images",
  clip: "clips",
  character: "characters",
  search: "searches"
} as const

const amountsOf = ({ usage, chargeNano, costNano, reportedCostNano }: StoredOrder): Amounts =>
  usage === null
    ? { ...zeroAmounts, failed: 1 }
    : {
        ...zeroAmounts,
        count: 1,
        chargeNano,
        costNano: costNano ?? 0n,
        withoutCost: costNano === null ? 1 : 0,
        reportedCostNano: reportedCostNano ?? 0n,
        withoutReportedCost: reportedCostNano === null ? 1 : 0,
        [unitFields[usage.unit]]: usage.input + usage.output
      }

const addAmounts = (one: Amounts, other: Amounts): Amounts => ({
  count: one.count + other.count,
  failed: one.failed + other.failed,
  chargeNano: one.chargeNano + other.chargeNano,
  costNano: one.costNano + other.costNano,
  withoutCost: one.withoutCost + other.withoutCost,
  reportedCostNano: one.reportedCostNano + other.reportedCostNano,
  withoutReportedCost: one.withoutReportedCost + other.withoutReportedCost,
  returnedNano: one.returnedNano + other.returnedNano,
  tokens: one.tokens + other.tokens,
  seconds: one.seconds + other.seconds,
  images: one.images + other.images,
  clips: one.clips + other.clips,
  characters: one.characters + other.characters,
  searches: one.searches + other.searches
})

const matchesFilter = ({ filter }: SumQuery, { request, job }: StoredOrder): boolean => {
  const { organizationId, memberId, keyId, model, channelId, tag } = filter
  const tagValue = tag === null ? undefined : request.metadata?.[tag.name]
  return (
    (organizationId ?? request.organizationId) === request.organizationId &&
    (memberId ?? request.memberId) === request.memberId &&
    (keyId ?? request.keyId) === request.keyId &&
    (model ?? request.model) === request.model &&
    (channelId ?? job.channelId) === job.channelId &&
    (tag === null || (tagValue !== undefined && tagValue === (tag.value ?? tagValue)))
  )
}

const nameOf = ({ by, filter }: SumQuery, { request, job }: StoredOrder): string => {
  const names = {
    model: request.model,
    modality: request.modality,
    member: request.memberId,
    key: request.keyId,
    organization: request.organizationId,
    channel: job.channelId,
    tag: request.metadata?.[filter.tag?.name ?? ""] ?? ""
  }
  return by === null ? "" : names[by]
}

export const layerUsageSumsMemory = Layer.effect(
  UsageSums,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const { timeZone } = yield* Settings

    const startOf = (at: Date, step: SumQuery["step"]): number =>
      DateTime.makeZonedUnsafe(at, { timeZone }).pipe(
        DateTime.startOf(step ?? "day"),
        DateTime.toEpochMillis
      )

    /**
     * All summed amounts: those of each closed order at the time of its creation, and those of each
     * correction at the time of the correction.
     */
    const allAmounts = () =>
      [...organizations.values()].flatMap(({ orders, transfers }) => [
        ...[...orders.values()].flatMap((order) =>
          order.state === "open" ? [] : [{ order, at: order.held.at, amounts: amountsOf(order) }]
        ),
        ...transfers.flatMap(({ orderId, amountNano, createdAt }) => {
          const order = orders.get(orderId ?? "")
          const amounts = { ...zeroAmounts, returnedNano: amountNano }
          return order === undefined ? [] : [{ order, at: createdAt, amounts }]
        })
      ])

    return UsageSums.of({
      read: Effect.fn("UsageSums.read")((query) =>
        Effect.sync(() => {
          const { step, from, to, afterName, limit } = query
          const first = startOf(from, step)
          const lines = new Map<string, UsageSum>()
          for (const { order, at, amounts } of allAmounts()) {
            const startMillis = startOf(at, step)
            const name = nameOf(query, order)
            const isLater = afterName === null || name > afterName
            const isInPeriod = startMillis >= first && startMillis < to.getTime()
            if (!matchesFilter(query, order) || !isInPeriod || !isLater) continue
            const start = step === null ? from : new Date(startMillis)
            const key = `${start.toISOString()} ${name}`
            const line = lines.get(key) ?? { start, name, ...zeroAmounts }
            lines.set(key, { ...line, ...addAmounts(line, amounts) })
          }
          return [...lines]
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([, line]) => line)
            .slice(0, limit)
        })
      )
    })
  })
)
