/** The repository of tasks in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Order, Schema } from "effect"
import { Changes } from "../../runtime/Changes.ts"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { CallLog } from "../../services/CallLog.ts"
import { COPY_LEASE_SECONDS } from "../../services/results/Archives.ts"
import {
  AbandonedTask,
  DuplicateJob,
  OverdueTask,
  TaskRepo,
  type UpstreamTask
} from "../../services/TaskRepo.ts"
import {
  decodeRows,
  retryBriefly,
  retryForever,
  rowOf,
  rowsOf,
  runOnce,
  withStatementTimeout
} from "../client/rows.ts"
import { makeTaskClaims } from "./taskClaims.ts"
import { makeFindTask, makeListTasks, makeRecentCompletions } from "./taskReads.ts"

interface Acceptance extends UpstreamTask {
  readonly organizationId: string
  readonly id: string
  readonly firstPollSeconds: number
}

/** The order in which the ledger locks tasks: by organisation, then by id, in the collation "C". */
const lockOrder = Order.Struct({ organizationId: Order.String, id: Order.String })

/** The maximum number of acceptances that one statement writes. */
const MAX_ACCEPTS = 200

const ErasedRow = Schema.Struct({ erased: Schema.Boolean })

const AcceptedRow = Schema.Struct({
  place: Schema.Int,
  outcome: Schema.Literals(["accepted", "given_up", "duplicate"])
})
const JobOwnerRow = Schema.Struct({ orderId: Schema.String })

/** Records vendors' acceptances; concurrent ones are written in one transaction. */
const makeAcceptTask = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const decode = decodeRows(AcceptedRow)

  /** Returns the rows in the order of the items; null where there is no such task. */
  const acceptAll = Effect.fnUntraced(function* (items: ReadonlyArray<Acceptance>) {
    // The items are sorted in the order in which the ledger locks tasks, so that the two cannot
    // deadlock.
    const sortedItems = items.toSorted(lockOrder)
    const texts = (of: (item: Acceptance) => string) => sql`${sortedItems.map(of)}::text[]`
    // The row is locked, so its latest committed state is read. That state shows whether an
    // acceptance is a repeat, whose first answer was lost, or came too late.
    const rows = yield* decode(sql`
      WITH locked AS MATERIALIZED (
        SELECT d.organization_id, d.id, d.channel_id, d.state = 'submitting' AS fresh,
               coalesce(d.upstream_id = i.upstream_id, false) AS repeated, i.upstream_id,
               i.origin, i.account_version::int AS account_version, i.key_name,
               i.seconds::float8 AS seconds, i.place
          FROM unnest(${texts(({ organizationId }) => organizationId)},
                      ${texts(({ id }) => id)},
                      ${texts(({ upstreamId }) => upstreamId)},
                      ${texts(({ origin }) => origin)},
                      ${texts(({ accountVersion }) => String(accountVersion))},
                      ${texts(({ keyName }) => keyName)},
                      ${texts(({ firstPollSeconds }) => String(firstPollSeconds))})
                 WITH ORDINALITY AS i(organization_id, id, upstream_id, origin, account_version,
                                      key_name, seconds, place)
         CROSS JOIN LATERAL
           (SELECT t.organization_id, t.id, t.channel_id, t.state, t.upstream_id FROM tasks t
             WHERE t.organization_id = i.organization_id AND t.id = i.id FOR UPDATE) d
      ), taken AS (
        /* Every gateway inserts in the same order, so that two of them cannot deadlock. */
        INSERT INTO vendor_jobs (channel_id, origin, upstream_id, order_id)
        SELECT l.channel_id, l.origin, l.upstream_id, l.id FROM locked l WHERE l.fresh
         ORDER BY l.channel_id COLLATE "C", l.origin COLLATE "C", l.upstream_id COLLATE "C", l.place
        ON CONFLICT DO NOTHING
        RETURNING order_id
      ), accepted AS (
        UPDATE tasks t
           SET state = 'processing', upstream_id = l.upstream_id,
               account_version = l.account_version, key_name = l.key_name,
               asked_at = now(), accepted_at = now(),
               next_poll_at = now() + make_interval(secs => l.seconds)
          FROM locked l
         WHERE t.organization_id = l.organization_id AND t.id = l.id AND l.fresh
           AND l.id IN (SELECT order_id FROM taken)
      )
      SELECT place::int AS place,
             CASE WHEN NOT fresh THEN CASE WHEN repeated THEN 'accepted' ELSE 'given_up' END
                  WHEN id IN (SELECT order_id FROM taken) THEN 'accepted'
                  ELSE 'duplicate' END AS outcome
        FROM locked`)
    const answers = new Map(rows.map(({ place, outcome }) => [sortedItems[place - 1], outcome]))
    return items.map((item) => answers.get(item) ?? null)
  })

  const accepts = yield* makeMicroBatch({
    maxItems: MAX_ACCEPTS,
    run: (items: ReadonlyArray<Acceptance>) => withStatementTimeout(acceptAll(items)),
    isTransient
  })

  const accept: TaskRepo["Service"]["accept"] = Effect.fnUntraced(
    function* (organizationId, id, upstream, firstPollSeconds) {
      const outcome = yield* accepts.submit("tasks", {
        ...upstream,
        organizationId,
        id,
        firstPollSeconds
      })
      if (outcome === null) return yield* Effect.die(new Error(`no task is called ${id}`))
      return outcome === "duplicate" ? yield* new DuplicateJob() : outcome === "accepted"
    }
  )

  return accept
})

export const layerTaskRepo = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const changes = yield* Changes
    const callLog = yield* CallLog

    return TaskRepo.of({
      find: yield* makeFindTask(sql),
      list: makeListTasks(sql),
      accept: yield* makeAcceptTask(sql),
      ...(yield* makeTaskClaims(sql)),
      claimJob: Effect.fn("TaskRepo.claimJob")(function* (
        orderId,
        { channelId, origin, upstreamId }
      ) {
        yield* retryForever(sql`
          INSERT INTO vendor_jobs (channel_id, origin, upstream_id, order_id)
          VALUES (${channelId}, ${origin}, ${upstreamId}, ${orderId}) ON CONFLICT DO NOTHING`)
        // A separate statement, since the insert does not see a row that was committed while the
        // insert waited.
        const owner = yield* rowOf(JobOwnerRow)(
          retryForever(sql`
            SELECT order_id AS "orderId" FROM vendor_jobs
             WHERE channel_id = ${channelId} AND origin = ${origin}
               AND upstream_id = ${upstreamId}`)
        )
        if (owner.orderId !== orderId) return yield* new DuplicateJob()
      }),
      recordLateAcceptance: Effect.fn("TaskRepo.recordLateAcceptance")(
        function* (organizationId, id, upstreamId) {
          yield* retryForever(sql`
          INSERT INTO orphans (organization_id, order_id, job, upstream_id, reason)
          SELECT o.organization_id, o.id, o.job, ${upstreamId}, 'accepted_late' FROM orders o
           WHERE o.organization_id = ${organizationId} AND o.id = ${id}
          ON CONFLICT (organization_id, order_id) DO UPDATE
             SET upstream_id = coalesce(orphans.upstream_id, excluded.upstream_id)`)
        }
      ),
      pause: Effect.fn("TaskRepo.pause")((channelId, seconds) =>
        Effect.asVoid(
          retryBriefly(sql`
            INSERT INTO channel_pauses AS p (channel_id, until)
            VALUES (${channelId}, now() + make_interval(secs => ${seconds}))
            ON CONFLICT (channel_id) DO UPDATE SET until = excluded.until
              WHERE p.until < excluded.until`)
        )
      ),
      takeOver: Effect.asVoid(
        runOnce(sql`UPDATE tasks SET next_poll_at = now() WHERE state = 'processing'`)
      ),
      abandoned: Effect.fn("TaskRepo.abandoned")((scope) =>
        rowsOf(AbandonedTask)(
          withStatementTimeout(sql`
          SELECT t.organization_id AS "organizationId", t.id FROM tasks t
           WHERE t.state = 'submitting'
             AND ${scope === "all" ? sql`true` : sql`t.submit_deadline <= now()`}`)
        )
      ),
      overdue: Effect.fn("TaskRepo.overdue")((seconds, limit) =>
        rowsOf(OverdueTask)(
          withStatementTimeout(sql`
          SELECT t.organization_id AS "organizationId", t.id, t.upstream_id AS "upstreamId"
            FROM tasks t
           WHERE t.state = 'processing'
             AND t.deadline <= now() - make_interval(secs => ${seconds})
           ORDER BY t.deadline LIMIT ${limit}`)
        )
      ),
      recentCompletions: makeRecentCompletions(sql),
      erase: Effect.fn("TaskRepo.erase")(function* (organizationId, id) {
        // Waiting calls are written first: a call that is written after the erasure would not be
        // erased.
        yield* callLog.flush
        const { erased } = yield* rowOf(ErasedRow)(
          retryBriefly(
            changes.changeAndNotify(
              "tasks",
              sql`SELECT erase_task(${organizationId}, ${id},
                    make_interval(secs => ${COPY_LEASE_SECONDS})) AS erased`
            )
          )
        )
        return erased
      })
    })
  })
)
