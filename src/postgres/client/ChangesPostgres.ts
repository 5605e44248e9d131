/**
 * Changes told over PostgreSQL's LISTEN and NOTIFY.
 *
 * A change is in force on every gateway within a second of its commit, because what a gateway keeps
 * is used only while one of two things holds.
 *
 * It listens: a beat it sent to itself at most `LEASE_MILLIS` ago has come back. Notices arrive in
 * the order of their commits, so an echo proves that every change committed before its beat was sent
 * has been heard of. A change committed at C and unheard at t means that the last echo's beat was
 * sent before C, so t < C + 600 ms. A connection that is cut silently gives no sign, but no echo
 * either.
 *
 * It does not: then what was read `unheardCacheSeconds` ago is read again. What was read before C
 * is used until C + 500 ms.
 *
 * Neither needs a timer to fire in time; the clock is read at each use. What follows a use (an order
 * on its way to the vendor) has begun before the bound.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Layer, Option, Queue, Schema, Scope } from "effect"
import { Changes, makeMarks, Topic } from "../../runtime/Changes.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"

const CHANNEL = "gateway_changes"
const BEAT_MILLIS = 200
/** How long an echo counts: two lost beats and the way of a third. */
const LEASE_MILLIS = 600
/** Without any echo for so long, the connection is replaced. */
const SILENCE_MILLIS = 3000
const RECONNECT_MILLIS = 250

const Changed = Schema.Struct({ changed: Topic })
const Beat = Schema.Struct({ sentAtMillis: Schema.Number })
const Notice = Schema.fromJsonString(Schema.Union([Changed, Beat]))
const decodeNotice = Schema.decodeUnknownOption(Notice)
const encodeNotice = Schema.encodeSync(Notice)

export const layerChanges = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    /** When the latest beat was sent that has come back. */
    let provenAtMillis = Number.NEGATIVE_INFINITY
    let wasHeard = false
    const { invalidate, ...marks } = yield* makeMarks((now) => now - provenAtMillis <= LEASE_MILLIS)

    /** One connection's life, from its opening to its loss. */
    const listen = Effect.scoped(
      Effect.gen(function* () {
        const around = yield* Effect.scope
        // Closed before the listener's own scope, whose UNLISTEN would wait on a dead connection.
        const connected = yield* Scope.make()
        let lastSignMillis = yield* monotonicMillis
        let isFirst = true

        const hear = Effect.fnUntraced(function* (payload: string, isOwn: boolean) {
          const notice = Option.getOrNull(decodeNotice(payload))
          if (notice === null) return yield* invalidate(Topic.literals)
          if ("changed" in notice) return yield* invalidate([notice.changed])
          if (!isOwn) return
          if (isFirst) {
            isFirst = false
            // What was told before this session listened was missed.
            yield* invalidate(Topic.literals)
            if (wasHeard) yield* Effect.logInfo("changes made by other gateways are heard again")
            wasHeard = true
          }
          lastSignMillis = yield* monotonicMillis
          provenAtMillis = Math.max(provenAtMillis, notice.sentAtMillis)
        })

        const run = Effect.gen(function* () {
          const connection = yield* Scope.provide(PgConnection.make(sql.config), connected)
          const pinned = yield* connection.pin
          const notices = yield* pinned.listen(CHANNEL)
          const beat = Effect.flatMap(monotonicMillis, (sentAtMillis) =>
            pinned.query("SELECT pg_notify($1, $2)", [CHANNEL, encodeNotice({ sentAtMillis })])
          )
          return yield* Effect.raceFirst(
            Effect.forever(
              Effect.flatMap(Queue.take(notices), ({ payload, processId }) =>
                hear(payload, processId === connection.processId)
              )
            ),
            Effect.forever(Effect.andThen(beat, Effect.sleep(BEAT_MILLIS)))
          )
        })

        const untilSilent = Effect.gen(function* () {
          while (true) {
            const left = lastSignMillis + SILENCE_MILLIS - (yield* monotonicMillis)
            if (left <= 0) return yield* Effect.fail(new Error("no beat came back"))
            yield* Effect.sleep(left)
          }
        })

        const running = yield* Effect.forkIn(run, around)
        return yield* Effect.raceFirst(Fiber.join(running), untilSilent).pipe(
          Effect.ensuring(Scope.close(connected, Exit.void)),
          Effect.onError((cause) =>
            isFirst || Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.logWarning("changes made by other gateways are not heard", cause)
          )
        )
      })
    )

    yield* listen.pipe(
      Effect.catchCause((cause) => Effect.logDebug("listening for changes failed", cause)),
      Effect.andThen(Effect.sleep(RECONNECT_MILLIS)),
      Effect.forever,
      Effect.forkScoped
    )

    return Changes.of({
      ...marks,
      changeAndNotify: (topic, change) =>
        Effect.tap(
          change,
          () => sql`SELECT pg_notify(${CHANNEL}, ${encodeNotice({ changed: topic })})`
        ).pipe(sql.withTransaction, Effect.ensuring(invalidate([topic])))
    })
  })
)
