/** What kinds tasks are of, and how long the newest took. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { VideoKind } from "../../domain/video/VideoQuote.ts"
import type { Completion } from "../../services/TaskRepo.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

/** What a task's row and its summary tell of its kind. */
export const SummaryKind = Schema.Struct({
  model: Schema.String,
  seconds: Schema.String,
  resolution: Schema.String
})

export const toKind = ({ model, seconds, resolution }: typeof SummaryKind.Type): VideoKind => ({
  model,
  seconds: seconds === "smart" ? "smart" : Number(seconds),
  resolution
})

const CompletionRow = Schema.Struct({ ...SummaryKind.fields, took_seconds: Schema.Number })

const toCompletion = (row: typeof CompletionRow.Type): Completion => ({
  kind: toKind(row),
  tookSeconds: row.took_seconds
})

/** Ids begin with their time, so their index leads to the newest tasks: no other row is read. */
export const makeRecentCompletions = (sql: SqlClient.SqlClient) =>
  Effect.fn("TaskRepo.recentCompletions")((newest: number) =>
    Effect.map(
      rowsOf(CompletionRow)(
        repeatable(sql`
          SELECT model, summary ->> 'seconds' AS seconds,
                 summary ->> 'billedResolution' AS resolution,
                 extract(epoch FROM finished_at - created_at)::double precision AS took_seconds
            FROM (SELECT model, summary, state, created_at, finished_at
                    FROM tasks ORDER BY id DESC LIMIT ${newest}) newest
           WHERE state = 'succeeded' AND summary ->> 'seconds' IS NOT NULL
             AND summary ->> 'billedResolution' IS NOT NULL
           ORDER BY finished_at`)
      ),
      (rows) => rows.map(toCompletion)
    )
  )
