/**
 * Hides secrets from traces: vendors' messages, which may repeat a prompt or contain a signed
 * address, the tokens in links to files, and the codes of sign-ins.
 */
import { Effect, Exit, Layer, Predicate, References, Tracer } from "effect"
import { UrlParams } from "effect/http"

const errorsWithVendorText: ReadonlySet<string> = new Set([
  "VendorRefused",
  "VendorLost",
  "upstream_error"
])

const tagOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" ? error._tag : ""

/** Replaces the message of an error by its status. */
const redactError = (error: unknown): unknown => {
  const tag = tagOf(error)
  if (!errorsWithVendorText.has(tag)) return error
  const status = Predicate.hasProperty(error, "status") ? error.status : null
  const redactedError = new Error(status === null ? "without an answer" : `HTTP ${status}`)
  redactedError.name = tag
  return redactedError
}

/** Wraps a tracer and removes the vendor's text from the errors of spans. */
const redactingTracer = (tracer: Tracer.Tracer): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const span = tracer.span(options)
    const end = span.end.bind(span)
    span.end = (endTime, exit) => end(endTime, Exit.mapError(exit, redactError))
    return span
  }
})

/** Wraps the current tracer. If spans are not exported, none are created, which is cheapest. */
export const layerDiscreetTracing = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer
      ? Layer.succeed(References.TracerEnabled, false)
      : Layer.merge(
          Layer.succeed(Tracer.Tracer, redactingTracer(tracer)),
          Layer.succeed(UrlParams.CurrentRedactedNames, [
            ...UrlParams.CurrentRedactedNames.defaultValue(),
            "token",
            "code",
            "state"
          ])
        )
  )
)
