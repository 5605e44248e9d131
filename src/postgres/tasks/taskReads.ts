/** Reading tasks: how they stand, where many readers share one statement, and how long they took. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { TaskNotFound } from "../../domain/Errors.ts"
import { isTaskId } from "../../domain/orderIds.ts"
import type { VideoKind } from "../../domain/video/VideoQuote.ts"
import { TaskState, transitions } from "../../domain/video/VideoTask.ts"
import { isPassing } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import type { Completion, Task } from "../../services/TaskRepo.ts"
import {
  BRIEF,
  briefTry,
  columnsOf,
  decodeRows,
  repeatable,
  rowsOf,
  unanswered
} from "../client/rows.ts"

/** What a task's row and its summary tell of its kind. */
const SummaryKind = Schema.Struct({
  model: Schema.String,
  seconds: Schema.String,
  resolution: Schema.String
})

const toKind = ({ model, seconds, resolution }: typeof SummaryKind.Type): VideoKind => ({
  model,
  seconds: seconds === "smart" ? "smart" : Number(seconds),
  resolution
})

const FoundRow = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  model: Schema.String,
  channelId: Schema.String,
  state: TaskState,
  videoUrl: Schema.NullOr(Schema.String),
  completionTokens: Schema.NullOr(Schema.BigInt),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  ageSeconds: Schema.Number,
  sinceAskedSeconds: Schema.NullOr(Schema.Number),
  seconds: Schema.NullOr(SummaryKind.fields.seconds),
  resolution: Schema.NullOr(SummaryKind.fields.resolution)
})

const secondsSince = (time: string): string => `extract(epoch FROM now() - ${time})::float8`

const foundColumns = columnsOf(FoundRow, "d", {
  ageSeconds: secondsSince("d.created_at"),
  sinceAskedSeconds: secondsSince("d.asked_at"),
  seconds: "d.summary ->> 'seconds'",
  resolution: "d.summary ->> 'billedResolution'"
})

const toTask = ({ seconds, resolution, ...row }: typeof FoundRow.Type): Task => ({
  ...row,
  finished: transitions[row.state].length === 0,
  kind:
    seconds === null || resolution === null
      ? null
      : toKind({ model: row.model, seconds, resolution })
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
         (SELECT ${sql.literal(foundColumns)} FROM tasks d
           WHERE d.organization_id = i.organization_id AND d.id = i.id OFFSET 0) t`)
    const found = new Map(rows.map(toTask).map((task) => [nameOf(task), task]))
    return wanted.map((one) => found.get(nameOf(one)) ?? null)
  })

  const reads = yield* makeMicroBatch({
    maxItems: MAX_READS,
    run: (wanted: ReadonlyArray<Wanted>) => briefTry(findAll(wanted)),
    passes: isPassing,
    calls: LANES,
    patienceMillis: Duration.toMillis(BRIEF)
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

const CompletionRow = Schema.Struct({ ...SummaryKind.fields, tookSeconds: Schema.Number })

/** Ids begin with their time, so their index leads to the newest tasks: no other row is read. */
export const makeRecentCompletions = (sql: SqlClient.SqlClient) =>
  Effect.fn("TaskRepo.recentCompletions")((newest: number) =>
    Effect.map(
      rowsOf(CompletionRow)(
        repeatable(sql`
          SELECT model, summary ->> 'seconds' AS seconds,
                 summary ->> 'billedResolution' AS resolution,
                 extract(epoch FROM finished_at - created_at)::double precision AS "tookSeconds"
            FROM (SELECT model, summary, state, created_at, finished_at
                    FROM tasks ORDER BY id DESC LIMIT ${newest}) newest
           WHERE state = 'succeeded' AND summary ->> 'seconds' IS NOT NULL
             AND summary ->> 'billedResolution' IS NOT NULL
           ORDER BY finished_at`)
      ),
      (rows) => rows.map((row): Completion => ({ kind: toKind(row), tookSeconds: row.tookSeconds }))
    )
  )
