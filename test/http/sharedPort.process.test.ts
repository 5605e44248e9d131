/** Several gateways as processes on one port over one PostgreSQL. */
import { Server } from "node:http"
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { Listener, layerHttpServer, layerListener } from "../../src/http/server/listener.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import { testCatalog } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, shippedEntry } from "../support/gatewayProcesses.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { call, type HttpAnswer } from "../support/http.ts"
import { parseMetrics } from "../support/metrics.ts"
import { freePort } from "../support/postgresServer.ts"
import { startProcess } from "../support/processes.ts"

const paint = { model: "paint-1", prompt: "a lighthouse", size: "16x16" }
/** One connection for each request: the system hands them to the gateways in turn. */
const apart = { connection: "close" }
const ORDERS = 12

/** From the process's own listener, as the shared port leads to any of them. */
const metricOf = Effect.fnUntraced(function* ({ process }: GatewayNode, name: string) {
  const [, url = ""] = yield* process.waitForLine(/metrics listener: serving on (http:[^"\s]+)/)
  return parseMetrics((yield* call(url, { headers: apart })).text).value(name) ?? 0
})

describe.skipIf(process.platform !== "linux")("gateways on one port", () => {
  it.live(
    "are all served from, and one that ends answers what it has while the other goes on",
    () =>
      Effect.gen(function* () {
        const simulator = yield* Simulator
        const vendor = yield* heldVendor
        const catalog = testCatalog(simulator.url)
        const channels = catalog.channels.map((channel) =>
          channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
        )
        const env = {
          ...(yield* processEnvironment("postgres")),
          PORT: String(yield* Effect.promise(freePort)),
          GATEWAY_REUSE_PORT: "1",
          GATEWAY_METRICS_PORT: "0",
          GATEWAY_SHUTDOWN_SECONDS: "600",
          // The test asks as often as it takes until both gateways know its key and its catalog.
          GATEWAY_KEY_MODELS_PER_MINUTE: "1000000",
          GATEWAY_ADDRESS_UNKNOWN_KEYS_PER_MINUTE: "0"
        }
        const first = yield* startGateway(env, shippedEntry)
        const second = yield* startGateway(env, shippedEntry)
        assert.strictEqual(first.url, second.url)
        const { key } = yield* prepareCustomer(first, "100", { ...catalog, channels })

        // Each hears of the catalog and the key in its own time.
        const models = call(`${first.url}/v1/models`, { key, headers: apart })
        yield* Effect.repeat(Effect.all(Array.from({ length: 30 }, () => models)), {
          until: (answers) =>
            answers.every(({ status, text }) => status === 200 && text.includes(paint.model))
        })

        const order = call(`${first.url}/v1/images/generations`, {
          key,
          json: paint,
          headers: apart
        })
        const orders: Array<Fiber.Fiber<HttpAnswer>> = []
        const underWay = Effect.all(
          [first, second].map((gateway) => metricOf(gateway, "gateway_http_requests_in_flight"))
        )
        const oneMore = Effect.gen(function* () {
          orders.push(yield* Effect.forkChild(order))
          return yield* underWay.pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ([one = 0, other = 0]) => one + other >= orders.length })
          )
        })
        yield* Effect.repeat(oneMore, {
          until: (shares) => orders.length >= ORDERS && Math.min(...shares) > 0
        })

        yield* first.process.kill("SIGTERM")
        let answered = 0
        const ask = call(`${second.url}/v1/balance`, { key })
        const asking = yield* Effect.forkChild(
          // A connection that is not yet accepted when its gateway closes is reset by the system.
          Effect.catchDefect(ask, () => ask).pipe(
            Effect.tap((answer) =>
              Effect.sync(() => {
                assert.strictEqual(answer.status, 200, answer.text)
                answered++
              })
            ),
            Effect.forever
          )
        )
        yield* vendor.letGo
        for (const answer of yield* Fiber.joinAll(orders)) {
          assert.strictEqual(answer.status, 200, answer.text)
        }
        assert.deepStrictEqual(yield* first.process.end, { code: 0, signal: null })
        const before = answered
        yield* Effect.sync(() => answered > before).pipe(
          Effect.delay("5 millis"),
          Effect.repeat({ until: (more) => more })
        )
        assert.isUndefined(asking.pollUnsafe(), "a request was lost")
        const { text } = yield* call(`${second.url}/v1/balance`, { key, headers: apart })
        assert.include(text, `"balance":"${(1000 - 2 * orders.length) / 10}"`)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )

  const Refused = Schema.Struct({ code: Schema.Literals([1, 2]), signal: Schema.Null })

  it.live.each([
    ["embedded", { PORT: "18080" }, [], "the embedded database serves one process"],
    ["postgres", { PORT: "0" }, [], "must be named in PORT"],
    ["postgres", { PORT: "18080", GATEWAY_DEMO: "1" }, [], "GATEWAY_DEMO has a simulator"],
    ["postgres", { PORT: "18080" }, ["--workers", "2"], "Unrecognized flag: --workers"]
  ] as const)("are refused with %s and %j %j: %s", ([database, settings, args, reason]) =>
    Effect.gen(function* () {
      const environment = yield* processEnvironment(database)
      const env = { ...environment, GATEWAY_REUSE_PORT: "1", ...settings }
      const process = yield* startProcess({ entry: shippedEntry, args, env })
      const { code } = yield* Schema.decodeUnknownEffect(Refused)(yield* process.end)
      // Wrong use of the command is told apart from what cannot be done.
      assert.strictEqual(code, args.length > 0 ? 2 : 1)
      assert.include(process.stderr(), reason)
    }).pipe(Effect.scoped)
  )
})

it.effect("a system that cannot share a port is named as the reason", () =>
  Effect.gen(function* () {
    const server = new Server()
    server.listen = () => {
      queueMicrotask(() => {
        server.emit("error", Object.assign(new Error("listen ENOTSUP"), { code: "ENOTSUP" }))
      })
      return server
    }
    const layerUnable = Layer.effect(
      Listener,
      Effect.map(Listener, (listening) => ({ ...listening, server }))
    ).pipe(Layer.provide(layerListener.pipe(Layer.provide(NodeCrypto.layerSecureRandom))))
    const build = (reusePort: boolean) =>
      layerHttpServer({ host: "127.0.0.1", port: 18080, reusePort }).pipe(
        Layer.provide(layerUnable),
        Layer.build,
        Effect.flip,
        Effect.scoped
      )
    assert.include((yield* build(true)).message, "this system cannot share a port")
    assert.notInclude((yield* build(false)).message, "share")
  })
)
