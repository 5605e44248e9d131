/** Adds up how long a request waits for vendors, so that the rest can be called our overhead. */
import { Clock, Context, Effect } from "effect"

/** What was waited so far, in nanoseconds; null where nobody wants to know. */
export const VendorTime = Context.Reference<{ nanos: bigint } | null>(
  "gateway/services/VendorTime",
  { defaultValue: () => null }
)

/** Counts the whole effect as waiting for a vendor, once, however many such effects are inside. */
export const asVendorTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const total = fiber.getRef(VendorTime)
    if (total === null) return effect
    const clock = fiber.getRef(Clock.Clock)
    const started = clock.currentTimeNanosUnsafe()
    return Effect.onExitPrimitive(Effect.provideService(effect, VendorTime, null), () => {
      total.nanos += clock.currentTimeNanosUnsafe() - started
      return undefined
    })
  })
