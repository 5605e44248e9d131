/**
 * Many large bodies at once, at a gateway of its own: what it keeps of them is bounded.
 * BODIES, BODY_MEBIBYTES and BUDGET_MEBIBYTES set the sizes.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { ADMIN_TOKEN, startGateway } from "../support/cluster.ts"
import { testCatalog } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, settledBalance } from "../support/gatewayProcesses.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { call } from "../support/http.ts"
import { peakMebibytes } from "../support/processMemory.ts"

const BODIES = Number(process.env.BODIES ?? 24)
const BODY_MEBIBYTES = Number(process.env.BODY_MEBIBYTES ?? 20)
const BUDGET_MEBIBYTES = Number(process.env.BUDGET_MEBIBYTES ?? 120)
const MEBIBYTE = 1024 * 1024

/** Copies of a body that are around at one time: as it came and decoded, or decoded and as it is sent. */
const COPIES = 2
/** What the garbage collector may leave lying around. */
const SLACK_MEBIBYTES = 180

it.live(
  "many large bodies at once take no more memory than there is for bodies",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const vendor = yield* heldVendor
      const gateway = yield* startGateway({
        ...(yield* processEnvironment("postgres")),
        GATEWAY_BODY_BUDGET_BYTES: `${BUDGET_MEBIBYTES * MEBIBYTE}`
      })
      const catalog = testCatalog(simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
      )
      // Four organisations, none of which may take all there is.
      const customers = yield* Effect.forEach([1, 2, 3, 4], () =>
        prepareCustomer(gateway, "1000", { ...catalog, channels })
      )
      const image = `data:image/png;base64,${"A".repeat(BODY_MEBIBYTES * MEBIBYTE)}`
      const body = new TextEncoder().encode(
        JSON.stringify({ model: "paint-1", prompt: "x", image })
      )
      const order = (index: number) =>
        call(`${gateway.url}/v1/images/generations`, {
          key: customers[index % customers.length]?.key ?? "",
          body
        })
      const before = peakMebibytes(gateway.process.pid)
      const orders = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: BODIES }).keys(),
          // The connection of a refused body closes half a second after its answer, so a client that
          // is too busy to read the answer by then sees the connection closed: null.
          (index) => Effect.catchDefect(order(index), () => Effect.succeed(null)),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.raceFirst(vendor.asked, Fiber.join(orders))
      // What was let in stays in memory until the vendor answers; all else has been refused.
      const fitting = Math.floor(BUDGET_MEBIBYTES / (BODY_MEBIBYTES + 0.01))
      yield* Effect.sleep("50 millis").pipe(
        Effect.andThen(call(`${gateway.url}/metrics`, { key: ADMIN_TOKEN })),
        Effect.repeat({
          until: ({ text }) => Number(/in_flight (\d+)/.exec(text)?.[1]) <= fitting + 1
        }),
        Effect.timeout("60 seconds")
      )
      yield* vendor.letGo
      const answers = yield* Fiber.join(orders)
      const peak = peakMebibytes(gateway.process.pid)
      yield* Effect.logInfo(
        `${BODIES} bodies of ${BODY_MEBIBYTES} MiB with room for ${BUDGET_MEBIBYTES} MiB: ` +
          `${Math.round(before)} MiB before, ${Math.round(peak)} MiB at the peak`
      )
      const refused = answers.filter((answer) => answer?.status !== 200)
      for (const answer of refused) {
        if (answer === null) continue
        assert.strictEqual(answer.status, 503, answer.text)
        assert.include(answer.text, '"code":"overloaded"')
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
      }
      assert.isAtLeast(refused.length, 1)
      const servedCount = answers.length - refused.length
      assert.isAtLeast(servedCount, 1)
      // No order whose connection closed was let in.
      assert.strictEqual(vendor.requestCount(), servedCount)
      assert.isBelow(peak - before, COPIES * BUDGET_MEBIBYTES + SLACK_MEBIBYTES)
      // The gateway is well, and takes such bodies one after the other.
      assert.strictEqual((yield* order(0)).status, 200)
      for (const { organizationPath } of customers) {
        yield* settledBalance(gateway, organizationPath)
      }
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  300_000
)
