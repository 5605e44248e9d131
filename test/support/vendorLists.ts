/** Usage lists of a vendor, orders that they tell of, and reconciliations of both over HTTP. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  ReconciledEntryView,
  ReconciliationView
} from "../../src/features/reconciliations/ReconciliationsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import type { GatewayNode } from "./cluster.ts"
import { bodyAs, type Customer, Gateway } from "./gateway.ts"
import { jobId, ordered, usageOf } from "./ledger.ts"

/** Every day that tests may run on. */
const period = { from: "2020-01-01", to: "2999-12-31" }

type Query = Readonly<Record<string, string>>

export const addressOf = (query: Query): string =>
  `/reconciliations?${new URLSearchParams({ ...period, ...query })}`

/** Sends a list of the channel, whose columns are `id` and `cost` where the query names no others. */
export const send = Effect.fnUntraced(function* (
  body: string | Uint8Array<ArrayBuffer>,
  query: Query = {},
  headers: Query = {}
) {
  const gateway = yield* Gateway
  const columns = { channel: "ch-a", id: "id", amount: "cost" }
  return yield* gateway.admin(addressOf({ ...columns, ...query }), {
    body,
    headers: { "content-type": "text/csv", ...headers }
  })
})

export const reconciled = Effect.fnUntraced(function* (...list: Parameters<typeof send>) {
  const answer = yield* send(...list)
  if (answer.status !== 200) return yield* Effect.die(new Error(answer.text))
  return yield* bodyAs(ReconciliationView, answer)
})

/** All entries of a kind, page after page. */
export const entriesOf = Effect.fnUntraced(function* (id: string, kind: string) {
  const gateway = yield* Gateway
  const all: Array<ReconciledEntryView> = []
  let [after, hasMore] = ["", true]
  while (hasMore) {
    const path = `/reconciliations/${id}/entries?kind=${kind}&limit=100${after}`
    const page = yield* bodyAs(list(ReconciledEntryView), yield* gateway.admin(path))
    all.push(...page.data)
    ;[after, hasMore] = [`&after=${page.data.at(-1)?.id}`, page.has_more]
  }
  return all
})

export const listOf = (lines: ReadonlyArray<readonly [id: string, cost: string]>): string =>
  ["id,cost", ...lines.map((line) => line.join(","))].join("\r\n")

/** A charged order of a channel, which its vendor knows by the id of the call. */
export const chargedCall = Effect.fnUntraced(function* (
  { organizationId, memberId }: Pick<Customer, "organizationId" | "memberId">,
  { channelId, requestId, costNano }: { channelId: string; requestId: string; costNano: bigint }
) {
  const ledger = yield* Ledger
  const id = jobId("im")
  yield* ledger.hold({
    organizationId,
    memberId,
    ...ordered,
    id,
    amountNano: 5n,
    ttlSeconds: 60,
    quote: {},
    job: { channelId, protocol: "ip_a", upstreamModel: "u" },
    task: null,
    key: null
  })
  yield* ledger.capture({
    organizationId,
    holdId: id,
    by: "sweep",
    task: null,
    answer: null,
    chargeNano: 5n,
    costNano,
    usage: usageOf(5n),
    call: { startedAt: new Date(), durationMillis: 1, status: 200, bytes: 1, requestId }
  })
  return id
})

/** Ids of the videos that the simulator took on so far. */
export const videoJobs = Effect.gen(function* () {
  const { book } = yield* Simulator
  return (yield* book).flatMap((entry) =>
    entry.event === "accepted" && entry.kind === "video" ? [entry.upstream_id] : []
  )
})

/** Reconciles the vendor's list of these videos at a gateway of its own; the kind of each job's entry. */
export const reconciledKinds = Effect.fnUntraced(function* (
  { admin }: GatewayNode,
  jobs: ReadonlyArray<string>
) {
  const { id } = yield* bodyAs(
    ReconciliationView,
    yield* admin(addressOf({ channel: "ch-a", id: "id", units: "tokens" }), {
      body: ["id,tokens", ...jobs.map((job) => `${job},108900`)].join("\n"),
      headers: { "content-type": "text/csv" }
    })
  )
  const kinds = new Map<string, string>()
  let [after, hasMore] = ["", true]
  while (hasMore) {
    const page = yield* bodyAs(
      list(ReconciledEntryView),
      yield* admin(`/reconciliations/${id}/entries?limit=100${after}`)
    )
    for (const entry of page.data) kinds.set(entry.vendor_id ?? "", entry.kind)
    ;[after, hasMore] = [`&after=${page.data.at(-1)?.id}`, page.has_more]
  }
  return kinds
})

const Kept = Schema.Tuple([
  Schema.Struct({ shown: Schema.Int, hidden: Schema.Int, lines: Schema.Int, entries: Schema.Int })
])

/** How much there is in the database of reconciliations. */
export const kept = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql`
    SELECT (SELECT count(*)::int FROM reconciliations WHERE completed_at IS NOT NULL) AS shown,
           (SELECT count(*)::int FROM reconciliations WHERE completed_at IS NULL) AS hidden,
           (SELECT count(*)::int FROM reconciliation_lines) AS lines,
           (SELECT count(*)::int FROM reconciliation_entries) AS entries`)
  const [counts] = yield* Effect.orDie(Schema.decodeUnknownEffect(Kept)(rows))
  return counts
})
