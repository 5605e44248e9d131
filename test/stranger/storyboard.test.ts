import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import {
  type Customer,
  type ImageAdapter,
  InsufficientBalance,
  Ledger,
  layerGatewayTesting,
  ProtocolAdapter,
  ScriptedVendors,
  TestingGateway,
  VendorRefused,
  whileTimePasses
} from "media-gateway/testing"
import { makeStoryboard } from "./storyboard.ts"

const scenes = ["a lighthouse at dusk", "a storm", "the morning after"]

/** The program as the customer runs it, with the gateway's `fetch` in place of the network. */
const storyboardOf = (customer: Customer) =>
  Effect.gen(function* () {
    const { url, fetch } = yield* TestingGateway
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
      HttpClient.mapRequest(HttpClientRequest.bearerToken(customer.key))
    )
    return yield* makeStoryboard(scenes).pipe(
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.provideService(FetchHttpClient.Fetch, fetch)
    )
  }).pipe(Effect.provide(FetchHttpClient.layer))

/** What was charged, oldest first, in nano-units. */
const charges = (customer: Customer) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const { data } = yield* ledger.journal(customer.organizationId, { after: null, limit: 100 })
    assert.deepStrictEqual(yield* ledger.verify, [])
    return data
      .filter(({ kind }) => kind === "capture")
      .map(({ amountNano }) => amountNano)
      .toReversed()
  })

describe("the storyboard", () => {
  it.effect("draws three scenes and films them, each charged once", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const customer = yield* gateway.customer()
      const { drawings, filmed } = yield* whileTimePasses(storyboardOf(customer))
      assert.lengthOf(drawings, 3)
      assert.strictEqual(filmed.task_status, "succeeded")
      const [video] = yield* vendors.videoOrders
      assert.deepStrictEqual(
        video?.order.blocks.flatMap((block) => (block.type === "image" ? [block.url] : [])),
        drawings
      )
      const image = 200_000_000n
      assert.deepStrictEqual(yield* charges(customer), [image, image, image, 4_968_000_000n])
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("waits for a deposit when the pool is empty, and orders nothing meanwhile", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const ledger = yield* Ledger
      const customer = yield* gateway.customer({ deposit: 1 })
      const running = yield* Effect.forkChild(storyboardOf(customer))
      yield* whileTimePasses(Effect.sleep("10 minutes"), "1 minute")
      assert.deepStrictEqual([yield* vendors.jobs, running.pollUnsafe()], [3, undefined])
      yield* ledger.deposit(customer.organizationId, 10_000_000_000n, "invoice 7")
      const { filmed } = yield* whileTimePasses(Fiber.join(running))
      assert.strictEqual(filmed.task_status, "succeeded")
      assert.lengthOf(yield* charges(customer), 4)
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("goes on after a ledger that refused it twice", () => {
    let refusals = 2
    const reluctant = Layer.effect(
      Ledger,
      Effect.map(Ledger, (ledger) =>
        Ledger.of({
          ...ledger,
          hold: (request) =>
            Effect.suspend(() =>
              refusals-- > 0
                ? Effect.fail(
                    new InsufficientBalance({ message: "Later", required: "1", available: "0" })
                  )
                : ledger.hold(request)
            )
        })
      )
    )
    return Effect.gen(function* () {
      const customer = yield* (yield* TestingGateway).customer()
      yield* whileTimePasses(storyboardOf(customer))
      assert.lengthOf(yield* charges(customer), 4)
      const { data } = yield* (yield* Ledger).journal(customer.organizationId, {
        after: null,
        limit: 100
      })
      const firstHold = data.findLast(({ kind }) => kind === "hold")
      assert.strictEqual(firstHold?.createdAt.getTime(), 120_000)
    }).pipe(Effect.provide(layerGatewayTesting({ replacing: reluctant })))
  })

  it.effect("pays for nothing but what was drawn when a vendor of its own refuses a scene", () => {
    const painter: ImageAdapter = {
      generate: (_account, { body }) =>
        body.prompt.includes("storm")
          ? Effect.fail(
              new VendorRefused({
                effectiveStatus: 400,
                status: 400,
                body: { reason: "weather" },
                message: "We do not draw weather",
                retryAfterSeconds: null
              })
            )
          : Effect.succeed({ created: 1, data: [{ url: "https://painter.test/1.png" }] })
    }
    const ownPainter = Layer.effect(
      ProtocolAdapter,
      Effect.map(ProtocolAdapter, (doubles) => ({
        ...doubles,
        image: new Map([["ip_a", painter]])
      }))
    )
    return Effect.gen(function* () {
      const customer = yield* (yield* TestingGateway).customer()
      const failure = yield* Effect.flip(whileTimePasses(storyboardOf(customer)))
      assert.deepInclude(failure, { code: "upstream_error", message: "We do not draw weather" })
      assert.deepStrictEqual(yield* charges(customer), [200_000_000n])
      assert.lengthOf(yield* (yield* ScriptedVendors).videoOrders, 0)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* (yield* Ledger).balance(customer.organizationId), {
        balanceNano: 999_800_000_000n,
        heldNano: 0n
      })
    }).pipe(Effect.provide(layerGatewayTesting({ replacing: ownPainter })))
  })
})
