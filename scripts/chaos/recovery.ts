/** The time until clients are served again after a restart of PostgreSQL. */
import type { Restart } from "./postgres.ts"
import type { Moment, Witness } from "./witness.ts"

/** The part of a time during which at least one gateway was neither killed nor paused. */
const awakeMillis = (moments: ReadonlyArray<Moment>, from: number, to: number): number =>
  moments.reduce((sum, { at, awake }, index) => {
    const before = moments[index - 1]?.at ?? at
    return awake ? sum + Math.max(0, Math.min(at, to) - Math.max(before, from)) : sum
  }, 0)

/**
 * Seconds from each return of PostgreSQL to the end of the first successful request that started
 * after that return. Only the time with an awake gateway counts. Null when PostgreSQL was killed
 * again before, or no later request succeeded.
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
    return first === undefined || first.endedAt > nextKill
      ? null
      : awakeMillis(witness.moments, readyAt, first.endedAt) / 1000
  })
}
