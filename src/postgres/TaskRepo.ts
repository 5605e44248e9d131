/** Video tasks in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TaskNotFound } from "../domain/Errors.ts"
import { VideoQuote } from "../domain/VideoPricing.ts"
import { isTaskId, TaskState, transitions } from "../domain/VideoTask.ts"
import { Settings } from "../services/Settings.ts"
import { type ClaimedTask, type Task, TaskRepo } from "../services/TaskRepo.ts"
import { persistent, repeatable, rowOf, rowsOf } from "./rows.ts"

const TaskRow = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  member_id: Schema.String,
  key_id: Schema.String,
  model: Schema.String,
  channel_id: Schema.String,
  protocol: Schema.String,
  listed_protocol: Schema.String,
  upstream_model: Schema.String,
  state: TaskState,
  upstream_id: Schema.NullOr(Schema.String),
  video_url: Schema.NullOr(Schema.String),
  completion_tokens: Schema.NullOr(Schema.BigInt),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  age_seconds: Schema.Number,
  lease: Schema.BigInt,
  unknown_for_seconds: Schema.NullOr(Schema.Number),
  past_deadline: Schema.Boolean,
  quote: VideoQuote
})

const toTask = (row: typeof TaskRow.Type): Task => ({
  organizationId: row.organization_id,
  id: row.id,
  memberId: row.member_id,
  keyId: row.key_id,
  model: row.model,
  channelId: row.channel_id,
  protocol: row.protocol,
  listedProtocol: row.listed_protocol,
  upstreamModel: row.upstream_model,
  state: row.state,
  finished: transitions[row.state].length === 0,
  upstreamId: row.upstream_id,
  videoUrl: row.video_url,
  completionTokens: row.completion_tokens,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  ageSeconds: row.age_seconds,
  lease: row.lease,
  unknownForSeconds: row.unknown_for_seconds,
  pastDeadline: row.past_deadline,
  quote: row.quote
})

const claimed = (task: Task): ReadonlyArray<ClaimedTask> =>
  task.upstreamId === null ? [] : [{ ...task, upstreamId: task.upstreamId }]

export const layerTaskRepo = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const settings = yield* Settings

    const columns = sql.literal(`
      t.organization_id, t.id, t.member_id, t.key_id, t.model, t.channel_id, t.protocol,
      t.listed_protocol, t.upstream_model, t.state, t.upstream_id, t.video_url, t.completion_tokens,
      t.error_code, t.error_message, extract(epoch FROM now() - t.created_at)::double precision AS age_seconds,
      t.lease, extract(epoch FROM now() - t.unknown_since)::double precision AS unknown_for_seconds,
      t.deadline <= now() AS past_deadline, h.quote`)

    const find: TaskRepo["Service"]["find"] = Effect.fn("TaskRepo.find")(
      function* (organizationId, id) {
        const [row] = isTaskId(id)
          ? yield* rowsOf(TaskRow)(
              repeatable(sql`
              SELECT ${columns} FROM tasks t
                JOIN holds h ON h.organization_id = t.organization_id AND h.id = t.id
               WHERE t.organization_id = ${organizationId} AND t.id = ${id}`)
            )
          : []
        return row === undefined
          ? yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
          : toTask(row)
      }
    )

    const accept: TaskRepo["Service"]["accept"] = Effect.fn("TaskRepo.accept")(
      function* (organizationId, id, upstreamId, firstPollSeconds) {
        yield* persistent(sql`
          UPDATE tasks
             SET state = 'processing', upstream_id = ${upstreamId}, asked_at = now(),
                 accepted_at = now(),
                 next_poll_at = now() + make_interval(secs => ${firstPollSeconds})
           WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'submitting'`)
        // Asked of the row, because the update may have been a repeat of one whose answer was lost.
        const { accepted } = yield* rowOf(Schema.Struct({ accepted: Schema.Boolean }))(
          persistent(sql`
            SELECT coalesce(upstream_id = ${upstreamId}, false) AS accepted FROM tasks
             WHERE organization_id = ${organizationId} AND id = ${id}`)
        )
        return accepted
      }
    )

    const acceptedLate: TaskRepo["Service"]["acceptedLate"] = Effect.fn("TaskRepo.acceptedLate")(
      function* (organizationId, id, upstreamId) {
        yield* persistent(sql`
          INSERT INTO orphans (organization_id, hold_id, job, upstream_id, reason)
          SELECT h.organization_id, h.id, h.job, ${upstreamId}, 'accepted_late' FROM holds h
           WHERE h.organization_id = ${organizationId} AND h.id = ${id}
          ON CONFLICT (organization_id, hold_id) DO UPDATE
             SET upstream_id = coalesce(orphans.upstream_id, excluded.upstream_id)`)
      }
    )

    const claim: TaskRepo["Service"]["claim"] = Effect.fn("TaskRepo.claim")(
      function* (organizationId, id) {
        const rows = yield* rowsOf(TaskRow)(sql`
          UPDATE tasks t
             SET lease = t.lease + 1, asked_at = now(),
                 next_poll_at = now() + make_interval(secs => ${settings.leaseSeconds})
            FROM holds h
           WHERE t.organization_id = ${organizationId} AND t.id = ${id}
             AND h.organization_id = t.organization_id AND h.id = t.id
             AND t.state = 'processing'
             AND (t.asked_at IS NULL
                  OR t.asked_at <= now() - make_interval(secs => ${settings.askIntervalSeconds}))
          RETURNING ${columns}`)
        return Option.fromNullishOr(rows.map(toTask).flatMap(claimed)[0])
      }
    )

    const claimDue: TaskRepo["Service"]["claimDue"] = Effect.fn("TaskRepo.claimDue")(
      function* (limit, busyChannels) {
        const rows = yield* rowsOf(TaskRow)(sql`
          UPDATE tasks t
             SET lease = t.lease + 1, asked_at = now(),
                 next_poll_at = now() + make_interval(secs => ${settings.leaseSeconds})
            FROM (SELECT d.organization_id, d.id FROM tasks d
                   WHERE d.state = 'processing' AND d.next_poll_at <= now()
                     AND d.channel_id <> ALL (${[...busyChannels]}::text[])
                   ORDER BY d.next_poll_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) due, holds h
           WHERE t.organization_id = due.organization_id AND t.id = due.id
             AND h.organization_id = t.organization_id AND h.id = t.id
          RETURNING ${columns}`)
        return rows.map(toTask).flatMap(claimed)
      }
    )

    const putBack: TaskRepo["Service"]["putBack"] = Effect.fn("TaskRepo.putBack")(function* (
      task,
      { nextPollSeconds, known }
    ) {
      yield* Effect.orDie(sql`
          UPDATE tasks
             SET next_poll_at = least(now() + make_interval(secs => ${nextPollSeconds}), deadline),
                 unknown_since =
                   CASE ${known}::boolean WHEN true THEN NULL
                                 WHEN false THEN coalesce(unknown_since, now())
                                 ELSE unknown_since END
           WHERE organization_id = ${task.organizationId} AND id = ${task.id}
             AND state = 'processing' AND lease = ${task.lease}`)
    })

    const abandoned: TaskRepo["Service"]["abandoned"] = Effect.fn("TaskRepo.abandoned")(
      function* (scope) {
        const rows = yield* rowsOf(TaskRow)(sql`
          SELECT ${columns} FROM tasks t
            JOIN holds h ON h.organization_id = t.organization_id AND h.id = t.id
           WHERE t.state = 'submitting'
             AND ${scope === "all" ? sql`true` : sql`t.submit_deadline <= now()`}`)
        return rows.map(toTask)
      }
    )

    const takeOver = sql`UPDATE tasks SET next_poll_at = now() WHERE state = 'processing'`.pipe(
      Effect.orDie,
      Effect.asVoid
    )

    return TaskRepo.of({
      find,
      accept,
      acceptedLate,
      claim,
      claimDue,
      putBack,
      takeOver,
      abandoned
    })
  })
)
