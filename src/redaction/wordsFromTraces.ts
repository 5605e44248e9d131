/**
 * Hides from traces what opens something: vendors' words, as they may repeat a prompt or hold a signed
 * address, and the tokens of links to files.
 */
import { Effect, Exit, Layer, Predicate, References, Tracer } from "effect"
import { UrlParams } from "effect/http"

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

/** The same tracer, which is told how a span failed, but not in a vendor's words. */
const discreetly = (tracer: Tracer.Tracer): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const span = tracer.span(options)
    const end = span.end.bind(span)
    span.end = (endTime, exit) => end(endTime, Exit.mapError(exit, discreet))
    return span
  }
})

/** Wraps the tracer that is in place. Where spans are not collected none are made, which costs least. */
export const layerDiscreetTracing = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer
      ? Layer.succeed(References.TracerEnabled, false)
      : Layer.merge(
          Layer.succeed(Tracer.Tracer, discreetly(tracer)),
          Layer.succeed(UrlParams.CurrentRedactedNames, [
            ...UrlParams.CurrentRedactedNames.defaultValue(),
            "token"
          ])
        )
  )
)
