/** Reading tasks for those who ask how they stand: many readers share one statement. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { TaskNotFound } from "../../domain/Errors.ts"
import { isTaskId } from "../../domain/orderIds.ts"
import { TaskState, transitions } from "../../domain/video/VideoTask.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { isPassing } from "../../services/databaseErrors.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { BRIEF, briefTry, decodeRows, unanswered } from "../client/rows.ts"
import { SummaryKind, toKind } from "./completions.ts"

const FoundRow = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  model: Schema.String,
  channel_id: Schema.String,
  state: TaskState,
  video_url: Schema.NullOr(Schema.String),
  completion_tokens: Schema.NullOr(Schema.BigInt),
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  age_seconds: Schema.Number,
  since_asked_seconds: Schema.NullOr(Schema.Number),
  seconds: Schema.NullOr(SummaryKind.fields.seconds),
  resolution: Schema.NullOr(SummaryKind.fields.resolution)
})

const toTask = (row: typeof FoundRow.Type): Task => ({
  organizationId: row.organization_id,
  id: row.id,
  model: row.model,
  channelId: row.channel_id,
  state: row.state,
  finished: transitions[row.state].length === 0,
  videoUrl: row.video_url,
  completionTokens: row.completion_tokens,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  ageSeconds: row.age_seconds,
  sinceAskedSeconds: row.since_asked_seconds,
  kind:
    row.seconds === null || row.resolution === null
      ? null
      : toKind({ model: row.model, seconds: row.seconds, resolution: row.resolution })
})

interface Wanted {
  readonly organizationId: string
  readonly id: string
}

const nameOf = ({ organizationId, id }: Wanted): string => `${organizationId} ${id}`

/** Read in one statement, at most. */
const MAX_READS = 200
/** Statements that may run at a time, so that one that hangs does not keep every reader waiting. */
const LANES = 4

export const makeFindTask = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const decode = decodeRows(FoundRow)

  /** By organisation and id; each row is looked up by its key, however stale the statistics. */
  const findAll = Effect.fnUntraced(function* (wanted: ReadonlyArray<Wanted>) {
    const distinct = [...new Map(wanted.map((one) => [nameOf(one), one])).values()]
    const rows = yield* decode(sql`
      SELECT t.*
        FROM unnest(${distinct.map(({ organizationId }) => organizationId)}::text[],
                    ${distinct.map(({ id }) => id)}::text[]) AS i(organization_id, id)
       CROSS JOIN LATERAL
         (SELECT d.organization_id, d.id, d.model, d.channel_id, d.state, d.video_url,
                 d.completion_tokens, d.error_code, d.error_message,
                 extract(epoch FROM now() - d.created_at)::double precision AS age_seconds,
                 extract(epoch FROM now() - d.asked_at)::double precision AS since_asked_seconds,
                 d.summary ->> 'seconds' AS seconds,
                 d.summary ->> 'billedResolution' AS resolution
            FROM tasks d
           WHERE d.organization_id = i.organization_id AND d.id = i.id OFFSET 0) t`)
    const found = new Map(rows.map(toTask).map((task) => [nameOf(task), task]))
    return wanted.map((one) => found.get(nameOf(one)) ?? null)
  })

  const reads = yield* makeMicroBatch({
    maxItems: MAX_READS,
    run: (wanted: ReadonlyArray<Wanted>) => briefTry(findAll(wanted)),
    passes: isPassing,
    attempts: { patienceMillis: Duration.toMillis(BRIEF), unwanted: () => Effect.void }
  })
  let turn = 0

  return Effect.fnUntraced(function* (organizationId: string, id: string) {
    turn = (turn + 1) % LANES
    const task = isTaskId(id)
      ? yield* reads
          .attempt(String(turn), { organizationId, id })
          .pipe(Effect.catchTag("TooLate", () => Effect.die(unanswered(BRIEF))))
      : null
    return task ?? (yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` }))
  })
})
