/** Video tasks in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { AbandonedTask, OverdueTask, TaskRepo } from "../../services/TaskRepo.ts"
import { bounded, lasting, oneTry, repeatable, rowsOf } from "../client/rows.ts"
import { makeAcceptTask } from "./taskAccepts.ts"
import { makeTaskClaims } from "./taskClaims.ts"
import { makeFindTask, makeRecentCompletions } from "./taskReads.ts"

export const layerTaskRepo = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const takeOver = Effect.asVoid(
      bounded(sql`UPDATE tasks SET next_poll_at = now() WHERE state = 'processing'`)
    )

    return TaskRepo.of({
      find: yield* makeFindTask(sql),
      accept: yield* makeAcceptTask(sql),
      ...(yield* makeTaskClaims(sql)),
      acceptedLate: Effect.fn("TaskRepo.acceptedLate")(function* (organizationId, id, upstreamId) {
        yield* lasting(sql`
          INSERT INTO orphans (organization_id, order_id, job, upstream_id, reason)
          SELECT o.organization_id, o.id, o.job, ${upstreamId}, 'accepted_late' FROM orders o
           WHERE o.organization_id = ${organizationId} AND o.id = ${id}
          ON CONFLICT (organization_id, order_id) DO UPDATE
             SET upstream_id = coalesce(orphans.upstream_id, excluded.upstream_id)`)
      }),
      pause: Effect.fn("TaskRepo.pause")((channelId, seconds) =>
        Effect.asVoid(
          repeatable(sql`
            INSERT INTO channel_pauses AS p (channel_id, until)
            VALUES (${channelId}, now() + make_interval(secs => ${seconds}))
            ON CONFLICT (channel_id) DO UPDATE SET until = excluded.until
              WHERE p.until < excluded.until`)
        )
      ),
      takeOver,
      abandoned: Effect.fn("TaskRepo.abandoned")((scope) =>
        rowsOf(AbandonedTask)(
          oneTry(sql`
          SELECT t.organization_id AS "organizationId", t.id FROM tasks t
           WHERE t.state = 'submitting'
             AND ${scope === "all" ? sql`true` : sql`t.submit_deadline <= now()`}`)
        )
      ),
      // A task's order expires at its deadline.
      overdue: Effect.fn("TaskRepo.overdue")((seconds, limit) =>
        rowsOf(OverdueTask)(
          oneTry(sql`
          SELECT t.organization_id AS "organizationId", t.id, t.upstream_id AS "upstreamId"
            FROM open_orders o
            JOIN tasks t ON t.organization_id = o.organization_id AND t.id = o.id
           WHERE t.state = 'processing'
             AND o.expires_at <= now() - make_interval(secs => ${seconds})
           ORDER BY o.expires_at LIMIT ${limit}`)
        )
      ),
      recentCompletions: makeRecentCompletions(sql)
    })
  })
)
