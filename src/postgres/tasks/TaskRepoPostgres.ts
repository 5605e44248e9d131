/** The repository of tasks in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Order, Schema } from "effect"
import { MAX_WAIT_SECONDS } from "../../domain/video/VideoBody.ts"
import { Changes } from "../../runtime/Changes.ts"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { Settings } from "../../runtime/Settings.ts"
import { CallLog } from "../../services/CallLog.ts"
import { COPY_LEASE_SECONDS } from "../../services/results/Archives.ts"
import {
  AbandonedTask,
  DuplicateJob,
  OverdueTask,
  TaskRepo,
  type UpstreamTask
} from "../../services/TaskRepo.ts"
import { Distribution } from "../citus/Distribution.ts"
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

const StartedRow = Schema.Struct({ isStarted: Schema.Boolean })
const ChangedRow = Schema.Struct({ id: Schema.String })
const ErasedRow = Schema.Struct({ erased: Schema.Boolean })

const AcceptedRow = Schema.Struct({
  /** In the order of the acceptances; null where there is no such task. */
  outcomes: Schema.Array(Schema.NullOr(Schema.Literals(["accepted", "given_up", "duplicate"])))
})
const JobOwnerRow = Schema.Struct({ orderId: Schema.String })

/** Records vendors' acceptances; concurrent ones are written in one transaction. */
const makeAcceptTask = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const decode = decodeRows(AcceptedRow)
  const { batchOptions, laneOf, routeOf } = yield* Distribution

  /** Returns the outcomes in the order of the items; null where there is no such task. */
  const acceptAll = Effect.fnUntraced(function* (items: ReadonlyArray<Acceptance>) {
    // The items are sorted in the order in which the ledger locks tasks, so that the two cannot
    // deadlock.
    const sortedItems = items.toSorted(lockOrder)
    const texts = (of: (item: Acceptance) => string) => sql`${sortedItems.map(of)}::text[]`
    const rows = yield* decode(sql`
      SELECT accept_tasks(${routeOf(items[0]?.organizationId ?? "")}::text,
                          ${texts(({ organizationId }) => organizationId)},
                          ${texts(({ id }) => id)},
                          ${texts(({ upstreamId }) => upstreamId)},
                          ${texts(({ origin }) => origin)},
                          ${texts(({ accountVersion }) => String(accountVersion))}::int[],
                          ${texts(({ keyName }) => keyName)},
                          ${texts(({ firstPollSeconds }) => String(firstPollSeconds))}::float8[])
             AS outcomes`)
    const outcomes = rows.flatMap((row) => row.outcomes)
    const answers = new Map(sortedItems.map((item, index) => [item, outcomes[index]]))
    return items.map((item) => answers.get(item) ?? null)
  })

  const accepts = yield* makeMicroBatch({
    maxItems: MAX_ACCEPTS,
    ...batchOptions,
    run: (items: ReadonlyArray<Acceptance>) => withStatementTimeout(acceptAll(items)),
    isTransient
  })

  const accept: TaskRepo["Service"]["accept"] = Effect.fnUntraced(
    function* (organizationId, id, upstream, firstPollSeconds) {
      const outcome = yield* accepts.submit(laneOf(organizationId), {
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
    const { submitDeadlineSeconds, taskDeadlineSeconds } = yield* Settings

    return TaskRepo.of({
      find: yield* makeFindTask(sql),
      list: makeListTasks(sql),
      accept: yield* makeAcceptTask(sql),
      ...(yield* makeTaskClaims(sql)),
      startWaiting: Effect.fn("TaskRepo.startWaiting")(function* (organizationId, id) {
        const { isStarted } = yield* rowOf(StartedRow)(
          retryBriefly(sql`
            SELECT start_waiting_task(${organizationId}, ${id}, ${submitDeadlineSeconds},
                                      ${taskDeadlineSeconds}) AS "isStarted"`)
        )
        return isStarted
      }),
      waitAgain: Effect.fn("TaskRepo.waitAgain")(function* (organizationId, id) {
        const rows = yield* rowsOf(ChangedRow)(
          retryBriefly(sql`
            UPDATE tasks
               SET state = 'waiting',
                   submit_deadline = now() + make_interval(secs => ${MAX_WAIT_SECONDS})
             WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'submitting'
            RETURNING id`)
        )
        return rows.length === 1
      }),
      startCall: Effect.fn("TaskRepo.startCall")(function* (organizationId, id) {
        const rows = yield* rowsOf(ChangedRow)(
          retryBriefly(sql`
            UPDATE tasks SET lease = lease + 1
             WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'submitting'
            RETURNING id`)
        )
        return rows.length === 1
      }),
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
      recordJob: Effect.fn("TaskRepo.recordJob")(function* (
        organizationId,
        id,
        { upstreamId, accountVersion, keyName }
      ) {
        yield* retryForever(sql`
            UPDATE tasks
               SET upstream_id = ${upstreamId}, account_version = ${accountVersion},
                   key_name = ${keyName}
             WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'submitting'
               AND upstream_id IS NULL`)
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
          SELECT t.organization_id AS "organizationId", t.id, t.state, t.is_queued AS "isQueued",
                 t.upstream_id AS "upstreamId"
            FROM tasks t
           WHERE t.state = 'submitting'
             AND ${scope === "all" ? sql`true` : sql`t.submit_deadline <= now()`}
          UNION ALL
          SELECT t.organization_id, t.id, t.state, t.is_queued, t.upstream_id FROM tasks t
           WHERE t.state = 'waiting' AND t.submit_deadline <= now()`)
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
