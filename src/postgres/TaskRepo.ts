/** Video tasks in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Schema } from "effect"
import { TaskNotFound } from "../domain/Errors.ts"
import { VideoQuote } from "../domain/VideoPricing.ts"
import { isTaskId, TaskState, transitions } from "../domain/VideoTask.ts"
import { Settings } from "../services/Settings.ts"
import { isPassing } from "../services/storeTrouble.ts"
import { type ClaimedTask, type Task, TaskRepo } from "../services/TaskRepo.ts"
import { makeRecentCompletions } from "./completions.ts"
import { makeMicroBatch } from "./microBatch.ts"
import { oneTry, persistent, repeatable, rowOf, rowsOf } from "./rows.ts"

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

const ClaimedRow = Schema.Struct({ ...TaskRow.fields, since_asked_seconds: Schema.Number })

const toClaimed = (row: typeof ClaimedRow.Type): ReadonlyArray<ClaimedTask> => {
  const task = toTask(row)
  return task.upstreamId === null
    ? []
    : [{ ...task, upstreamId: task.upstreamId, sinceAskedSeconds: row.since_asked_seconds }]
}

interface PutBack {
  readonly task: ClaimedTask
  readonly nextPollSeconds: number
  readonly known: boolean | null
}

const putBackItem = ({ task, nextPollSeconds, known }: PutBack) => ({
  organization_id: task.organizationId,
  id: task.id,
  lease: task.lease.toString(),
  seconds: nextPollSeconds,
  known
})

const PutBackRow = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  lease: Schema.BigInt
})
const decodePutBacks = Schema.decodeUnknownEffect(Schema.Array(PutBackRow))

const claimKey = (
  organizationId: string,
  claim: { readonly id: string; readonly lease: bigint }
): string => `${organizationId} ${claim.id} ${claim.lease}`

/** Written in one statement, at most. */
const MAX_PUT_BACKS = 500

export const layerTaskRepo = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
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

    const lease = sql`
             SET lease = t.lease + 1, asked_at = now(),
                 next_poll_at = now() + make_interval(secs => ${settings.leaseSeconds})`
    const sinceAsked = sql.literal(`
      extract(epoch FROM now() - coalesce(asked.asked_at, t.created_at))::double precision
        AS since_asked_seconds`)

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
        // Whoever locks the row is about to ask or to end the task: there is nothing to wait for.
        const rows = yield* rowsOf(ClaimedRow)(sql`
          UPDATE tasks t ${lease}
            FROM (SELECT d.organization_id, d.id, d.asked_at FROM tasks d
                   WHERE d.organization_id = ${organizationId} AND d.id = ${id}
                     AND d.state = 'processing'
                     AND (d.asked_at IS NULL OR d.asked_at
                            <= now() - make_interval(secs => ${settings.askIntervalSeconds}))
                     AND (d.deadline <= now() OR NOT EXISTS (
                           SELECT 1 FROM channel_pauses p
                            WHERE p.channel_id = d.channel_id AND p.until > now()))
                     FOR UPDATE SKIP LOCKED) asked, holds h
           WHERE t.organization_id = asked.organization_id AND t.id = asked.id
             AND h.organization_id = t.organization_id AND h.id = t.id
          RETURNING ${columns}, ${sinceAsked}`)
        return Option.fromNullishOr(rows.flatMap(toClaimed)[0])
      }
    )

    const claimDue: TaskRepo["Service"]["claimDue"] = Effect.fn("TaskRepo.claimDue")(function* ({
      limit,
      perChannel,
      asked
    }) {
      // Steps from channel to channel through the index, and takes the front of each: a channel
      // with thousands of due tasks costs the others nothing, and none is read beyond its room.
      const rows = yield* rowsOf(ClaimedRow)(sql`
          WITH RECURSIVE channels AS (
            (SELECT d.channel_id FROM tasks d
              WHERE d.state = 'processing' ORDER BY d.channel_id LIMIT 1)
            UNION ALL
            (SELECT n.channel_id FROM channels c CROSS JOIN LATERAL
               (SELECT d.channel_id FROM tasks d
                 WHERE d.state = 'processing' AND d.channel_id > c.channel_id
                 ORDER BY d.channel_id LIMIT 1) n)
          ), room AS (
            SELECT c.channel_id,
                   greatest(0, least(${limit}::int, ${perChannel}::int - coalesce(a.asks, 0)))
                     AS places,
                   coalesce(p.until > now(), false) AS paused
              FROM channels c
              LEFT JOIN unnest(${[...asked.keys()]}::text[], ${[...asked.values()]}::int[])
                AS a(channel_id, asks) ON a.channel_id = c.channel_id
              LEFT JOIN channel_pauses p ON p.channel_id = c.channel_id
          ), due AS (
            SELECT q.*,
                   row_number() OVER (PARTITION BY r.channel_id ORDER BY q.next_poll_at) AS turn
              FROM room r CROSS JOIN LATERAL
                (SELECT d.organization_id, d.id, d.asked_at, d.next_poll_at FROM tasks d
                  WHERE d.state = 'processing' AND d.channel_id = r.channel_id
                    AND d.next_poll_at <= now() AND (NOT r.paused OR d.deadline <= now())
                  ORDER BY d.next_poll_at LIMIT r.places FOR UPDATE SKIP LOCKED) q
          )
          UPDATE tasks t ${lease}
            FROM (SELECT * FROM due ORDER BY turn, next_poll_at LIMIT ${limit}) asked, holds h
           WHERE t.organization_id = asked.organization_id AND t.id = asked.id
             AND h.organization_id = t.organization_id AND h.id = t.id
          RETURNING ${columns}, ${sinceAsked}`)
      return rows.flatMap(toClaimed)
    })

    const putBacks = yield* makeMicroBatch({
      maxItems: MAX_PUT_BACKS,
      // A row somebody has locked is being ended or claimed, so the claim named here is over.
      run: (_lane, items: ReadonlyArray<PutBack>) =>
        sql`
          UPDATE tasks t
             SET asked_at = now(),
                 next_poll_at = least(now() + make_interval(secs => mine.seconds), t.deadline),
                 unknown_since =
                   CASE mine.known WHEN true THEN NULL
                                   WHEN false THEN coalesce(t.unknown_since, now())
                                   ELSE t.unknown_since END
            FROM (SELECT d.organization_id, d.id, i.seconds, i.known
                    FROM jsonb_to_recordset(${sql.json(items.map(putBackItem))})
                      AS i(organization_id text, id text, lease bigint, seconds float8,
                           known boolean)
                    JOIN tasks d ON d.organization_id = i.organization_id AND d.id = i.id
                   WHERE d.state = 'processing' AND d.lease = i.lease
                     FOR UPDATE OF d SKIP LOCKED) mine
           WHERE t.organization_id = mine.organization_id AND t.id = mine.id
          RETURNING t.organization_id, t.id, t.lease`.pipe(
          oneTry,
          Effect.flatMap(decodePutBacks),
          Effect.map((rows) => {
            const written = new Set(rows.map((row) => claimKey(row.organization_id, row)))
            return items.map(({ task }) => written.has(claimKey(task.organizationId, task)))
          })
        ),
      passes: isPassing
    })
    const putBack: TaskRepo["Service"]["putBack"] = Effect.fn("TaskRepo.putBack")((task, options) =>
      putBacks.submit("tasks", { task, ...options })
    )

    const pause: TaskRepo["Service"]["pause"] = Effect.fn("TaskRepo.pause")((channelId, seconds) =>
      Effect.asVoid(
        repeatable(sql`
            INSERT INTO channel_pauses AS p (channel_id, until)
            VALUES (${channelId}, now() + make_interval(secs => ${seconds}))
            ON CONFLICT (channel_id) DO UPDATE SET until = excluded.until
              WHERE p.until < excluded.until`)
      )
    )

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
      pause,
      takeOver,
      abandoned,
      recentCompletions: makeRecentCompletions(sql)
    })
  })
)
