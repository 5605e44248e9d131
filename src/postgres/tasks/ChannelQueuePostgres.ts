/** Places and queues of channels in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer, Option, Schema } from "effect"
import { positionOf } from "../../domain/queuePlace.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  ChannelQueue,
  type ClaimedOrder,
  Place,
  QueueLength,
  SweptPlace
} from "../../services/channels/ChannelQueue.ts"
import { Vault } from "../../services/Vault.ts"
import { retryBriefly, retryForever, rowOf, rowsOf, withStatementTimeout } from "../client/rows.ts"

const TakenRow = Schema.Struct({ isTaken: Schema.Boolean })
const TurnsRow = Schema.Struct({
  hasQueue: Schema.Boolean,
  organizations: Schema.Array(
    Schema.Struct({ organizationId: Schema.String, waiting: Schema.Int })
  ),
  places: Schema.Array(Schema.String)
})
const ChannelRow = Schema.Struct({ channelId: Schema.String })
const ClaimedRow = Schema.Struct({
  organizationId: Schema.String,
  orderId: Schema.String,
  keyId: Schema.String,
  request: Schema.Uint8Array
})

/** The subject for which the order is encrypted, so that it opens for no other order. */
const subjectOf = (orderId: string): string => `waiting order ${orderId}`

export const layerChannelQueue = Layer.effect(
  ChannelQueue,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const vault = yield* Vault
    const { leaseSeconds, submitDeadlineSeconds } = yield* Settings
    const changes = yield* Latch.make(false)
    const claimSeconds = leaseSeconds + submitDeadlineSeconds
    const placeColumns = sql`channel_id AS "channelId", organization_id AS "organizationId",
                             order_id AS "orderId"`

    const openRequest = ({ keyId, request, orderId }: typeof ClaimedRow.Type) =>
      vault
        .open({ keyId, bytes: request }, subjectOf(orderId), "")
        .pipe(
          Effect.catchTag("CannotOpen", ({ message }) =>
            Effect.as(
              Effect.annotateLogs(
                Effect.logError("channel queue: decrypting a waiting order failed"),
                { order_id: orderId, cause: message }
              ),
              null
            )
          )
        )

    const withoutPlace = sql`NOT EXISTS (SELECT FROM channel_places h
                                          WHERE h.channel_id = w.channel_id AND h.order_id = w.order_id)`

    /**
     * The places and the waiting orders of a channel, in the sequence in which claims compare them.
     * A new order of each of `newcomers` counts as the last of its organisation.
     */
    const turnsAt = (channelId: string, newcomers: ReadonlyArray<string>) =>
      rowOf(TurnsRow)(
        withStatementTimeout(sql`
          SELECT EXISTS (SELECT FROM queued_orders w WHERE w.channel_id = ${channelId}) AS "hasQueue",
                 ARRAY(SELECT p.organization_id FROM channel_places p
                        WHERE p.channel_id = ${channelId} ORDER BY p.taken_at, p.order_id) AS places,
                 coalesce(json_agg(json_build_object('organizationId', o.organization_id,
                                                     'waiting', o.waiting)
                                   ORDER BY t.served_at NULLS FIRST, o.first_id), '[]')
                   AS organizations
            FROM (SELECT q.organization_id, count(*) AS waiting, min(q.order_id) AS first_id
                    FROM (SELECT w.organization_id, w.order_id FROM queued_orders w
                           WHERE w.channel_id = ${channelId} AND ${withoutPlace}
                          UNION ALL
                          SELECT n.organization_id, NULL
                            FROM unnest(${newcomers}::text[]) AS n(organization_id)) q
                   GROUP BY q.organization_id) o
            LEFT JOIN channel_turns t
                   ON t.channel_id = ${channelId} AND t.organization_id = o.organization_id`)
      )

    const RankRow = Schema.Struct({
      ...Place.fields,
      hasPlace: Schema.Boolean,
      rank: Schema.Int
    })

    return ChannelQueue.of({
      take: Effect.fn("ChannelQueue.take")(function* (place, maxTasks) {
        const { channelId, organizationId, orderId } = place
        const { isTaken } = yield* rowOf(TakenRow)(
          retryBriefly(sql`
            SELECT take_place(${channelId}, ${organizationId}, ${orderId}, ${maxTasks})
                     AS "isTaken"`)
        )
        return isTaken
      }),
      free: Effect.fn("ChannelQueue.free")((orderId) =>
        Effect.asVoid(
          Effect.tap(
            retryBriefly(sql`DELETE FROM channel_places WHERE order_id = ${orderId}`),
            changes.open
          )
        )
      ),
      changed: Effect.tap(changes.await, changes.close),
      join: Effect.fn("ChannelQueue.join")(function* (order) {
        const { channelId, organizationId, orderId, request, maxWaitSeconds } = order
        const ciphertext = yield* vault.seal(request, subjectOf(orderId), "")
        yield* retryBriefly(sql`
          INSERT INTO waiting_orders
                 (channel_id, organization_id, order_id, key_id, request, expires_at)
          VALUES (${channelId}, ${organizationId}, ${orderId}, ${ciphertext.keyId}, ${ciphertext.bytes},
                  now() + make_interval(secs => ${maxWaitSeconds}))
          ON CONFLICT DO NOTHING`)
      }),
      confirmHold: Effect.fn("ChannelQueue.confirmHold")((orderId) =>
        Effect.asVoid(
          Effect.tap(
            retryBriefly(sql`
              UPDATE waiting_orders SET has_hold = true WHERE order_id = ${orderId}`),
            changes.open
          )
        )
      ),
      leave: Effect.fn("ChannelQueue.leave")((orderId) =>
        Effect.asVoid(retryForever(sql`DELETE FROM waiting_orders WHERE order_id = ${orderId}`))
      ),
      next: Effect.fn("ChannelQueue.next")(function* (channelId, maxTasks) {
        const [row] = yield* rowsOf(ClaimedRow)(
          withStatementTimeout(sql`
            SELECT organization_id AS "organizationId", order_id AS "orderId", key_id AS "keyId",
                   request
              FROM claim_waiting_order(${channelId}, ${maxTasks}, ${claimSeconds})`)
        )
        if (row === undefined) return Option.none<ClaimedOrder>()
        const { organizationId, orderId } = row
        const request = yield* openRequest(row)
        return Option.some({ channelId, organizationId, orderId, request })
      }),
      putBack: Effect.fn("ChannelQueue.putBack")(function* (orderId, seconds) {
        yield* retryForever(sql`
          UPDATE waiting_orders SET next_try_at = now() + make_interval(secs => ${seconds})
           WHERE order_id = ${orderId}`)
        yield* retryForever(sql`DELETE FROM channel_places WHERE order_id = ${orderId}`)
      }),
      position: Effect.fn("ChannelQueue.position")(function* (orderId, maxTasks) {
        const [row] = yield* rowsOf(RankRow)(
          withStatementTimeout(sql`
            SELECT ${placeColumns}, NOT ${withoutPlace} AS "hasPlace",
                   (SELECT count(*)::int FROM queued_orders e
                     WHERE e.channel_id = w.channel_id AND e.organization_id = w.organization_id
                       AND e.order_id <= w.order_id
                       AND NOT EXISTS (SELECT FROM channel_places p
                                        WHERE p.channel_id = e.channel_id
                                          AND p.order_id = e.order_id)) AS rank
              FROM queued_orders w WHERE w.order_id = ${orderId}`)
        )
        if (row === undefined) return null
        if (row.hasPlace) return 1
        return positionOf(yield* turnsAt(row.channelId, []), maxTasks, row)
      }),
      positionOfNew: Effect.fn("ChannelQueue.positionOfNew")(
        function* (channelId, organizationId, maxTasks) {
          const turns = yield* turnsAt(channelId, [organizationId])
          if (!turns.hasQueue && turns.places.length < maxTasks) return null
          const queue = turns.organizations.find((other) => other.organizationId === organizationId)
          return positionOf(turns, maxTasks, { organizationId, rank: queue?.waiting ?? 1 })
        }
      ),
      channels: Effect.map(
        rowsOf(ChannelRow)(
          withStatementTimeout(sql`SELECT DISTINCT channel_id AS "channelId" FROM queued_orders`)
        ),
        (rows) => rows.map(({ channelId }) => channelId)
      ),
      lengths: rowsOf(QueueLength)(
        withStatementTimeout(sql`
          SELECT w.channel_id AS "channelId", count(*)::int AS orders,
                 extract(epoch FROM now() - min(w.created_at))::float8 AS "oldestSeconds"
            FROM queued_orders w
           WHERE NOT EXISTS (SELECT FROM channel_places p WHERE p.order_id = w.order_id)
           GROUP BY w.channel_id`)
      ),
      expired: rowsOf(Place)(
        withStatementTimeout(
          sql`SELECT ${placeColumns} FROM waiting_orders WHERE expires_at <= now()`
        )
      ),
      places: Effect.fn("ChannelQueue.places")((seconds) =>
        rowsOf(SweptPlace)(
          withStatementTimeout(sql`
            SELECT ${placeColumns}, extract(epoch FROM now() - taken_at)::float8 AS "ageSeconds"
              FROM channel_places
             WHERE taken_at <= now() - make_interval(secs => ${seconds})`)
        )
      ),
      unconfirmed: Effect.fn("ChannelQueue.unconfirmed")((seconds) =>
        rowsOf(SweptPlace)(
          withStatementTimeout(sql`
            SELECT ${placeColumns}, extract(epoch FROM now() - created_at)::float8 AS "ageSeconds"
              FROM waiting_orders
             WHERE NOT has_hold AND created_at <= now() - make_interval(secs => ${seconds})`)
        )
      )
    })
  })
)
