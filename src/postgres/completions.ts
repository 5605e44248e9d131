/** How long the newest tasks took. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Completion } from "../services/TaskRepo.ts"
import { repeatable, rowsOf } from "./rows.ts"

const CompletionRow = Schema.Struct({
  model: Schema.String,
  seconds: Schema.String,
  resolution: Schema.String,
  took_seconds: Schema.Number
})

const toCompletion = (row: typeof CompletionRow.Type): Completion => ({
  kind: {
    model: row.model,
    seconds: row.seconds === "smart" ? "smart" : Number(row.seconds),
    resolution: row.resolution
  },
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
