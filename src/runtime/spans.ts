/** Spans of what every order does: none is created where none is collected. */
import { Context, Effect, References, Tracer } from "effect"
import { makeBoundedMap } from "./boundedMap.ts"

type Attributes = Readonly<Record<string, string | number>>

interface SpanOptions {
  readonly kind?: Tracer.SpanKind
  /** Evaluated only where spans are collected. */
  readonly attributes?: () => Attributes
  /** Orders whose traces the span is linked to, as far as this gateway knows them. */
  readonly orders?: () => ReadonlyArray<string>
}

/** Forgetting the span of an order loses only the link to it. */
const MAX_ORDERS = 10_000

/** The spans of recent orders, to which background work for them is linked. */
const OrderSpans = Context.Reference("gateway/runtime/OrderSpans", {
  defaultValue: () => makeBoundedMap<Tracer.ExternalSpan>(MAX_ORDERS)
})

/** Runs the effect in a span, where spans are collected. */
export const withSpan =
  (name: string, { kind = "client", attributes, orders }: SpanOptions = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber<A, E, R>((fiber) => {
      if (!fiber.getRef(References.TracerEnabled)) return effect
      const orderSpans = fiber.getRef(OrderSpans)
      const links = (orders?.() ?? []).flatMap((id) => {
        const span = orderSpans.get(id)
        return span === null ? [] : [{ span, attributes: {} }]
      })
      return Effect.withSpan(effect, name, {
        kind,
        links,
        attributes: attributes?.() ?? {},
        captureStackTrace: false
      })
    })

/** Annotates the span that the effect runs in. */
export const annotateSpan = (attributes: () => Attributes): Effect.Effect<void> =>
  Effect.withFiber<void>((fiber) =>
    fiber.getRef(References.TracerEnabled) ? Effect.annotateCurrentSpan(attributes()) : Effect.void
  )

/** Links later spans of the order to the span that this runs in. */
export const linkOrderToSpan = (id: string): Effect.Effect<void> =>
  Effect.withFiber<void>((fiber) => {
    const span = fiber.cache.span
    if (fiber.getRef(References.TracerEnabled) && span !== undefined) {
      const { spanId, traceId, sampled } = span
      fiber.getRef(OrderSpans).set(id, Tracer.externalSpan({ spanId, traceId, sampled }))
    }
    return Effect.void
  })
