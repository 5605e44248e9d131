import { once } from "node:events"
import { connect } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { startGateway } from "../support/cluster.ts"
import type { DatabaseKind } from "../support/databases.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, testCatalog } from "../support/gateway.ts"
import {
  prepareCustomer,
  processEnvironment,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { type HeldVendor, heldVendor } from "../support/heldVendor.ts"
import { call } from "../support/http.ts"
import { isRefused } from "../support/refused.ts"

const film = { model: "film-1", prompt: "a lighthouse sim:slow=100000" }
const paint = { model: "paint-1", prompt: "a lighthouse" }

/** Images are made by a vendor that keeps us waiting, videos by the simulator. */
const catalogOf = Effect.fnUntraced(function* (vendor: HeldVendor) {
  const catalog = testCatalog((yield* Simulator).url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
  )
  return { ...catalog, channels }
})

/** A gateway with an image on its way at the vendor, ordered by a customer who has 100. */
const busyGateway = Effect.fnUntraced(function* (
  kind: DatabaseKind,
  settings: Readonly<Record<string, string>>
) {
  const vendor = yield* heldVendor
  const env = { ...(yield* processEnvironment(kind)), ...settings }
  const gateway = yield* startGateway(env, shippedEntry)
  const customer = yield* prepareCustomer(gateway, "100", yield* catalogOf(vendor))
  const image = yield* Effect.forkChild(
    Effect.exit(call(`${gateway.url}/v1/images/generations`, { key: customer.key, json: paint }))
  )
  yield* vendor.asked
  return { vendor, env, gateway, ...customer, image }
})

const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })

/** A connection on which half a question was asked, and never the rest. */
const silentConnection = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1")
      await once(socket, "connect")
      socket.write("GET /healthz HTTP/1.1\r\n")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

for (const kind of databasesInTurn(import.meta.filename)) {
  it.live(
    `${kind}: asked to stop, a gateway answers what it accepted and ends with code 0`,
    () =>
      Effect.gen(function* () {
        const busy = yield* busyGateway(kind, {
          GATEWAY_DRAIN_SECONDS: "0.5",
          GATEWAY_SHUTDOWN_SECONDS: "600"
        })
        const { gateway, key } = busy
        const task = yield* bodyAs(
          Task,
          yield* call(`${gateway.url}/v1/videos/generations`, { key, json: film })
        )
        const reader = yield* Effect.forkChild(
          call(`${gateway.url}/v1/videos/${task.id}?wait=60`, { key })
        )
        const listener = yield* Effect.forkChild(
          call(`${gateway.url}/v1/videos/${task.id}/events`, { key })
        )
        yield* silentConnection(gateway.url)
        // Its answer shows that the requests before it have arrived.
        yield* call(`${gateway.url}/v1/videos/${task.id}`, { key })

        yield* gateway.process.kill("SIGTERM")
        const draining = yield* call(`${gateway.url}/readyz`).pipe(
          Effect.repeat({ until: ({ status }) => status === 503 })
        )
        assert.deepNestedInclude(draining.body, {
          "checks.shutdown": { status: "failing", detail: "The gateway is about to stop" }
        })
        assert.strictEqual(draining.headers.get("connection"), "close")
        const read = yield* Fiber.join(reader)
        assert.strictEqual((yield* bodyAs(Task, read)).task_status, "processing")
        const { text } = yield* Fiber.join(listener)
        assert.deepStrictEqual(text.match(/^event: .*$/gm), ["event: video.processing"])
        assert.match(text, /\nretry: 1000\n\n$/)

        yield* Effect.exit(call(`${gateway.url}/healthz`)).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: isRefused })
        )
        yield* busy.vendor.letGo
        const image = yield* Effect.flatten(Fiber.join(busy.image))
        assert.strictEqual(image.status, 200, image.text)
        assert.strictEqual(image.headers.get("connection"), "close")
        // Well before the server would give the half question up on its own.
        const end = yield* Effect.timeout(gateway.process.end, "15 seconds")
        assert.deepStrictEqual(end, { code: 0, signal: null })

        const next = yield* startGateway(busy.env, shippedEntry)
        const body = yield* bodyAs(
          Schema.Struct({ balance: Schema.String }),
          yield* next.admin(busy.organizationPath)
        )
        assert.strictEqual(body.balance, "99.8")
        assert.strictEqual(
          (yield* next.admin("/ledger/verify")).text,
          '{"ok":true,"violations":[]}'
        )
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}

it.live(
  "what is not answered in the time a shutdown has is cut, and given back by the next gateway",
  () =>
    Effect.gen(function* () {
      const busy = yield* busyGateway("postgres", {
        GATEWAY_SHUTDOWN_SECONDS: "0.5",
        GATEWAY_IMAGE_DEADLINE_SECONDS: "3"
      })
      yield* busy.gateway.process.kill("SIGINT")
      assert.deepStrictEqual(yield* busy.gateway.process.end, { code: 0, signal: null })
      assert.isTrue(Exit.isFailure(yield* Fiber.join(busy.image)))
      const next = yield* startGateway(busy.env, shippedEntry)
      assert.strictEqual(yield* settledBalance(next, busy.organizationPath), "100")
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)

it.live(
  "a second signal ends a gateway at once, whatever it still waits for",
  () =>
    Effect.gen(function* () {
      const { gateway } = yield* busyGateway("postgres", {})
      const again = gateway.process.kill("SIGTERM").pipe(Effect.delay("100 millis"), Effect.forever)
      const end = yield* Effect.raceFirst(gateway.process.end, again)
      assert.deepStrictEqual(end, { code: 143, signal: null })
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)
