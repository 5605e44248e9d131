/** Spans of the steps of every order; none are created if none are collected. */
import { Context, Effect, type Fiber, References, Tracer } from "effect"
import { makeBoundedMap } from "./boundedMap.ts"

type Attributes = Readonly<Record<string, string | number>>

interface SpanOptions {
  readonly kind?: Tracer.SpanKind
  /** The attributes, which are evaluated only if spans are collected. */
  readonly attributes?: () => Attributes
  /**
   * The ids of the orders to whose spans the span is linked. An order whose span this gateway does
   * not know gets no link.
   */
  readonly orders?: () => ReadonlyArray<string>
}

/**
 * The maximum number of remembered spans. Forgetting the span of an order loses only the link to
 * it.
 */
const MAX_ORDERS = 10_000

/** The spans of recent orders, to which background work for them is linked. */
const OrderSpans = Context.Reference("gateway/runtime/OrderSpans", {
  defaultValue: () => makeBoundedMap<Tracer.ExternalSpan>(MAX_ORDERS)
})

export const isTraced = (fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  fiber.getRef(References.TracerEnabled)

/** Runs the effect in a span, if spans are collected. */
export const withSpan =
  (name: string, { kind = "client", attributes, orders }: SpanOptions = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber<A, E, R>((fiber) => {
      if (!isTraced(fiber)) return effect
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
    isTraced(fiber) ? Effect.annotateCurrentSpan(attributes()) : Effect.void
  )

/** Links later spans of the order to the span in which this effect runs. */
export const linkOrderToSpan = (id: string): Effect.Effect<void> =>
  Effect.withFiber<void>((fiber) => {
    const span = fiber.cache.span
    if (isTraced(fiber) && span !== undefined) {
      const { spanId, traceId, sampled } = span
      fiber.getRef(OrderSpans).set(id, Tracer.externalSpan({ spanId, traceId, sampled }))
    }
    return Effect.void
  })
