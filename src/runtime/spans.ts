/** Spans of what every order does: none is made where none is collected. */
import { Context, Effect, References, Tracer } from "effect"
import { makeBoundedMap } from "./boundedMap.ts"

type Attributes = Readonly<Record<string, string | number>>

interface Told {
  readonly kind?: Tracer.SpanKind
  /** Asked for where spans are collected alone. */
  readonly attributes?: () => Attributes
  /** Orders whose traces the span is linked to, as far as this gateway knows them. */
  readonly orders?: () => ReadonlyArray<string>
}

/** To forget one costs a link. */
const MOST_ORDERS = 10_000

/** Where the spans of late orders are: what goes on behind them is linked to them. */
const OrderSpans = Context.Reference("gateway/runtime/OrderSpans", {
  defaultValue: () => makeBoundedMap<Tracer.ExternalSpan>(MOST_ORDERS)
})

/** Names in traces what the effect does. */
export const spanned =
  (name: string, { kind = "client", attributes, orders }: Told = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber<A, E, R>((fiber) => {
      if (!fiber.getRef(References.TracerEnabled)) return effect
      const known = fiber.getRef(OrderSpans)
      const links = (orders?.() ?? []).flatMap((id) => {
        const span = known.get(id)
        return span === null ? [] : [{ span, attributes: {} }]
      })
      return Effect.withSpan(effect, name, {
        kind,
        links,
        attributes: attributes?.() ?? {},
        captureStackTrace: false
      })
    })

/** Adds to the span that the effect runs in. */
export const told = (attributes: () => Attributes): Effect.Effect<void> =>
  Effect.withFiber<void>((fiber) =>
    fiber.getRef(References.TracerEnabled) ? Effect.annotateCurrentSpan(attributes()) : Effect.void
  )

/** What is done for the order later is linked to the span that this runs in. */
export const asSpanOf = (id: string): Effect.Effect<void> =>
  Effect.withFiber<void>((fiber) => {
    const span = fiber.cache.span
    if (fiber.getRef(References.TracerEnabled) && span !== undefined) {
      const { spanId, traceId, sampled } = span
      fiber.getRef(OrderSpans).set(id, Tracer.externalSpan({ spanId, traceId, sampled }))
    }
    return Effect.void
  })
