/** Giving back what was left behind: one hold that cannot be closed must not keep the others. */
import { Effect } from "effect"

/** What does not end in this time is left to the next round; it may still succeed meanwhile. */
const PATIENCE = "10 seconds"

/** Ends within a bound and never fails; trouble is logged with the hold's id. */
export const unhindered =
  (holdId: string) =>
  <A>(release: Effect.Effect<A>): Effect.Effect<void> =>
    release.pipe(
      Effect.timeout(PATIENCE),
      Effect.catchCause((cause) =>
        Effect.logError("a hold could not be given back", cause).pipe(
          Effect.annotateLogs({ hold: holdId })
        )
      )
    )
