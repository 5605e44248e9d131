/**
 * Traces and metrics of an order. They use OpenTelemetry's names for generative models where such
 * names exist.
 */
import { Cause, Clock, Effect, Exit, Metric, Predicate } from "effect"
import type { Modality } from "../domain/catalog/Modality.ts"
import type { ChargeUnit } from "../domain/money/charges.ts"
import { annotateSpan, isTraced, linkOrderToSpan, withSpan } from "../runtime/spans.ts"
import type { UsageEntry, VendorJob } from "../services/Ledger.ts"
import { orderSeconds, vendorCallSeconds } from "../services/metrics.ts"
import type { OrderTerms } from "./orderValue.ts"

const operationOf = (modality: Modality): string => {
  if (modality === "chat" || modality === "vlm") return "chat"
  if (modality === "embedding") return "embeddings"
  return modality === "rerank" ? "rerank" : "generate_content"
}

const outputOf = (modality: Modality): { readonly "gen_ai.output.type"?: string } => {
  switch (modality) {
    case "embedding":
    case "rerank":
      return {}
    case "chat":
    case "vlm":
    case "asr":
      return { "gen_ai.output.type": "text" }
    case "tts":
      return { "gen_ai.output.type": "speech" }
    default:
      return { "gen_ai.output.type": modality }
  }
}

/** The low-cardinality reason of a failure, for `error.type`; null for a success. */
const errorTypeOf = (exit: Exit.Exit<unknown, unknown>): string | null => {
  if (Exit.isSuccess(exit)) return null
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  if (Cause.hasDies(exit.cause)) return "defect"
  const error = Cause.squash(exit.cause)
  return Predicate.hasProperty(error, "_tag") ? String(error._tag) : "defect"
}

const NANOS = 1e9

/**
 * Memoizes a metric by its labels, as creating a metric with attributes searches the registry every
 * time.
 */
const memoizeByLabels = (metric: Metric.Histogram<number>) => {
  const byLabels = new Map<string, Metric.Histogram<number>>()
  return (labels: Readonly<Record<string, string>>) => {
    const key = Object.values(labels).join("\n")
    const series = byLabels.get(key) ?? Metric.withAttributes(metric, labels)
    byLabels.set(key, series)
    return series
  }
}

const orderSecondsOf = memoizeByLabels(orderSeconds)
const vendorCallSecondsOf = memoizeByLabels(vendorCallSeconds)

/**
 * Measures the duration of the effect, with the reason of a failure as a label, and runs the effect
 * in the span that `inSpan` makes, if spans are collected.
 */
const observed = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  metricOf: ReturnType<typeof memoizeByLabels>,
  labels: Readonly<Record<string, string>>,
  inSpan: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber<A, E, R>((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const startedAt = clock.currentTimeNanosUnsafe()
    return Effect.onExitPrimitive(isTraced(fiber) ? inSpan(effect) : effect, (exit) => {
      const errorType = errorTypeOf(exit)
      const metric = metricOf(errorType === null ? labels : { ...labels, "error.type": errorType })
      const seconds = Number(clock.currentTimeNanosUnsafe() - startedAt) / NANOS
      metric.updateUnsafe(seconds, fiber.context)
      return undefined
    })
  })

type OrderSubject = Pick<OrderTerms, "kind" | "model">

/** Wraps an order in its span and its metric. */
export const observedOrder =
  (id: string, { kind, model }: OrderSubject) =>
  <A, E, R>(order: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const operation = operationOf(model.modality)
    const labels = { "gen_ai.operation.name": operation, "gen_ai.request.model": model.id }
    return observed(order, orderSecondsOf, labels, (effect) =>
      withSpan(`${operation} ${model.id}`, {
        kind: "internal",
        attributes: () => ({
          ...labels,
          ...outputOf(model.modality),
          "media.order.kind": kind,
          "media.task.id": id
        })
      })(Effect.andThen(linkOrderToSpan(id), effect))
    )
  }

/** Wraps one paid call at a channel in its span and its metric. */
export const observedCall =
  ({ model }: OrderSubject, { channelId, protocol, upstreamModel }: VendorJob) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const labels = {
      "gen_ai.operation.name": operationOf(model.modality),
      "gen_ai.provider.name": protocol,
      "gen_ai.request.model": upstreamModel
    }
    const attributes = () => ({ ...labels, "media.channel": channelId })
    return observed(
      call,
      vendorCallSecondsOf,
      labels,
      withSpan(`call ${channelId}`, { kind: "internal", attributes })
    )
  }

const unitAttributes = {
  image: "media.images",
  second: "media.audio.seconds",
  clip: "media.video.clips",
  character: "media.characters",
  search: "media.searches"
} as const satisfies Record<Exclude<ChargeUnit, "token">, string>

/** Annotates the order's span with the provider and the usage. */
export const annotateUsage = (
  { protocol, upstreamModel }: VendorJob,
  { unit, input, output }: UsageEntry
) =>
  annotateSpan(() => ({
    "gen_ai.provider.name": protocol,
    "gen_ai.response.model": upstreamModel,
    ...(unit === "token"
      ? { "gen_ai.usage.input_tokens": Number(input), "gen_ai.usage.output_tokens": Number(output) }
      : { [unitAttributes[unit]]: Number(output) })
  }))
