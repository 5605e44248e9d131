/** How soon clients were served again after PostgreSQL had come back. */
import type { Restart } from "./postgres.ts"
import type { Witness } from "./witness.ts"

/**
 * Seconds from each return of PostgreSQL to the end of the first 2xx that was asked for after it.
 * Null when the next kill came first, or nobody asked any more.
 */
export const recoverySeconds = (
  witness: Witness,
  restarts: ReadonlyArray<Restart>
): ReadonlyArray<number | null> => {
  const served = [
    ...witness.attempts.flatMap(({ outcome, startedAt, endedAt }) =>
      outcome._tag === "Accepted" ? [{ startedAt, endedAt }] : []
    ),
    ...witness.sightings.filter(({ status }) => status < 300)
  ].sort((a, b) => a.endedAt - b.endedAt)
  return restarts.map(({ readyAt }, index) => {
    const nextKill = restarts[index + 1]?.killedAt ?? Number.POSITIVE_INFINITY
    const first = served.find(({ startedAt }) => startedAt >= readyAt)
    return first === undefined || first.endedAt > nextKill ? null : (first.endedAt - readyAt) / 1000
  })
}
