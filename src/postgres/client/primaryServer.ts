/** Finds the primary among several servers, and follows it when a standby is promoted. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, Schedule, Schema, type Scope } from "effect"
import { serverUrls } from "../../runtime/serverUrls.ts"

/** The interval at which the servers are asked which one is the primary. */
const INTERVAL = "1 second"
/** The maximum time for the answer of one server. */
const TIMEOUT = "2 seconds"

/**
 * The timeline of a server: a promotion begins the next one. The function that tells it fails on a
 * standby, for which the timeline is null.
 */
const TIMELINE = `
  SELECT CASE WHEN NOT pg_is_in_recovery()
              THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`

const TimelineRows = Schema.Tuple([Schema.Struct({ timeline: Schema.NullOr(Schema.String) })])
const decodeRows = Schema.decodeUnknownEffect(TimelineRows)

interface Primary {
  readonly url: string
  readonly timeline: number
}

/** The server as a primary; null where it is a standby or does not answer. */
const primaryAt = (url: string): Effect.Effect<Primary | null> =>
  Effect.gen(function* () {
    const connection = yield* PgConnection.make({
      url: Redacted.make(url),
      applicationName: "media-gateway"
    })
    const { rows } = yield* connection.query(TIMELINE)
    const [{ timeline }] = yield* decodeRows(rows)
    return timeline === null ? null : { url, timeline: Number.parseInt(timeline, 16) }
  }).pipe(
    Effect.scoped,
    Effect.timeout(TIMEOUT),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logDebug("database: a server did not answer", cause), null)
    )
  )

/** The host and port for a log, without user and password. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? ""

/**
 * The URL of the primary, which is read for each new connection. Of several servers that take
 * writes, the one on the highest timeline is the primary: the others were primaries before a
 * promotion. A server on a lower timeline than one that was seen is never the primary again, so
 * that an old primary which comes back is not written to, also while the new one does not answer.
 */
export const makePrimaryUrl = Effect.fnUntraced(function* (
  url: Redacted.Redacted
): Effect.fn.Return<() => Redacted.Redacted, never, Scope.Scope> {
  const urls = serverUrls(Redacted.value(url))
  if (urls.length < 2) return () => url
  let current: Primary = { url: urls[0] ?? "", timeline: 0 }
  let currentUrl = Redacted.make(current.url)

  const find = Effect.gen(function* () {
    const servers = yield* Effect.forEach(urls, primaryAt, { concurrency: "unbounded" })
    const next = servers
      .filter((server) => server !== null)
      .reduce((best, one) => (one.timeline > best.timeline ? one : best), current)
    if (next.url !== current.url) {
      yield* Effect.logWarning("database: another server is the primary").pipe(
        Effect.annotateLogs({ server: hostOf(next.url), timeline: next.timeline })
      )
      currentUrl = Redacted.make(next.url)
    }
    current = next
  })
  yield* find
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(find, INTERVAL), Schedule.forever))
  return () => currentUrl
})
