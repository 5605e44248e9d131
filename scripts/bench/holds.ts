/**
 * Measures the holds per second of one busy organisation: the ledger's batches against one
 * transaction for each hold. Both use the same SQL function on the same PostgreSQL, with every
 * commit flushed. Prints the medians of interleaved rounds and their ratio.
 *
 *   npm run bench:holds -- --callers 1000 --rounds 5 --seconds 3
 */
import { randomUUID } from "node:crypto"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { Clock, Console, Effect, Layer, Redacted } from "effect"
import { layerStores } from "../../src/gateway.ts"
import { layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { moveTogether } from "../../src/postgres/ledger/ledgerBatch.ts"
import { layerChangesAlone } from "../../src/runtime/Changes.ts"
import { Access } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { startPostgres } from "../../test/support/postgresServer.ts"
import { median } from "./measure/stats.ts"

const { values } = parseArgs({
  options: {
    callers: { type: "string", default: "1000" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" }
  }
})
const callers = Number(values.callers)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

/** The gateway's default number of database connections. */
const CONNECTIONS = 16

let minted = 0
/** A new id. Ids sort by time, as those of the gateway do. */
const nextId = () => `vt_${(minted++).toString().padStart(12, "0")}${randomUUID()}`

/** Calls `one` repeatedly from every caller, and returns the number of calls per second. */
const perSecond = Effect.fnUntraced(function* <E>(one: Effect.Effect<void, E>) {
  const end = (yield* Clock.currentTimeMillis) + seconds * 1000
  let done = 0
  const caller = one.pipe(
    Effect.tap(() => Effect.sync(() => done++)),
    Effect.andThen(Clock.currentTimeMillis),
    Effect.repeat({ until: (now) => now >= end })
  )
  yield* Effect.all(
    Array.from({ length: callers }, () => caller),
    { concurrency: "unbounded", discard: true }
  )
  return done / seconds
})

const bench = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Hot")
  yield* ledger.deposit(organizationId, 4_000_000_000_000_000_000n - 1n, "all there is")
  const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano: null })
  const request = (): HoldRequest => ({
    organizationId,
    memberId,
    keyId: "key",
    model: "film-1",
    modality: "video",
    id: nextId(),
    amountNano: 4_968_000_000n,
    ttlSeconds: 3600,
    quote: { kind: "token_video", holdNano: "4968000000", nanoPerToken: "46000" },
    job: { channelId: "ch", protocol: "vp_a", upstreamModel: "u" },
    task: { listedProtocol: "vp_a", summary: {}, submitSeconds: 60 },
    key: null
  })
  const batched = Effect.suspend(() => ledger.hold(request()))
  const single = Effect.suspend(() =>
    moveTogether(sql, "UTC", [{ _tag: "Hold", request: request(), keySeconds: 60 }])
  ).pipe(Effect.asVoid)

  const figures = { batched: [] as number[], single: [] as number[] }
  // PostgreSQL chooses the wrong index for a table without statistics. On a server, autovacuum
  // analyses a table within a minute.
  yield* perSecond(single)
  yield* perSecond(batched)
  yield* sql`ANALYZE`
  for (let round = 0; round < rounds; round++) {
    figures.single.push(yield* perSecond(single))
    figures.batched.push(yield* perSecond(batched))
  }
  const violations = yield* ledger.verify
  const [slow, fast] = [median(figures.single), median(figures.batched)]
  yield* Console.log(`holds a second on one organisation, ${callers} callers, median of ${rounds}`)
  yield* Console.log(`one transaction a hold  ${slow.toFixed(0)}`)
  yield* Console.log(`batched                 ${fast.toFixed(0)}`)
  yield* Console.log(`ratio                   ${(fast / slow).toFixed(1)}`)
  yield* Console.log(`ledger violations       ${violations.length}`)
})

const program = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
    ({ stop }) => Effect.promise(stop)
  )
  const secrets = { masterKey: Redacted.make(new Uint8Array(32)), adminToken: null }
  const stores = layerStores(secrets).pipe(
    Layer.provide(layerChangesAlone),
    Layer.provide(layerDistribution),
    Layer.provideMerge(
      layerPostgres({ url: Redacted.make(server.url), maxConnections: CONNECTIONS })
    )
  )
  yield* Effect.provide(bench, stores)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
