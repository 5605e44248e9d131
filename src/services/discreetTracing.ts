/** Traces without vendors' words, which may repeat a prompt or hold a signed address. */
import { Effect, Exit, Layer, Predicate, Tracer } from "effect"

const wordy: ReadonlySet<string> = new Set(["VendorRefused", "VendorLost", "upstream_error"])

const tagOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" ? error._tag : ""

/** The same kind of error, with its status in place of its message. */
const discreet = (error: unknown): unknown => {
  const tag = tagOf(error)
  if (!wordy.has(tag)) return error
  const status = Predicate.hasProperty(error, "status") ? error.status : null
  const told = new Error(status === null ? "without an answer" : `HTTP ${status}`)
  told.name = tag
  return told
}

/** Wraps whichever tracer is in place: how a span failed is told, but not in a vendor's words. */
export const layerDiscreetTracing = Layer.effect(
  Tracer.Tracer,
  Effect.map(
    Tracer.Tracer,
    (tracer): Tracer.Tracer => ({
      ...tracer,
      span: (options) => {
        const span = tracer.span(options)
        const end = span.end.bind(span)
        span.end = (endTime, exit) => end(endTime, Exit.mapError(exit, discreet))
        return span
      }
    })
  )
)
