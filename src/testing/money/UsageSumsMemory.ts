/** Sums of usage in memory: summed up from the orders whenever they are asked for. */
import { DateTime, Effect, Layer } from "effect"
import { type SumQuery, type UsageSum, UsageSums } from "../../features/usage/UsageSums.ts"
import { Settings } from "../../runtime/Settings.ts"
import { MemoryStore, type StoredOrder } from "../memory/MemoryStore.ts"

const nothing: Omit<UsageSum, "start" | "name"> = {
  ...{ count: 0, failed: 0, chargeNano: 0n, costNano: 0n, withoutCost: 0, returnedNano: 0n },
  ...{ tokens: 0n, seconds: 0n, images: 0n }
}

type Amounts = typeof nothing

const unitFields = { token: "tokens", second: "seconds", image: "images" } as const

const amountsOf = ({ usage, chargeNano, costNano }: StoredOrder): Amounts =>
  usage === null
    ? { ...nothing, failed: 1 }
    : {
        ...nothing,
        count: 1,
        chargeNano,
        costNano: costNano ?? 0n,
        withoutCost: costNano === null ? 1 : 0,
        [unitFields[usage.unit]]: usage.input + usage.output
      }

const added = (one: Amounts, other: Amounts): Amounts => ({
  count: one.count + other.count,
  failed: one.failed + other.failed,
  chargeNano: one.chargeNano + other.chargeNano,
  costNano: one.costNano + other.costNano,
  withoutCost: one.withoutCost + other.withoutCost,
  returnedNano: one.returnedNano + other.returnedNano,
  tokens: one.tokens + other.tokens,
  seconds: one.seconds + other.seconds,
  images: one.images + other.images
})

const isWanted = ({ filter }: SumQuery, { request, job }: StoredOrder): boolean => {
  const { organizationId, memberId, keyId, model, channelId, tag } = filter
  const noted = tag === null ? undefined : request.metadata?.[tag.name]
  return (
    (organizationId ?? request.organizationId) === request.organizationId &&
    (memberId ?? request.memberId) === request.memberId &&
    (keyId ?? request.keyId) === request.keyId &&
    (model ?? request.model) === request.model &&
    (channelId ?? job.channelId) === job.channelId &&
    (tag === null || (noted !== undefined && noted === (tag.value ?? noted)))
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

    /** Each order with what it came to, and each correction with what it gave back. */
    const everything = () =>
      [...organizations.values()].flatMap(({ orders, transfers }) => [
        ...[...orders.values()].flatMap((order) =>
          order.state === "open" ? [] : [{ order, at: order.held.at, amounts: amountsOf(order) }]
        ),
        ...transfers.flatMap(({ orderId, amountNano, createdAt }) => {
          const order = orders.get(orderId ?? "")
          const amounts = { ...nothing, returnedNano: amountNano }
          return order === undefined ? [] : [{ order, at: createdAt, amounts }]
        })
      ])

    return UsageSums.of({
      read: Effect.fn("UsageSums.read")((query) =>
        Effect.sync(() => {
          const { step, from, to, afterName, limit } = query
          const first = startOf(from, step)
          const lines = new Map<string, UsageSum>()
          for (const { order, at, amounts } of everything()) {
            const begun = startOf(at, step)
            const name = nameOf(query, order)
            const isLater = afterName === null || name > afterName
            if (!isWanted(query, order) || begun < first || begun >= to.getTime() || !isLater) {
              continue
            }
            const start = step === null ? from : new Date(begun)
            const key = `${start.toISOString()} ${name}`
            const line = lines.get(key) ?? { start, name, ...nothing }
            lines.set(key, { ...line, ...added(line, amounts) })
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
