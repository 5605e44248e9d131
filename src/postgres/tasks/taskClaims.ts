/** Claims of running tasks for polling, and the return of claimed tasks. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { Settings } from "../../runtime/Settings.ts"
import { ClaimedTask, ImageJob, type TaskRepo } from "../../services/TaskRepo.ts"
import { Distribution } from "../citus/Distribution.ts"
import { makeConditions } from "../client/conditions.ts"
import {
  columnsOf,
  decodeRows,
  rowsOf,
  secondsSince,
  withStatementTimeout
} from "../client/rows.ts"
import { DueCount, shareOut } from "./dueShares.ts"
import { isMarkedOf, startOf } from "./taskSnapshot.ts"

const claimedColumns = columnsOf(ClaimedTask, "t", {
  isMarked: isMarkedOf("t"),
  ageSeconds: secondsSince(startOf("t"), "asked.now"),
  sincePollSeconds: secondsSince("coalesce(asked.asked_at, t.created_at)", "asked.now"),
  unknownForSeconds: secondsSince("t.unknown_since", "asked.now"),
  pastDeadline: "t.deadline <= asked.now",
  quote: "o.quote",
  cost: "o.cost_quote",
  billUnitPriceNano: "o.bill_unit_price"
})

type PutBack = { readonly task: ClaimedTask } & Parameters<TaskRepo["Service"]["putBack"]>[1]

/** The maximum number of tasks that one statement puts back. */
const MAX_PUT_BACKS = 500
/**
 * A task is put back long before its next poll is due, so waiting for a batch does not delay the
 * poll.
 */
const PUT_BACK_COOLDOWN = { minItems: 8, millis: 25 }

/**
 * The time that is a number of seconds after the current one. On a cluster, an `UPDATE` may not add
 * a column to `now()`, since this addition depends on the session's time zone.
 */
const fromNow = (seconds: string): string =>
  `to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`

const decodeDueCounts = decodeRows(DueCount)
const decodeTasks = decodeRows(ClaimedTask)

export const makeTaskClaims = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const settings = yield* Settings
  const { isDistributed, batchOptions, laneOf, routeOf } = yield* Distribution
  const { equals } = makeConditions(sql)

  const lease = sql`
             SET lease = t.lease + 1, asked_at = now(),
                 next_poll_at = now() + make_interval(secs => ${settings.leaseSeconds})`
  const columns = sql.literal(claimedColumns)
  // Each order is looked up by its primary key: with stale statistics a join would read the whole
  // table.
  const orderOn = (route: string | null) => sql`CROSS JOIN LATERAL
               (SELECT q.quote, q.cost_quote, q.job ->> 'billUnitPrice' AS bill_unit_price FROM orders q
                 WHERE q.organization_id = asked.organization_id AND q.id = asked.id
                   AND ${equals("q.organization_id", route)} LIMIT 1) o`

  const claim: TaskRepo["Service"]["claim"] = Effect.fnUntraced(function* (organizationId, id) {
    // A locked row is skipped without waiting, since the transaction that has locked it is about to
    // poll or to end the task.
    const [row] = yield* rowsOf(ClaimedTask)(
      withStatementTimeout(sql`
          UPDATE tasks t ${lease}
            FROM (SELECT d.organization_id, d.id, d.asked_at, now() AS now FROM tasks d
                   WHERE d.organization_id = ${organizationId} AND d.id = ${id}
                     AND d.state = 'processing'
                     AND (d.asked_at IS NULL OR d.asked_at
                            <= now() - make_interval(secs => ${settings.askIntervalSeconds}))
                     AND (d.deadline <= now() OR NOT EXISTS (
                           SELECT 1 FROM channel_pauses p
                            WHERE p.channel_id = d.channel_id AND p.until > now()))
                     FOR UPDATE SKIP LOCKED) asked ${orderOn(organizationId)}
           WHERE t.organization_id = asked.organization_id AND t.id = asked.id
             AND t.organization_id = ${organizationId}
          RETURNING ${columns}`)
    )
    return Option.fromUndefinedOr(row)
  })

  /** Claims up to `limit` tasks of a route: of each channel, up to its room, else `elsewhere`. */
  const claimDueOf = (
    route: string | null,
    limit: number,
    roomByChannel: ReadonlyMap<string, number>,
    elsewhere: number
  ) => {
    const isOnRoute = equals("d.organization_id", route)
    // The query steps from channel to channel through the index, and takes the first due tasks of
    // each channel. So a channel with thousands of due tasks does not slow the others, and no task
    // beyond the limit is read.
    return decodeTasks(
      withStatementTimeout(sql`
          WITH RECURSIVE channels AS (
            (SELECT d.channel_id FROM tasks d
              WHERE d.state = 'processing' AND ${isOnRoute} ORDER BY d.channel_id LIMIT 1)
            UNION ALL
            (SELECT n.channel_id FROM channels c CROSS JOIN LATERAL
               (SELECT d.channel_id FROM tasks d
                 WHERE d.state = 'processing' AND ${isOnRoute} AND d.channel_id > c.channel_id
                 ORDER BY d.channel_id LIMIT 1) n)
          ), room AS (
            SELECT c.channel_id,
                   greatest(0, least(${limit}::int, coalesce(a.room, ${elsewhere}::int))) AS places,
                   coalesce(p.until > now(), false) AS paused
              FROM channels c
              LEFT JOIN unnest(${[...roomByChannel.keys()]}::text[], ${[...roomByChannel.values()]}::int[])
                AS a(channel_id, room) ON a.channel_id = c.channel_id
              LEFT JOIN channel_pauses p ON p.channel_id = c.channel_id
          ), due AS (
            SELECT q.*,
                   row_number() OVER (PARTITION BY r.channel_id ORDER BY q.next_poll_at) AS turn
              FROM room r CROSS JOIN LATERAL
                (SELECT d.organization_id, d.id, d.asked_at, d.next_poll_at FROM tasks d
                  WHERE d.state = 'processing' AND ${isOnRoute} AND d.channel_id = r.channel_id
                    AND d.next_poll_at <= now() AND (NOT r.paused OR d.deadline <= now())
                  ORDER BY d.next_poll_at LIMIT r.places FOR UPDATE SKIP LOCKED) q
          )
          UPDATE tasks t ${lease}
            FROM (SELECT *, now() AS now FROM due
                   ORDER BY turn, next_poll_at LIMIT ${limit}) asked ${orderOn(route)}
           WHERE t.organization_id = asked.organization_id AND t.id = asked.id
             AND ${equals("t.organization_id", route)}
          RETURNING ${columns}`)
    )
  }

  /** The due tasks of each organisation on each channel, the longest due first. */
  const dueCounts = decodeDueCounts(
    withStatementTimeout(sql`
      SELECT d.organization_id AS "organizationId", d.channel_id AS "channelId",
             count(*)::int AS tasks
        FROM tasks d
       WHERE d.state = 'processing' AND d.next_poll_at <= now()
         AND (d.deadline <= now() OR NOT EXISTS (
               SELECT 1 FROM channel_pauses p
                WHERE p.channel_id = d.channel_id AND p.until > now()))
       GROUP BY d.organization_id, d.channel_id ORDER BY min(d.next_poll_at)`)
  )

  const claimDue: TaskRepo["Service"]["claimDue"] = Effect.fn("TaskRepo.claimDue")(function* ({
    limit,
    perChannel,
    openByChannel
  }) {
    const rooms = new Map(
      [...openByChannel].map(([channelId, open]) => [channelId, perChannel - open])
    )
    if (!isDistributed) return yield* Effect.orDie(claimDueOf(null, limit, rooms, perChannel))
    const shares = shareOut(
      yield* Effect.orDie(dueCounts),
      limit,
      (channelId) => rooms.get(channelId) ?? perChannel
    )
    const claims = yield* Effect.forEach(shares, ([organizationId, shareByChannel]) =>
      Effect.orDie(claimDueOf(organizationId, limit, shareByChannel, 0))
    )
    return claims.flat()
  })

  const decodeIds = decodeRows(Schema.Struct({ id: Schema.String }))
  const decodePlaceRows = decodeRows(Schema.Struct({ place: Schema.Int }))
  const putBacks = yield* makeMicroBatch({
    maxItems: MAX_PUT_BACKS,
    cooldown: PUT_BACK_COOLDOWN,
    ...batchOptions,
    run: Effect.fnUntraced(function* (items: ReadonlyArray<PutBack>) {
      const route = routeOf(items[0]?.task.organizationId ?? "")
      const texts = (of: (item: PutBack) => string) => sql`${items.map(of)}::text[]`
      // Each row is looked up by its primary key, even if the statistics are stale. A locked row is
      // skipped: its task is being ended or claimed again, so this claim of the task is over.
      const rows = yield* decodePlaceRows(
        sql`
          UPDATE tasks t
             SET asked_at = mine.asked_at, next_poll_at = least(mine.next_poll_at, t.deadline),
                 unknown_since =
                   CASE WHEN mine.known = 'true' THEN NULL
                        WHEN mine.known = 'false' THEN coalesce(t.unknown_since, mine.now)
                        ELSE t.unknown_since END
            FROM (SELECT d.organization_id, d.id, i.known, i.place, d.now,
                         ${sql.literal(fromNow("(-i.ago::float8)"))} AS asked_at,
                         ${sql.literal(fromNow("i.seconds::float8"))} AS next_poll_at
                    FROM unnest(${texts(({ task }) => task.organizationId)},
                                ${texts(({ task }) => task.id)},
                                ${texts(({ task }) => String(task.lease))},
                                ${texts(({ nextPollSeconds }) => String(nextPollSeconds))},
                                ${texts(({ isKnown }) => String(isKnown))},
                                ${texts(({ polledSecondsAgo = 0 }) => String(polledSecondsAgo))})
                           WITH ORDINALITY
                           AS i(organization_id, id, lease, seconds, known, ago, place)
                   CROSS JOIN LATERAL
                     (SELECT c.organization_id, c.id, now() AS now FROM tasks c
                       WHERE c.organization_id = i.organization_id AND c.id = i.id
                         AND c.state = 'processing' AND c.lease = i.lease::bigint
                         AND ${equals("c.organization_id", route)}
                         FOR UPDATE SKIP LOCKED) d) mine
           WHERE t.organization_id = mine.organization_id AND t.id = mine.id
             AND ${equals("t.organization_id", route)}
          RETURNING mine.place::int AS place`
      ).pipe(withStatementTimeout)
      const places = new Set(rows.map(({ place }) => place))
      return items.map((_, index) => places.has(index + 1))
    }),
    isTransient
  })

  const putBack: TaskRepo["Service"]["putBack"] = (task, options) =>
    putBacks.submit(laneOf(task.organizationId), { task, ...options })

  const startCancel: TaskRepo["Service"]["startCancel"] = (organizationId, id) =>
    decodeIds(
      withStatementTimeout(sql`
        UPDATE tasks SET cancel_sent_at = now()
         WHERE organization_id = ${organizationId} AND id = ${id}
           AND (state = 'processing' OR state = 'submitting' AND upstream_id IS NOT NULL)
           AND (cancel_sent_at IS NULL
                OR cancel_sent_at <= now() - make_interval(secs => ${settings.leaseSeconds}))
        RETURNING id`)
    ).pipe(
      Effect.map(({ length }) => length === 1),
      Effect.orDie
    )

  const claimJobToCancel: TaskRepo["Service"]["claimJobToCancel"] = (organizationId, id) =>
    rowsOf(ImageJob)(
      withStatementTimeout(sql`
        UPDATE tasks t SET asked_at = now()
         WHERE t.organization_id = ${organizationId} AND t.id = ${id} AND t.state = 'submitting'
           AND t.upstream_id IS NOT NULL
           AND (t.asked_at IS NULL
                OR t.asked_at <= now() - make_interval(secs => ${settings.askIntervalSeconds}))
        RETURNING ${sql.literal(columnsOf(ImageJob, "t"))}`)
    ).pipe(Effect.map(([row]) => Option.fromUndefinedOr(row)))

  return { claim, claimDue, claimJobToCancel, putBack, startCancel }
})
