/**
 * Cache invalidation between gateways over PostgreSQL's LISTEN and NOTIFY.
 *
 * A change is in force on every gateway within a second of its commit, because a gateway uses a
 * cached value only while one of two conditions holds.
 *
 * The gateway is listening: it has received a heartbeat that it sent to itself at most
 * `LEASE_MILLIS` ago. Notifications arrive in the order of their commits, so this echo proves that
 * every change committed before the heartbeat was sent has been received. A change that was
 * committed at C and is not received at t means that the heartbeat of the last echo was sent before
 * C, so t < C + 600 ms. A connection that is cut silently reports no error, but it does not echo
 * either.
 *
 * The gateway is not listening: then a value that was read `unheardCacheSeconds` ago is read again.
 * A value read before C is used until C + 500 ms.
 *
 * Neither condition needs a timer to fire in time: the clock is read at each use of a value. Work
 * that uses a value (such as sending an order to the vendor) begins before these bounds.
 *
 * Notifications do not leave a node of a cluster. So all gateways listen on the coordinator, and a
 * change writes its notice into a table there, whose trigger sends the notification.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Layer, Option, Queue, Redacted, Schema, Scope } from "effect"
import { Changes, makeMarks, Topic } from "../../runtime/Changes.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { Distribution } from "../citus/Distribution.ts"

const CHANNEL = "gateway_changes"
const HEARTBEAT_MILLIS = 200
/** How long an echo is valid: two lost heartbeats and the round trip of a third one. */
const LEASE_MILLIS = 600
/** The time without any echo after which a connection is replaced. */
const SILENCE_MILLIS = 3000
const RECONNECT_MILLIS = 250

const ChangeNotice = Schema.Struct({ changed: Topic })
const Heartbeat = Schema.Struct({ sentAtMillis: Schema.Number })
const Notice = Schema.fromJsonString(Schema.Union([ChangeNotice, Heartbeat]))
const decodeNotice = Schema.decodeUnknownOption(Notice)
const encodeNotice = Schema.encodeSync(Notice)

/** The settings of connections to another node of the same cluster. */
const atNode = (
  config: PgClient.PgClient["config"],
  { host, port }: { readonly host: string; readonly port: number }
): PgClient.PgClient["config"] => {
  const url = new URL(Redacted.value(config.url ?? Redacted.make("")))
  url.hostname = host
  url.port = String(port)
  return { ...config, url: Redacted.make(url.href) }
}

export const layerChanges = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { coordinator } = yield* Distribution
    /** The time at which the heartbeat of the last echo was sent. */
    let provenAtMillis = Number.NEGATIVE_INFINITY
    let hasListened = false
    const { invalidate, ...marks } = yield* makeMarks((now) => now - provenAtMillis <= LEASE_MILLIS)

    /** Listens on one connection until it is lost. */
    const listen = Effect.scoped(
      Effect.gen(function* () {
        const listenerScope = yield* Effect.scope
        // This scope is closed before the listener's scope, whose UNLISTEN would wait on a dead
        // connection.
        const connectionScope = yield* Scope.make()
        let lastEchoMillis = yield* monotonicMillis
        let isListening = false

        /**
         * Notifications from before this session listened are lost, so all cached values become
         * stale.
         */
        const beginListening = Effect.gen(function* () {
          isListening = true
          yield* invalidate(Topic.literals)
          if (hasListened) yield* Effect.logInfo("changes: listening to other gateways again")
          hasListened = true
        })

        const receiveEcho = Effect.fnUntraced(function* (sentAtMillis: number) {
          if (!isListening) yield* beginListening
          lastEchoMillis = yield* monotonicMillis
          provenAtMillis = Math.max(provenAtMillis, sentAtMillis)
        })

        const receive = Effect.fnUntraced(function* (payload: string, isOwn: boolean) {
          const notice = Option.getOrNull(decodeNotice(payload))
          if (notice === null) return yield* invalidate(Topic.literals)
          if ("changed" in notice) return yield* invalidate([notice.changed])
          if (isOwn) yield* receiveEcho(notice.sentAtMillis)
        })

        const run = Effect.gen(function* () {
          const connection = yield* Scope.provide(
            PgConnection.make(coordinator === null ? sql.config : atNode(sql.config, coordinator)),
            connectionScope
          )
          const pinnedConnection = yield* connection.pin
          const notices = yield* pinnedConnection.listen(CHANNEL)
          const sendHeartbeat = Effect.flatMap(monotonicMillis, (sentAtMillis) =>
            pinnedConnection.query("SELECT pg_notify($1, $2)", [
              CHANNEL,
              encodeNotice({ sentAtMillis })
            ])
          )
          return yield* Effect.raceFirst(
            Effect.forever(
              Effect.flatMap(Queue.take(notices), ({ payload, processId }) =>
                receive(payload, processId === connection.processId)
              )
            ),
            Effect.forever(Effect.andThen(sendHeartbeat, Effect.sleep(HEARTBEAT_MILLIS)))
          )
        })

        const failOnSilence = Effect.gen(function* () {
          while (true) {
            const remainingMillis = lastEchoMillis + SILENCE_MILLIS - (yield* monotonicMillis)
            if (remainingMillis <= 0) return yield* Effect.fail(new Error("no heartbeat came back"))
            yield* Effect.sleep(remainingMillis)
          }
        })

        const fiber = yield* Effect.forkIn(run, listenerScope)
        return yield* Effect.raceFirst(Fiber.join(fiber), failOnSilence).pipe(
          Effect.ensuring(Scope.close(connectionScope, Exit.void)),
          Effect.onError((cause) =>
            !isListening || Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.logWarning("changes: listening to other gateways failed", cause)
          )
        )
      })
    )

    yield* listen.pipe(
      Effect.catchCause((cause) => Effect.logDebug("changes: the listener failed", cause)),
      Effect.andThen(Effect.sleep(RECONNECT_MILLIS)),
      Effect.forever,
      Effect.forkScoped
    )

    return Changes.of({
      ...marks,
      changeAndNotify: (topic, change) =>
        Effect.tap(
          change,
          () =>
            sql`INSERT INTO change_notices (notice) VALUES (${encodeNotice({ changed: topic })})`
        ).pipe(sql.withTransaction, Effect.ensuring(invalidate([topic])))
    })
  })
)
