import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { ADMIN_TOKEN, connect, type GatewayNode, startGateway } from "../support/cluster.ts"
import { asAdmin } from "../support/databases.ts"
import { testCatalog } from "../support/gateway.ts"
import {
  prepareCustomer,
  processEnvironment,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { call } from "../support/http.ts"
import { parseMetrics } from "../support/metrics.ts"
import { startProcess } from "../support/processes.ts"
import { isRefused } from "../support/refused.ts"

const execute = promisify(execFile)

const paint = { model: "paint-1", prompt: "a lighthouse", size: "16x16" }
/** One connection for each request: the workers get them in turn. */
const apart = { connection: "close" }

const startWorkers = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>> = {}) {
  const database = yield* processEnvironment("postgres")
  const gateway = yield* startGateway(
    { ...database, GATEWAY_WORKERS: "2", ...settings },
    shippedEntry
  )
  return { gateway, databaseUrl: database.DATABASE_URL ?? "" }
})

const workersOf = ({ process }: GatewayNode): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(async () => {
    const { stdout } = await execute("pgrep", ["-P", String(process.pid)])
    return stdout.trim().split("\n").map(Number)
  })

const kill = (pid: number | undefined, signal: NodeJS.Signals) =>
  Effect.sync(() => process.kill(pid ?? assert.fail(), signal))

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** Kills a worker, and waits until another listens in its place. */
const killOne = Effect.fnUntraced(function* (gateway: GatewayNode) {
  const replaced = () =>
    gateway.process.stdout().match(/the worker in its place listens/g)?.length ?? 0
  const before = replaced()
  const [victim] = yield* workersOf(gateway)
  yield* kill(victim, "SIGKILL")
  yield* Effect.sync(replaced).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (now) => now > before })
  )
})

const allGone = (pids: ReadonlyArray<number>) =>
  Effect.sync(() => pids.every(isGone)).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (gone) => gone }),
    Effect.timeout("20 seconds")
  )

/** Images are made by the vendor at the address, videos by the simulator. */
const heldCatalog = (vendorUrl: string) =>
  Effect.map(Simulator, ({ url }) => {
    const catalog = testCatalog(url)
    const channels = catalog.channels.map((channel) =>
      channel.id === "ch-i" ? { ...channel, base_url: vendorUrl } : channel
    )
    return { ...catalog, channels }
  })

const metricsOf = (gateway: GatewayNode) =>
  Effect.map(call(`${gateway.url}/metrics`, { key: ADMIN_TOKEN, headers: apart }), ({ text }) =>
    parseMetrics(text)
  )

/** From the listener for the metrics, which every worker announces. */
const openMetricsOf = Effect.fnUntraced(function* ({ process }: GatewayNode) {
  const [, url = ""] = yield* process.waitForLine(/metrics are served on (http:[^"\s]+)/)
  return parseMetrics((yield* call(url, { headers: apart })).text)
})

const healthy = { route: "/healthz", method: "GET", status: "2xx" }

const counted = (gateway: GatewayNode) =>
  Effect.map(metricsOf(gateway), (metrics) => metrics.value("gateway_http_requests_total", healthy))

describe("two workers", () => {
  it.live(
    "share the connections, and their metrics add up and stay when one of them is killed",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* startWorkers({ GATEWAY_METRICS_PORT: "0" })
        const ask = call(`${gateway.url}/healthz`, { headers: apart })
        for (const pid of yield* workersOf(gateway)) {
          yield* kill(pid, "SIGSTOP")
          yield* Effect.repeat(ask, { times: 9 })
          yield* kill(pid, "SIGCONT")
        }
        assert.strictEqual(yield* counted(gateway), 20)
        yield* killOne(gateway)
        assert.strictEqual(yield* counted(gateway), 20)
        yield* ask
        assert.strictEqual(yield* counted(gateway), 21)
        const open = yield* openMetricsOf(gateway)
        assert.strictEqual(open.value("gateway_http_requests_total", healthy), 21)
        assert.strictEqual(gateway.process.stdout().match(/media-gateway listens on/g)?.length, 1)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "hold a key to its rate together",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* startWorkers({ GATEWAY_KEY_REQUESTS_PER_MINUTE: "10" })
        const { key } = yield* prepareCustomer(gateway, "1")
        const [took, answers] = yield* Effect.forEach(
          Array.from({ length: 60 }),
          () => call(`${gateway.url}/v1/balance`, { key, headers: apart }),
          { concurrency: 8 }
        ).pipe(Effect.timed)
        const refilled = Math.ceil(Duration.toSeconds(took) / 6)
        const allowed = answers.filter(({ status }) => status === 200)
        assert.isAtLeast(allowed.length, 10)
        assert.isAtMost(allowed.length, 10 + refilled)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          assert.strictEqual(answer.status, 429)
          assert.strictEqual(answer.headers.get("x-ratelimit-limit-requests"), "10")
          assert.isAbove(Number(answer.headers.get("retry-after")), 0)
        }
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )

  it.live(
    "are replaced when they are killed under load, and no answered charge is lost",
    () =>
      Effect.gen(function* () {
        const { gateway, databaseUrl } = yield* startWorkers({
          GATEWAY_IMAGE_DEADLINE_SECONDS: "2"
        })
        const { key, organizationPath } = yield* prepareCustomer(gateway, "10000")
        let answered = 0
        let stopping = false
        const client = Effect.gen(function* () {
          while (!stopping) {
            const exit = yield* Effect.exit(
              call(`${gateway.url}/v1/images/generations`, { key, json: paint, headers: apart })
            )
            if (exit._tag === "Success" && exit.value.status === 200) answered++
          }
        })
        const load = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 8 }), () => client, { concurrency: "unbounded" })
        )
        const more = Effect.suspend(() => {
          const before = answered
          return Effect.sync(() => answered > before + 20).pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (enough) => enough })
          )
        })
        for (let round = 0; round < 2; round++) {
          yield* more
          yield* killOne(gateway)
        }
        yield* more
        stopping = true
        yield* Fiber.join(load)
        const spent = 10_000 - Number(yield* settledBalance(gateway, organizationPath))
        const sql = yield* connect(databaseUrl)
        const [charges] = yield* sql<{
          n: number
        }>`SELECT count(*)::int AS n FROM orders WHERE state = 'captured'`
        assert.isAtLeast(charges?.n ?? 0, answered)
        assert.closeTo(spent, (charges?.n ?? 0) * 0.2, 1e-6)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    90_000
  )

  for (const [name, toAll] of [
    ["a signal to the primary", false],
    ["one that a terminal sends to every process", true]
  ] as const) {
    it.live(
      `answer what they accepted before ${name} ends them with code 0`,
      () =>
        Effect.gen(function* () {
          const vendor = yield* heldVendor
          const { gateway } = yield* startWorkers({ GATEWAY_SHUTDOWN_SECONDS: "600" })
          const { key } = yield* prepareCustomer(gateway, "100", yield* heldCatalog(vendor.url))
          const image = yield* Effect.forkChild(
            call(`${gateway.url}/v1/images/generations`, { key, json: paint })
          )
          yield* vendor.asked
          const workers = yield* workersOf(gateway)
          const signal = toAll ? "SIGINT" : "SIGTERM"
          yield* gateway.process.kill(signal)
          if (toAll) yield* Effect.forEach(workers, (pid) => kill(pid, signal))
          yield* Effect.exit(call(`${gateway.url}/healthz`, { headers: apart })).pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: isRefused })
          )
          yield* vendor.letGo
          const answer = yield* Fiber.join(image)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(yield* gateway.process.end, { code: 0, signal: null })
          assert.isTrue(workers.every(isGone))
          assert.notInclude(gateway.process.stderr(), "a worker ended")
        }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
      60_000
    )
  }

  it.live(
    "are cut by a second signal, whatever they still wait for",
    () =>
      Effect.gen(function* () {
        const vendor = yield* heldVendor
        const { gateway } = yield* startWorkers({ GATEWAY_SHUTDOWN_SECONDS: "600" })
        const { key } = yield* prepareCustomer(gateway, "100", yield* heldCatalog(vendor.url))
        yield* Effect.forkChild(
          Effect.exit(call(`${gateway.url}/v1/images/generations`, { key, json: paint }))
        )
        yield* vendor.asked
        const workers = yield* workersOf(gateway)
        const again = gateway.process
          .kill("SIGTERM")
          .pipe(Effect.delay("100 millis"), Effect.forever)
        const end = yield* Effect.raceFirst(gateway.process.end, again)
        assert.deepStrictEqual(end, { code: 143, signal: null })
        yield* allGone(workers)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )

  it.live(
    "end when their primary is killed",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* startWorkers()
        const workers = yield* workersOf(gateway)
        yield* kill(gateway.process.pid, "SIGKILL")
        yield* allGone(workers)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "that cannot be started again end the gateway with an error",
    () =>
      Effect.gen(function* () {
        const { gateway, databaseUrl } = yield* startWorkers()
        const name = new URL(databaseUrl).pathname.slice(1)
        yield* asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
        for (const pid of yield* workersOf(gateway)) yield* kill(pid, "SIGKILL")
        const end = yield* Effect.timeout(gateway.process.end, "50 seconds")
        assert.deepStrictEqual(end, { code: 1, signal: null })
        assert.match(
          gateway.process.stderr(),
          /^media-gateway cannot start: a worker ended with code 1$/m
        )
      }).pipe(Effect.scoped),
    60_000
  )
})

const Refusal = Schema.Struct({ code: Schema.Literal(1), signal: Schema.Null })

it.live.each([
  [["--workers", "2"], "the embedded database serves one process"],
  [["--workers", "two"], "a whole number from 1 to 64"],
  [["--wrokers", "2"], "Unknown option '--wrokers'"]
] as const)("%j is refused on a machine's own database: %s", ([args, reason]) =>
  Effect.gen(function* () {
    const { DATA_DIR = "" } = yield* processEnvironment("embedded")
    const process = yield* startProcess({ entry: shippedEntry, args, env: { DATA_DIR } })
    yield* Schema.decodeUnknownEffect(Refusal)(yield* process.end)
    assert.include(process.stderr(), reason)
    assert.strictEqual(process.stdout(), "")
  }).pipe(Effect.scoped)
)
