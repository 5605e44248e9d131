/**
 * Measures the usage series over many records: fills the hourly, daily and monthly totals with the
 * orders of one year, and reads them as `GET /admin/v1/usage/series` does, for one organisation and
 * for all. Prints the median and the maximum of every reading.
 *
 *   npm run bench:series -- --records 10000000 --members 1 --keys 1 --models 4
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Clock, Console, Duration, Effect, Layer, Redacted, Schema } from "effect"
import type { SumGroup, SumStep } from "../../src/domain/money/usageSums.ts"
import { UsageSums } from "../../src/features/usage/UsageSums.ts"
import { layerStores } from "../../src/gateway.ts"
import { layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { layerChangesAlone } from "../../src/runtime/Changes.ts"
import { Access } from "../../src/services/Access.ts"
import { connect } from "../../test/support/cluster.ts"
import { startPostgres } from "../../test/support/postgresServer.ts"
import { median } from "./measure/stats.ts"

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "10000000" },
    organizations: { type: "string", default: "64" },
    /** Members of each organisation. */
    members: { type: "string", default: "1" },
    /** Keys of each member. */
    keys: { type: "string", default: "1" },
    models: { type: "string", default: "4" },
    readings: { type: "string", default: "21" }
  }
})
const [records, members, keys, models] = [
  Number(values.records),
  Number(values.members),
  Number(values.keys),
  Number(values.models)
]

const CONNECTIONS = 4
const MOST = 10_001
const A_DAY = Duration.days(1)

/**
 * The orders of each hour by member, key and model: spread over the year, and over all keys and
 * models of an organisation.
 */
const hours = `
  SELECT b.organization_id, date_trunc('hour', now()) - make_interval(hours => x.hour) AS hour,
         'mem' || x.key / ${keys} AS member_id, 'key' || x.key AS key_id, 'model' || x.model AS model,
         count(*) AS count
    FROM (SELECT n % $1::int AS place, floor(random() * 365 * 24)::int AS hour,
                 floor(random() * ${members * keys})::int AS key, floor(random() * ${models})::int AS model
            FROM generate_series(1::bigint, ${records}) AS n) x
    JOIN bench_organizations b ON b.place = x.place
   GROUP BY 1, 2, 3, 4, 5`

type Reading = readonly [name: string, step: SumStep, days: number]

const readings: ReadonlyArray<Reading> = [
  ["a day by hour", "hour", 1],
  ["a month by day", "day", 31],
  ["a year by month", "month", 365]
]
const groups: ReadonlyArray<SumGroup | null> = [null, "model", "member", "organization"]

interface ReadingCase {
  readonly reading: Reading
  /** The organisation; null for all organisations. */
  readonly organizationId: string | null
  readonly by: SumGroup | null
}

const Counted = Schema.Tuple([Schema.Struct({ lines: Schema.BigInt, bytes: Schema.BigInt })])

const measureReading = Effect.fnUntraced(function* (
  sums: UsageSums["Service"],
  { reading: [name, step, days], organizationId, by }: ReadingCase
) {
  const to = new Date(yield* Clock.currentTimeMillis)
  const read = sums.read({
    step,
    by,
    to,
    afterName: null,
    limit: MOST,
    from: new Date(to.getTime() - days * Duration.toMillis(A_DAY)),
    filter: { organizationId, memberId: null, keyId: null, model: null, channelId: null, tag: null }
  })
  const times: Array<number> = []
  let lines = 0
  for (let turn = 0; turn < Number(values.readings); turn++) {
    const [duration, answer] = yield* Effect.timed(read)
    lines = answer.length
    times.push(Duration.toMillis(duration))
  }
  const group = by === null ? "not grouped" : `by ${by}`
  const owner = organizationId === null ? "all" : "one organisation"
  yield* Console.log(
    `${name}, ${group}, ${owner}: ${lines} lines, ` +
      `median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`
  )
})

const bench = Effect.fnUntraced(function* (url: string) {
  // A connection without the gateway's statement time-out.
  const sql = yield* connect(url)
  const access = yield* Access
  const sums = yield* UsageSums
  const organizations = yield* Effect.forEach(
    Array.from({ length: Number(values.organizations) }),
    () => access.createOrganization("One of many")
  )
  yield* sql`CREATE TABLE bench_organizations (place int, organization_id text)`
  yield* Effect.forEach(
    organizations,
    (id, place) => sql`INSERT INTO bench_organizations VALUES (${place}, ${id})`
  )
  // Rows are inserted in order of time, as the gateway writes them.
  const [took] = yield* Effect.timed(
    sql.unsafe(
      `WITH hours AS MATERIALIZED (${hours})
       INSERT INTO usage_sums
       SELECT h.organization_id, '', step.name, date_trunc(step.name, h.hour, 'UTC') AS start, '',
              h.member_id, h.key_id, h.model, 'image', 'channel', sum(h.count), 0,
              sum(h.count) * 200000000, sum(h.count) * 100000000, 0, 0, 0, 0, sum(h.count)
         FROM hours h CROSS JOIN (VALUES ('hour'), ('day'), ('month')) AS step(name)
        GROUP BY h.organization_id, step.name, 4, h.member_id, h.key_id, h.model ORDER BY 4`,
      [organizations.length]
    )
  )
  yield* sql`VACUUM ANALYZE`
  const [{ lines, bytes }] = yield* Effect.flatMap(
    sql`SELECT count(*) AS lines, pg_total_relation_size('usage_sums') AS bytes FROM usage_sums`,
    Schema.decodeUnknownEffect(Counted)
  )
  yield* Console.log(
    `${records} records: ${lines} lines, ${bytes / 1_000_000n} MB, filled in ${Duration.toSeconds(took).toFixed(0)} s`
  )
  const organization = organizations[0] ?? null
  const cases = readings.flatMap((reading) =>
    [organization, null].flatMap((organizationId) =>
      groups.map((by) => ({ reading, organizationId, by }))
    )
  )
  yield* Effect.forEach(cases, (one) => measureReading(sums, one), { discard: true })
})

const program = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "off" } })),
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
  yield* Effect.provide(bench(server.url), stores)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
