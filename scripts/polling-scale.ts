/**
 * Tests polling with many open tasks and several gateways: starts PostgreSQL, the vendor simulator
 * and the gateways as processes, places the orders, reads the tasks as clients do, and compares the
 * requests to the simulator with the tasks that the gateways settled. Exits with 1 when a guarantee
 * was broken.
 *
 *   npm run scale:polling -- --tasks 5000 --gateways 3 --interval 15 --clients 8 --pause
 *
 * `--models film` uses only film-1, whose vendor is polled for one task per request; `--models clip`
 * uses only clip-1, whose vendor is polled for many tasks per request. `--pause` stops one gateway
 * for longer than its lease, then resumes it.
 */
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Duration, Effect, Fiber, Random, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import {
  clusterCatalog,
  connect,
  type GatewayNode,
  good,
  openAccount,
  startGateway
} from "../test/support/cluster.ts"
import { call } from "../test/support/http.ts"
import { startPostgres } from "../test/support/postgresServer.ts"
import { startProcess } from "../test/support/processes.ts"

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "5000" },
    gateways: { type: "string", default: "3" },
    interval: { type: "string", default: "15" },
    clients: { type: "string", default: "8" },
    models: { type: "string", default: "both" },
    pause: { type: "boolean", default: false }
  }
})
const plan = {
  tasks: Number(values.tasks),
  gateways: Number(values.gateways),
  /** The minimum interval between two polls of a task; polls should not be much later. */
  intervalSeconds: Number(values.interval),
  clients: Number(values.clients),
  models:
    values.models === "both"
      ? ["film-1", "clip-1"]
      : [values.models === "clip" ? "clip-1" : "film-1"],
  pause: values.pause,
  leaseSeconds: Math.min(10, Number(values.interval) * 0.6)
}

/**
 * The duration of tasks: the minimum is long enough to order all tasks before the first one ends,
 * so that all are open at the same time.
 */
const TAKES_SECONDS = { least: Math.max(30, plan.tasks / 40), spread: 90 }
/**
 * The tolerance between the clocks of the simulator and the database, which run on the same
 * machine.
 */
const TOLERANCE_MILLIS = 50
const ORDERS_AT_A_TIME = 48
const CLIENT_PAUSE = "200 millis"

const entry = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const Created = Schema.Struct({ id: Schema.String })
const State = Schema.Struct({ task_status: Schema.String })
const Book = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      event: Schema.String,
      at: Schema.String,
      upstream_id: Schema.String,
      switches: Schema.optionalKey(Schema.Struct({ takes: Schema.optionalKey(Schema.String) }))
    })
  )
})
const Polls = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ upstream_id: Schema.String, polled_at: Schema.Array(Schema.Int) })
  )
})
const Tasks = Schema.Array(
  Schema.Struct({
    state: Schema.String,
    upstream_id: Schema.NullOr(Schema.String),
    finished_at: Schema.NullOr(Schema.Date),
    captures: Schema.BigInt
  })
)

const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

const startAll = Effect.gen(function* () {
  const postgres = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
    ({ stop }) => Effect.promise(stop)
  )
  const simulator = yield* startProcess({
    entry: entry("../src/simulator/simulatorMain.ts"),
    env: { GATEWAY_SIMULATOR_PORT: "0" }
  })
  const [, vendorUrl = ""] = yield* simulator.waitForLine(/listens on (http:\S+)/)
  const env = {
    DATABASE_URL: postgres.url,
    GATEWAY_ASK_INTERVAL_SECONDS: String(plan.intervalSeconds),
    GATEWAY_LEASE_SECONDS: String(plan.leaseSeconds)
  }
  const gateways: Array<GatewayNode> = []
  for (let count = 0; count < plan.gateways; count++) {
    gateways.push(yield* startGateway(env, entry("../src/main.ts")))
  }
  const [first] = gateways
  if (first === undefined) return yield* Effect.die(new Error("--gateways is at least 1"))
  const account = yield* openAccount(first, clusterCatalog(vendorUrl), String(plan.tasks * 10))
  yield* Effect.sleep("2 seconds") // The other gateways learn of the catalog within a second.
  return { first, gateways, account, vendorUrl, sql: yield* connect(postgres.url) }
})

type Running = Effect.Success<typeof startAll>

const order = ({ gateways, account }: Running) =>
  Effect.forEach(
    Array.from({ length: plan.tasks }, (_, index) => index),
    (index) => {
      const takes = Math.ceil(TAKES_SECONDS.least) + ((index * 7919) % TAKES_SECONDS.spread)
      return call(`${gateways[index % gateways.length]?.url}/v1/videos/generations`, {
        key: account.key,
        json: {
          model: plan.models[Math.floor(index / gateways.length) % plan.models.length],
          prompt: `a lighthouse sim:takes=${takes}`
        }
      }).pipe(
        Effect.flatMap((answer) => good(Created, answer)),
        Effect.map(({ id }) => id)
      )
    },
    { concurrency: ORDERS_AT_A_TIME }
  )

/**
 * A client that reads one random task after the other, at a random gateway among those that run.
 */
const read = ({ gateways, account }: Running, ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const id = ids[yield* Random.nextIntBetween(0, ids.length - 1)]
    const awake = gateways.slice(0, plan.pause ? -1 : undefined)
    const gateway = awake[yield* Random.nextIntBetween(0, awake.length - 1)]
    const answer = yield* call(`${gateway?.url}/v1/videos/${id}`, { key: account.key })
    yield* good(State, answer)
    yield* Effect.sleep(CLIENT_PAUSE)
  }).pipe(Effect.forever)

const pauseOne = ({ gateways }: Running) =>
  Effect.gen(function* () {
    const last = gateways.at(-1)
    if (last === undefined) return
    yield* last.process.kill("SIGSTOP")
    yield* Effect.sleep(Duration.seconds(plan.leaseSeconds + 5))
    yield* last.process.kill("SIGCONT")
    yield* Console.log("one gateway was stopped past its lease, and woken")
  })

/**
 * The pauses between the polls of a task until its end was seen, and the number of polls after
 * that.
 */
const judge = (acceptedAt: number, doneAt: number, polledAt: ReadonlyArray<number>) => {
  const seen = polledAt.findIndex((at) => at >= doneAt)
  const useful = seen < 0 ? polledAt : polledAt.slice(0, seen + 1)
  const gaps = useful.map((at, index) => at - (useful[index - 1] ?? acceptedAt))
  return { gaps, afterTheEnd: polledAt.length - useful.length }
}

const examine = Effect.fnUntraced(function* (
  { vendorUrl, first }: Running,
  sql: SqlClient.SqlClient
) {
  const get = <S extends Schema.Top & { readonly DecodingServices: never }>(
    schema: S,
    path: string
  ) => Effect.flatMap(call(`${vendorUrl}${path}`), (answer) => good(schema, answer))
  const accepted = (yield* get(Book, "/_sim/book?event=accepted")).data
  const polls = new Map(
    (yield* get(Polls, "/_sim/polls")).data.map(({ upstream_id, polled_at }) => [
      upstream_id,
      polled_at
    ])
  )
  const tasks = yield* Effect.flatMap(
    sql`
      SELECT t.state, t.upstream_id, t.finished_at,
             (SELECT count(*) FROM orders o
               WHERE o.organization_id = t.organization_id AND o.id = t.id
                 AND o.state = 'captured') AS captures
        FROM tasks t`,
    Schema.decodeUnknownEffect(Tasks)
  )
  const byUpstream = new Map(tasks.map((task) => [task.upstream_id, task]))
  const gaps: Array<number> = []
  const lags: Array<number> = []
  let afterTheEnd = 0
  let settledOnce = 0
  for (const job of accepted) {
    const acceptedAt = Date.parse(job.at)
    const doneAt = acceptedAt + Number(job.switches?.takes ?? 0) * 1000
    const judged = judge(acceptedAt, doneAt, polls.get(job.upstream_id) ?? [])
    gaps.push(...judged.gaps)
    afterTheEnd += judged.afterTheEnd
    const task = byUpstream.get(job.upstream_id)
    if (task?.state === "succeeded" && task.captures === 1n) settledOnce++
    if (task?.finished_at != null) lags.push((task.finished_at.getTime() - doneAt) / 1000)
  }
  const intervalMillis = plan.intervalSeconds * 1000
  const verified = yield* first.admin("/ledger/verify")
  return {
    jobs: accepted.length,
    tasks: tasks.length,
    settledOnce,
    double: tasks.filter(({ captures }) => captures > 1n).length,
    questions: gaps.length + afterTheEnd,
    tooSoon: gaps.filter((gap) => gap < intervalMillis - TOLERANCE_MILLIS).length,
    afterTheEnd,
    late: gaps.filter((gap) => gap > 2 * intervalMillis).length,
    gaps: gaps.map((gap) => gap / intervalMillis).sort((a, b) => a - b),
    lags: lags.sort((a, b) => a - b),
    books: verified.text === '{"ok":true,"violations":[]}'
  }
})

const print = (rows: ReadonlyArray<readonly [string, string | number]>) =>
  Console.log(rows.map(([name, value]) => `  ${name.padEnd(50)}${value}`).join("\n"))

const program = Effect.gen(function* () {
  const running = yield* startAll
  const { account, first, sql } = running
  yield* Console.log(
    `${plan.tasks} tasks (${plan.models.join(", ")}), ${plan.gateways} gateways, ` +
      `a question every ${plan.intervalSeconds} s for each task, lease ${plan.leaseSeconds} s, ` +
      `${plan.clients} clients`
  )
  const [ordering, ids] = yield* Effect.timed(order(running))
  yield* Console.log(`ordered in ${Duration.toSeconds(ordering).toFixed(0)} s`)
  const clients = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: plan.clients }, () => read(running, ids)),
      { concurrency: "unbounded" }
    )
  )
  if (plan.pause) yield* pauseOne(running)
  const [settling] = yield* Effect.timed(
    account
      .funds(first)
      .pipe(
        Effect.delay("1 second"),
        Effect.repeat({ until: ({ held }) => held === "0" }),
        Effect.timeout("15 minutes")
      )
  )
  yield* Fiber.interrupt(clients)
  const found = yield* examine(running, sql)
  const seconds = Duration.toSeconds(ordering) + Duration.toSeconds(settling)
  yield* print([
    ["tasks / jobs in the vendor's book", `${found.tasks} / ${found.jobs}`],
    ["settled once", found.settledOnce],
    ["settled twice", found.double],
    [
      "questions, and a second of the whole run",
      `${found.questions}, ${(found.questions / seconds).toFixed(0)}`
    ],
    ["asked twice within an interval", found.tooSoon],
    ["asked again after the end was told", found.afterTheEnd],
    ["asked later than 2 intervals", found.late],
    ["gap between questions, in intervals: p50", quantile(found.gaps, 0.5).toFixed(2)],
    ["  p99", quantile(found.gaps, 0.99).toFixed(2)],
    ["  longest", (found.gaps.at(-1) ?? Number.NaN).toFixed(2)],
    ["from the vendor's end to ours, in seconds: p50", quantile(found.lags, 0.5).toFixed(2)],
    ["  p99", quantile(found.lags, 0.99).toFixed(2)],
    ["  longest", (found.lags.at(-1) ?? Number.NaN).toFixed(2)],
    ["books", found.books ? "clean" : "BROKEN"]
  ])
  const kept =
    found.settledOnce === plan.tasks &&
    found.jobs === plan.tasks &&
    found.tooSoon === 0 &&
    found.afterTheEnd === 0 &&
    found.late === 0 &&
    found.books
  return yield* kept ? Effect.void : Effect.fail("a promise was broken")
})

NodeRuntime.runMain(Effect.scoped(program))
