/** The records of archived results in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
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
  task: taskSnapshotOf("a.organization_id", "a.task_id"),
  ageSeconds: secondsSince("a.created_at")
})

const removalColumns = columnsOf(ClaimedRemoval, "a")

const FilesRow = Schema.Struct({ files: Schema.Array(ArchivedFile) })

const states = { Kept: "kept", Again: "waiting", Failed: "failed" } as const

export const layerArchives = Layer.effect(
  Archives,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const leaseEnd = sql`now() + make_interval(secs => ${COPY_LEASE_SECONDS})`

    /**
     * The state is part of the statement's text, so that the partial index of due rows in that
     * state is used.
     */
    const claim = (state: "waiting" | "removing", limit: number, columns: string) =>
      withStatementTimeout(sql`
        UPDATE archives a SET lease = a.lease + 1, next_try_at = ${leaseEnd}
          FROM (SELECT d.organization_id, d.task_id FROM archives d
                 WHERE d.state = ${sql.literal(`'${state}'`)} AND d.next_try_at <= now()
                 ORDER BY d.next_try_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) due
         WHERE a.organization_id = due.organization_id AND a.task_id = due.task_id
        RETURNING ${sql.literal(columns)}`)

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
                   next_try_at = CASE WHEN ${end._tag === "Again"} THEN now() + make_interval(
                     secs => ${end._tag === "Again" ? end.afterSeconds : 0}::float8) END,
                   ended_at = CASE WHEN ${end._tag !== "Again"} THEN now() END,
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
      expire: (days, limit) =>
        Effect.asVoid(
          runOnce(sql`
            UPDATE archives a
               SET state = 'removing', files = NULL, next_try_at = now()
              FROM (SELECT d.organization_id, d.task_id FROM archives d
                     WHERE d.state = 'kept' AND d.ended_at <= now() - make_interval(secs => ${days * 86_400})
                     ORDER BY d.ended_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) expired
             WHERE a.organization_id = expired.organization_id AND a.task_id = expired.task_id`)
        ),
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
