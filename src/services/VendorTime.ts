/** Adds up how long a request waits for vendors, so that the rest can be called our overhead. */
import { Clock, Context, Effect } from "effect"

/** What was waited so far, in nanoseconds; null where nobody wants to know. */
export const VendorTime = Context.Reference<{ nanos: bigint } | null>(
  "gateway/services/VendorTime",
  { defaultValue: () => null }
)

/** Counts the whole effect as waiting for a vendor, once, however many such effects are inside. */
export const asVendorTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const total = yield* VendorTime
    if (total === null) return yield* effect
    const started = yield* Clock.currentTimeNanos
    return yield* effect.pipe(
      Effect.provideService(VendorTime, null),
      Effect.ensuring(
        Effect.map(Clock.currentTimeNanos, (now) => {
          total.nanos += now - started
        })
      )
    )
  })
