/** The one way in which calls to vendors are written. */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Struct } from "effect"
import type { SqlError } from "effect/sql"
import { type Column, columns } from "../client/typedColumns.ts"
import { type CallItem, nameOf } from "./callRepeats.ts"

const { text, int4, timestamptz } = PgTypes.OID

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

const callColumns = {
  organization_id: [text, (call) => call.organization_id],
  job_id: [text, (call) => call.job_id],
  started_at: [timestamptz, (call) => new Date(call.started_at)],
  id: [text, (call) => call.id],
  purpose: [text, (call) => call.purpose],
  method: [text, (call) => call.method],
  url: [text, (call) => call.url],
  status: [int4, (call) => call.status],
  failure: [text, (call) => call.failure],
  outcome: [text, (call) => call.outcome],
  duration_ms: [int4, (call) => call.duration_ms],
  request: [text, (call) => json(call.request)],
  answer: [text, (call) => json(call.answer)],
  repeats: [int4, (call) => call.repeats],
  last_at: [timestamptz, (call) => new Date(call.last_at)]
} as const satisfies Record<string, Column<CallItem>>

const names = Struct.keys(callColumns)

/** What a body came to; of all others the type of the parameter is that of the column. */
const bodies: ReadonlySet<string> = new Set(["request", "answer"])

/** Its text never changes, so that a connection prepares it once. */
const insertCalls = `
  INSERT INTO upstream_calls (${names.join(", ")})
  SELECT ${names.map((name) => (bodies.has(name) ? `c.${name}::jsonb` : `c.${name}`)).join(", ")}
    FROM unnest(${names.map((_, index) => `$${index + 1}`).join(", ")}) AS c(${names.join(", ")})
  ON CONFLICT DO NOTHING`

/**
 * Writes the calls, each job's in the order of their starts; may be repeated. Polls are merged into
 * the call before them by the function `log_calls`, call by call; jobs that nobody asked about go in
 * at once, at two thirds of the work.
 */
export const makeWriteCalls =
  (sql: PgClient.PgClient) =>
  (calls: ReadonlyArray<CallItem>): Effect.Effect<void, SqlError.SqlError> => {
    const polled = new Set(calls.filter(({ purpose }) => purpose === "poll").map(nameOf))
    const merged = calls.filter((call) => polled.has(nameOf(call)))
    const alone = polled.size === 0 ? calls : calls.filter((call) => !polled.has(nameOf(call)))
    const inserted = sql.unsafe(insertCalls, columns(callColumns, alone))
    const mergedIn = sql`SELECT log_calls(${sql.json(merged)})`
    const statements = [
      ...(alone.length === 0 ? [] : [inserted]),
      ...(merged.length === 0 ? [] : [mergedIn])
    ]
    return Effect.forEach(statements, (statement) => statement, { discard: true })
  }
