/** The ledger after a run, from both sides: the gateway's tables, and the vendors' own records. */
import { readFileSync } from "node:fs"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Distribution, layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { rowsOf } from "../../src/postgres/client/rows.ts"
import { makeAudit } from "../../src/postgres/ledger/ledgerAudit.ts"
import { type AcceptedEntry, BookEntry, type EndedEntry } from "../../src/simulator/Book.ts"

const Pool = Schema.Struct({
  organization_id: Schema.String,
  balance: Schema.BigInt,
  held: Schema.BigInt,
  /** How far holds may ever have taken the pool below zero. */
  highest_overdraft: Schema.BigInt
})
const Transfer = Schema.Struct({
  organization_id: Schema.String,
  kind: Schema.String,
  debit: Schema.String,
  credit: Schema.String,
  amount: Schema.BigInt,
  hold_id: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String)
})
const Hold = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  member_id: Schema.String,
  amount: Schema.BigInt,
  captured: Schema.BigInt,
  overage: Schema.BigInt,
  state: Schema.String,
  upstream_model: Schema.String,
  /** The first characters of the digest of the prompt; null for texts. */
  prompt_digest: Schema.NullOr(Schema.String),
  month: Schema.String,
  created_at: Schema.Date,
  closed_at: Schema.NullOr(Schema.Date),
  closed_by: Schema.NullOr(Schema.String)
})
const MemberMonth = Schema.Struct({
  organization_id: Schema.String,
  member_id: Schema.String,
  month: Schema.String,
  held: Schema.BigInt,
  captured: Schema.BigInt,
  cap: Schema.NullOr(Schema.BigInt)
})
const Usage = Schema.Struct({
  organization_id: Schema.String,
  member_id: Schema.String,
  hold_id: Schema.String,
  task_id: Schema.NullOr(Schema.String),
  model: Schema.String,
  output: Schema.BigInt,
  charge: Schema.BigInt
})
const Task = Schema.Struct({
  organization_id: Schema.String,
  id: Schema.String,
  member_id: Schema.String,
  model: Schema.String,
  protocol: Schema.String,
  state: Schema.String,
  upstream_id: Schema.NullOr(Schema.String),
  video_url: Schema.NullOr(Schema.String),
  is_archived: Schema.Boolean,
  error_code: Schema.NullOr(Schema.String),
  /** When the gateway read that the vendor had accepted it; null where it never did. */
  accepted_at: Schema.NullOr(Schema.Date),
  /** Null while it runs. */
  finished_at: Schema.NullOr(Schema.Date)
})
const Orphan = Schema.Struct({
  organization_id: Schema.String,
  hold_id: Schema.String,
  upstream_id: Schema.NullOr(Schema.String),
  reason: Schema.String
})
const Delivery = Schema.Struct({ id: Schema.String })
const CatalogVersion = Schema.Struct({
  version: Schema.BigInt,
  /** The fields that operators change in a run; null before the first change. */
  name: Schema.NullOr(Schema.String),
  cost: Schema.NullOr(Schema.String)
})
export type Transfer = typeof Transfer.Type
export type Hold = typeof Hold.Type
export type Task = typeof Task.Type
export type Orphan = typeof Orphan.Type
export type Usage = typeof Usage.Type

/** A paid job of a vendor, with its end if it has ended. */
export interface Job {
  readonly accepted: AcceptedEntry
  readonly ended: EndedEntry | null
}

export interface Books {
  readonly pools: ReadonlyArray<typeof Pool.Type>
  readonly transfers: ReadonlyArray<typeof Transfer.Type>
  readonly holds: ReadonlyArray<Hold>
  readonly months: ReadonlyArray<typeof MemberMonth.Type>
  readonly usage: ReadonlyArray<Usage>
  readonly tasks: ReadonlyArray<Task>
  readonly orphans: ReadonlyArray<Orphan>
  /** The webhook messages that count as delivered. */
  readonly deliveries: ReadonlyArray<typeof Delivery.Type>
  /** The versions of the catalog, the oldest first. */
  readonly catalogs: ReadonlyArray<typeof CatalogVersion.Type>
  readonly jobs: ReadonlyArray<Job>
}

const Line = Schema.fromJsonString(BookEntry)

/** The entries of the vendors' book in its file. */
export const readBookFile = (bookPath: string) =>
  Effect.sync(() => {
    const decode = Schema.decodeUnknownSync(Line)
    const lines = readFileSync(bookPath, "utf8").split("\n")
    return lines.filter((line) => line !== "").map((line) => decode(line))
  })

/** The vendors' jobs in the order of their acceptance. */
const jobsOf = (entries: ReadonlyArray<BookEntry>): ReadonlyArray<Job> => {
  const jobs = new Map<string, { accepted: AcceptedEntry; ended: EndedEntry | null }>()
  for (const entry of entries) {
    if (entry.event === "accepted") jobs.set(entry.upstream_id, { accepted: entry, ended: null })
    else {
      const job = jobs.get(entry.upstream_id)
      if (job !== undefined) job.ended = entry
    }
  }
  return [...jobs.values()]
}

/** Reads all records beside the vendors' book. Called once, when nothing changes any more. */
export const readBooks = Effect.fnUntraced(function* (
  entries: ReadonlyArray<BookEntry>
): Effect.fn.Return<Books, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  return {
    pools: yield* rowsOf(Pool)(sql`
      SELECT organization_id, balance, held, highest_overdraft FROM pools`),
    transfers: yield* rowsOf(Transfer)(sql`
      SELECT organization_id, kind, debit, credit, amount, NULL AS hold_id, reference FROM transfers
      UNION ALL
      SELECT organization_id, 'capture', 'pool', 'revenue', charge, id, NULL
        FROM orders WHERE charge > 0`),
    holds: yield* rowsOf(Hold)(sql`
      SELECT organization_id, id, member_id, hold AS amount, charge AS captured, overage, state,
             job ->> 'upstreamModel' AS upstream_model, prompt_digest, month::text AS month, created_at, closed_at, closed_by
        FROM orders ORDER BY created_at`),
    months: yield* rowsOf(MemberMonth)(sql`
      SELECT mm.organization_id, mm.member_id, mm.month::text AS month, mm.held, mm.captured, b.amount AS cap
        FROM member_months mm
        LEFT JOIN budgets b ON b.organization_id = mm.organization_id
                           AND b.subject_id = mm.member_id AND b.is_cap`),
    usage: yield* rowsOf(Usage)(sql`
      SELECT organization_id, member_id, id AS hold_id, CASE WHEN is_task THEN id END AS task_id, model, output, charge
        FROM orders WHERE state = 'captured'`),
    tasks: yield* rowsOf(Task)(sql`
      SELECT organization_id, id, member_id, model, protocol, state, upstream_id, video_url,
             is_archived, error_code, accepted_at, finished_at FROM tasks`),
    orphans: yield* rowsOf(Orphan)(sql`
      SELECT organization_id, order_id AS hold_id, upstream_id, reason FROM orphans`),
    deliveries: yield* rowsOf(Delivery)(sql`
      SELECT id FROM webhook_messages WHERE state = 'delivered'`),
    catalogs: yield* rowsOf(CatalogVersion)(sql`
      SELECT version,
             jsonb_path_query_first(document, '$.channels[*] ? (@.id == "demo-fal").name')
               #>> '{}' AS name,
             jsonb_path_query_first(document, '$.mounts[*] ? (@.model == "clip-1").cost.per_second."720p"')
               #>> '{}' AS cost
        FROM catalog_versions ORDER BY version`),
    jobs: jobsOf(entries)
  }
})

/** The violations that the audit finds, one line each. */
export const readAudit = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { isDistributed } = yield* Distribution
  const rows = yield* makeAudit(sql, { keySeconds: 0, isDistributed }).verify
  return rows.map((row) => `${row.invariant} ${row.organizationId} ${row.subject}: ${row.detail}`)
}).pipe(Effect.provide(layerDistribution))

/**
 * The holds, tasks and webhooks that are still open, webhooks after at most `tries` attempts, and the
 * places at channels that tasks have left.
 */
export const readOpen = Effect.fnUntraced(function* (tries: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* rowsOf(Schema.Struct({ id: Schema.String, what: Schema.String }))(sql`
    SELECT id, 'open hold' AS what FROM orders WHERE state = 'open'
    UNION ALL
    SELECT id, 'task ' || state FROM tasks WHERE state IN ('waiting', 'submitting', 'processing')
    UNION ALL
    SELECT id, 'webhook' FROM webhook_messages WHERE state = 'pending' AND tries <= ${tries}
    UNION ALL
    SELECT p.order_id, 'place of ended task'
      FROM channel_places p JOIN tasks t
        ON t.organization_id = p.organization_id AND t.id = p.order_id
     WHERE t.state NOT IN ('waiting', 'submitting', 'processing')`)
  return rows.map(({ id, what }) => `${what} ${id}`)
})
