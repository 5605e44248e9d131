/** What traces and metrics tell of an order, by OpenTelemetry's names for generative models where it has some. */
import { Cause, Clock, Effect, Exit, Metric, Predicate } from "effect"
import type { Modality } from "../domain/catalog/Modality.ts"
import { annotateSpan, linkOrderToSpan, withSpan } from "../runtime/spans.ts"
import type { UsageEntry, VendorJob } from "../services/Ledger.ts"
import { orderSeconds, vendorCallSeconds } from "../services/metrics.ts"
import type { PaidOrder } from "./orderValue.ts"

const operationOf = (modality: Modality): string => {
  if (modality === "chat" || modality === "vlm") return "chat"
  return modality === "embedding" ? "embeddings" : "generate_content"
}

const outputOf = (modality: Modality): { readonly "gen_ai.output.type"?: string } => {
  if (modality === "embedding") return {}
  const isText = modality === "chat" || modality === "vlm"
  return { "gen_ai.output.type": isText ? "text" : modality }
}

/** A word of a closed list for why something failed; null where it did not. */
const errorTypeOf = (exit: Exit.Exit<unknown, unknown>): string | null => {
  if (Exit.isSuccess(exit)) return null
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  if (Cause.hasDies(exit.cause)) return "defect"
  const error = Cause.squash(exit.cause)
  return Predicate.hasProperty(error, "_tag") ? String(error._tag) : "defect"
}

const NANOS = 1e9

/** A metric with labels looks for its place whenever it is made, so each is made once. */
const madeOnce = (metric: Metric.Histogram<number>) => {
  const made = new Map<string, Metric.Histogram<number>>()
  return (attributes: Readonly<Record<string, string>>) => {
    const key = Object.values(attributes).join("\n")
    const one = made.get(key) ?? Metric.withAttributes(metric, attributes)
    made.set(key, one)
    return one
  }
}

const orderSecondsOf = madeOnce(orderSeconds)
const vendorCallSecondsOf = madeOnce(vendorCallSeconds)

/** Notes how long the effect took and why it failed, by attributes that have few values. */
const timed =
  (metricOf: ReturnType<typeof madeOnce>, attributes: Readonly<Record<string, string>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber<A, E, R>((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const startedAt = clock.currentTimeNanosUnsafe()
      return Effect.onExitPrimitive(effect, (exit) => {
        const failed = errorTypeOf(exit)
        const of = metricOf(failed === null ? attributes : { ...attributes, "error.type": failed })
        const took = Number(clock.currentTimeNanosUnsafe() - startedAt) / NANOS
        of.updateUnsafe(took, fiber.context)
        return undefined
      })
    })

type Ordered = Pick<PaidOrder<unknown, unknown>, "kind" | "model">

/** Around all of an order. */
export const observedOrder = (id: string, { kind, model }: Ordered) => {
  const operation = operationOf(model.modality)
  const names = { "gen_ai.operation.name": operation, "gen_ai.request.model": model.id }
  const inSpan = withSpan(`${operation} ${model.id}`, {
    kind: "internal",
    attributes: () => ({
      ...names,
      ...outputOf(model.modality),
      "media.order.kind": kind,
      "media.task.id": id
    })
  })
  const inTime = timed(orderSecondsOf, names)
  return <A, E, R>(order: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    inTime(inSpan(Effect.andThen(linkOrderToSpan(id), order)))
}

/** Around one paid call at a channel. */
export const observedCall = (
  { model }: Ordered,
  { channelId, protocol, upstreamModel }: VendorJob
) => {
  const names = {
    "gen_ai.operation.name": operationOf(model.modality),
    "gen_ai.provider.name": protocol,
    "gen_ai.request.model": upstreamModel
  }
  const inSpan = withSpan(`call ${channelId}`, {
    kind: "internal",
    attributes: () => ({ ...names, "media.channel": channelId })
  })
  const inTime = timed(vendorCallSecondsOf, names)
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => inTime(inSpan(call))
}

/** Adds to the order's span who made it and what was used. */
export const toldOfUsage = (
  { protocol, upstreamModel }: VendorJob,
  { unit, input, output }: UsageEntry
) =>
  annotateSpan(() => ({
    "gen_ai.provider.name": protocol,
    "gen_ai.response.model": upstreamModel,
    ...(unit === "token"
      ? { "gen_ai.usage.input_tokens": Number(input), "gen_ai.usage.output_tokens": Number(output) }
      : { [unit === "image" ? "media.images" : "media.video.seconds"]: Number(output) })
  }))
