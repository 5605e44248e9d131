/**
 * Cache invalidation between gateways by counts of changes, which each gateway reads five times a
 * second. A change increments the count of its topic in its own transaction.
 *
 * A change is in force on every gateway within a second of its commit, because a gateway uses a
 * cached value only while one of two conditions holds.
 *
 * The gateway knows the counts: it has read them by a statement that it sent at most `LEASE_MILLIS`
 * ago, and has invalidated what they tell. A change that was committed at C and is not known at t
 * means that the last answered read was sent before C, so t < C + 600 ms. A connection that is cut
 * silently reports no error, but answers no read either.
 *
 * The gateway does not know them: then a value that was read `unheardCacheSeconds` ago is read
 * again. A value read before C is used until C + 500 ms.
 *
 * Neither condition needs a timer to fire in time: the clock is read at each use of a value. Work
 * that uses a value (such as sending an order to the vendor) begins before these bounds.
 *
 * On a Citus cluster each node has a copy of the counts and of all tables whose rows are cached for
 * long, and a node commits its copies at once. So a gateway that reads an increased count also reads
 * the change, whichever node it is connected to.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schema } from "effect"
import { Changes, makeMarks, Topic } from "../../runtime/Changes.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { decodeRows, withTimeout } from "./rows.ts"

const READ_MILLIS = 200
/** How long the counts are known: two lost reads and the round trip of a third one. */
const LEASE_MILLIS = 600
/** The time without an answer after which a connection is replaced. */
const SILENCE = Duration.seconds(3)
const RECONNECT_MILLIS = 250

const CountRow = Schema.Struct({ topic: Schema.String, changes: Schema.String })
const decodeCounts = decodeRows(CountRow)
const isTopic = Schema.is(Topic)

type Counts = ReadonlyMap<string, string>

/** The topics whose counts differ; all where one differs that this gateway does not know. */
const changedTopics = (before: Counts, after: Counts): ReadonlyArray<Topic> => {
  const changed = [...after].flatMap(([topic, changes]) =>
    before.get(topic) === changes ? [] : [topic]
  )
  return changed.every(isTopic) ? changed : Topic.literals
}

/** The statement is not prepared, so that each read on the wire shows what it is. */
const readCounts = (connection: PgConnection.PgConnection) =>
  connection.query("SELECT topic, changes::text FROM change_counts", [], false).pipe(
    Effect.map(({ rows }) => rows),
    withTimeout(SILENCE),
    decodeCounts,
    Effect.map((rows): Counts => new Map(rows.map(({ topic, changes }) => [topic, changes])))
  )

export const layerChanges = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    /** The time at which the last answered read was sent. */
    let provenAtMillis = Number.NEGATIVE_INFINITY
    /** The counts that were read on the present connection; null before the first answer. */
    let counts: Counts | null = null
    let hasRead = false
    const { invalidate, ...marks } = yield* makeMarks((now) => now - provenAtMillis <= LEASE_MILLIS)

    /** Reads the counts on one connection until it is lost. */
    const watch = Effect.gen(function* () {
      const connection = yield* PgConnection.make(sql.config)
      while (true) {
        const sentAtMillis = yield* monotonicMillis
        const read = yield* readCounts(connection)
        // Another server may have lost changes that this gateway has read.
        yield* invalidate(counts === null ? Topic.literals : changedTopics(counts, read))
        if (counts === null && hasRead) yield* Effect.logInfo("changes: reading their counts again")
        counts = read
        hasRead = true
        provenAtMillis = sentAtMillis
        yield* Effect.sleep(Duration.millis(READ_MILLIS))
      }
    })

    yield* Effect.scoped(watch).pipe(
      Effect.catchCause((cause) =>
        Effect.logWithLevel(counts === null ? "Debug" : "Warn")(
          "changes: their counts cannot be read",
          cause
        )
      ),
      Effect.andThen(
        Effect.sync(() => {
          counts = null
        })
      ),
      Effect.andThen(Effect.sleep(Duration.millis(RECONNECT_MILLIS))),
      Effect.forever,
      Effect.forkScoped
    )

    return Changes.of({
      ...marks,
      changeAndNotify: (topic, change) =>
        Effect.tap(
          change,
          () => sql`
            INSERT INTO change_counts (topic, changes) VALUES (${topic}, 1)
            ON CONFLICT (topic) DO UPDATE SET changes = change_counts.changes + 1`
        ).pipe(sql.withTransaction, Effect.ensuring(invalidate([topic])))
    })
  })
)
