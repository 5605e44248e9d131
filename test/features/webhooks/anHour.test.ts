/** A receiver that fails for an hour, on a clock that a test moves. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { layerGatewayTesting, TestingGateway } from "../../../src/testing/testGateway.ts"
import { makeReceiver, withStatus } from "../../support/receiver.ts"

/** What is due is looked for more rarely, as hours pass. */
const settings = { webhookAllowPrivate: true, pollerSeconds: 5 }

/** A moment of the machine's own time, in which requests over sockets are made and answered. */
const moment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

it.effect(
  "what failed is sent again after 5 s, 5 min, 30 min and 2 h, each with up to a fifth more",
  () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const { key } = yield* gateway.customer()
      const receiver = yield* makeReceiver(withStatus(503))
      const made = yield* gateway.call("/v1/webhook_endpoints", {
        key,
        json: { name: "an hour", url: receiver.url, event_types: ["image.completed"] }
      })
      assert.strictEqual(made.status, 200)
      yield* gateway.call("/v1/images/generations", {
        key,
        headers: { prefer: "respond-async" },
        json: { model: "paint-1", prompt: "x" }
      })
      /** Moves the clock until so many attempts were made; answers how far, in seconds. */
      const until = Effect.fnUntraced(function* (attempts: number, step: number) {
        let seconds = 0
        while (receiver.received.length < attempts) {
          yield* TestClock.adjust(`${step} seconds`)
          seconds += step
          for (let nth = 0; nth < 4; nth++) yield* moment
        }
        return seconds
      })
      yield* until(1, 1)
      // The poller looks once a second, and the steps are not exact.
      for (const [attempt, wanted, step] of [
        [2, 5, 5],
        [3, 300, 10],
        [4, 1800, 60],
        [5, 7200, 240]
      ] as const) {
        const seconds = yield* until(attempt, step)
        assert.isAtLeast(seconds, wanted - 2 * step)
        assert.isAtMost(seconds, wanted * 1.2 + 2 * step)
      }
      assert.lengthOf(new Set(receiver.received.map(({ id }) => id)), 1)
      receiver.tell(withStatus(200))
      yield* until(6, 600)
      yield* TestClock.adjust("1 hour")
      yield* moment
      assert.lengthOf(receiver.received, 6)
    }).pipe(Effect.provide(layerGatewayTesting({ settings })))
)

it.effect("a receiver that says when to come again is asked then", () =>
  Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const { key } = yield* gateway.customer()
    const receiver = yield* makeReceiver(withStatus(429, { "retry-after": "600" }))
    yield* gateway.call("/v1/webhook_endpoints", {
      key,
      json: { name: "later", url: receiver.url, event_types: ["image.completed"] }
    })
    yield* gateway.call("/v1/images/generations", {
      key,
      headers: { prefer: "respond-async" },
      json: { model: "paint-1", prompt: "x" }
    })
    let seconds = 0
    while (receiver.received.length < 2) {
      const [step, before] = [receiver.received.length === 0 ? 5 : 20, receiver.received.length]
      yield* TestClock.adjust(`${step} seconds`)
      for (let nth = 0; nth < 4; nth++) yield* moment
      if (before > 0) seconds += step
    }
    assert.isAtLeast(seconds, 560)
    assert.isAtMost(seconds, 640)
  }).pipe(Effect.provide(layerGatewayTesting({ settings })))
)
