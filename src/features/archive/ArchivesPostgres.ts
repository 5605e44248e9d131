/** The records of archived results in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  retryBriefly,
  rowsOf,
  runOnce,
  secondsSince,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import { taskSnapshotOf } from "../../postgres/tasks/taskSnapshot.ts"
import { ArchivedFile } from "../../services/results/ArchiveBucket.ts"
import {
  Archives,
  ClaimedRemoval,
  ClaimedResult,
  COPY_LEASE_SECONDS
} from "../../services/results/Archives.ts"

const claimedColumns = columnsOf(ClaimedResult, "a", {
  task: "due.task",
  ageSeconds: secondsSince("a.created_at", "due.now")
})

const removalColumns = columnsOf(ClaimedRemoval, "a")

const FilesRow = Schema.Struct({ files: Schema.Array(ArchivedFile) })

const states = { Kept: "kept", Again: "waiting", Failed: "failed" } as const

export const layerArchives = Layer.effect(
  Archives,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { claimRows } = yield* Distribution
    const { equals } = makeConditions(sql)
    const leaseEnd = sql`now() + make_interval(secs => ${COPY_LEASE_SECONDS})`

    /**
     * The state is part of the statement's text, so that the partial index of due rows in that
     * state is used.
     */
    const claim = (state: "waiting" | "removing", limit: number, columns: string) => {
      const isDue = sql`state = ${sql.literal(`'${state}'`)} AND next_try_at <= now()`
      return claimRows({
        due: sql`archives WHERE ${isDue}`,
        limit,
        claim: (route, rest, _: ReadonlyArray<object>) =>
          withStatementTimeout(sql`
            UPDATE archives a SET lease = a.lease + 1, next_try_at = ${leaseEnd}
              FROM (SELECT organization_id, task_id, now() AS now,
                           (SELECT ${sql.literal(taskSnapshotOf("t"))} FROM tasks t
                             WHERE t.organization_id = d.organization_id AND t.id = d.task_id
                               AND ${equals("t.organization_id", route)}) AS task
                      FROM archives d
                     WHERE ${isDue} AND ${equals("organization_id", route)}
                     ORDER BY next_try_at LIMIT ${rest} FOR UPDATE SKIP LOCKED) due
             WHERE a.organization_id = due.organization_id AND a.task_id = due.task_id
               AND ${equals("a.organization_id", route)}
            RETURNING ${sql.literal(columns)}`)
      })
    }

    return Archives.of({
      claimDue: (limit) => rowsOf(ClaimedResult)(claim("waiting", limit, claimedColumns)),
      renew: ({ organizationId, taskId, lease }) =>
        Effect.map(
          runOnce(sql`
            UPDATE archives SET next_try_at = ${leaseEnd}
             WHERE organization_id = ${organizationId} AND task_id = ${taskId}
               AND state = 'waiting' AND lease = ${lease}::bigint
            RETURNING task_id`),
          (rows) => rows.length > 0
        ),
      recordCopy: ({ organizationId, taskId, lease }, end) =>
        Effect.asVoid(
          runOnce(sql`
            UPDATE archives
               SET state = ${states[end._tag]}, tries = tries + 1,
                   next_try_at = ${end._tag === "Again" ? sql`now() + make_interval(secs => ${end.afterSeconds})` : null},
                   ended_at = ${end._tag === "Again" ? null : sql`now()`},
                   files = ${end._tag === "Kept" ? JSON.stringify(end.files) : null}::jsonb,
                   reason = ${end._tag === "Kept" ? null : end.reason}
             WHERE organization_id = ${organizationId} AND task_id = ${taskId}
               AND state = 'waiting' AND lease = ${lease}::bigint`)
        ),
      files: Effect.fn("Archives.files")(function* (organizationId, taskId) {
        const [row] = yield* rowsOf(FilesRow)(
          retryBriefly(sql`
            SELECT files FROM archives
             WHERE organization_id = ${organizationId} AND task_id = ${taskId} AND state = 'kept'`)
        )
        return row?.files ?? null
      }),
      expire: (days, limit) => {
        const isExpired = sql`
          state = 'kept' AND ended_at <= now() - make_interval(secs => ${days * 86_400})`
        return Effect.asVoid(
          Effect.orDie(
            claimRows({
              due: sql`archives WHERE ${isExpired}`,
              limit,
              claim: (route, rest, _: ReadonlyArray<object>) =>
                withStatementTimeout(sql`
                  UPDATE archives a
                     SET state = 'removing', files = NULL, next_try_at = now()
                    FROM (SELECT organization_id, task_id FROM archives
                           WHERE ${isExpired} AND ${equals("organization_id", route)}
                           ORDER BY ended_at LIMIT ${rest} FOR UPDATE SKIP LOCKED) expired
                   WHERE a.organization_id = expired.organization_id
                     AND a.task_id = expired.task_id AND ${equals("a.organization_id", route)}
                  RETURNING a.task_id`)
            })
          )
        )
      },
      claimRemovals: (limit) => rowsOf(ClaimedRemoval)(claim("removing", limit, removalColumns)),
      completeRemoval: ({ organizationId, taskId, lease }) =>
        Effect.asVoid(
          runOnce(sql`
            DELETE FROM archives
             WHERE organization_id = ${organizationId} AND task_id = ${taskId}
               AND state = 'removing' AND lease = ${lease}::bigint`)
        )
    })
  })
)
