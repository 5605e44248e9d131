import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { Failpoints } from "../../src/runtime/Failpoints.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"

const reached = Deferred.makeUnsafe<void>()
const goOn = Deferred.makeUnsafe<void>()

/** Stops between the vendor's verdict and its settlement until the test lets it go on. */
const pausing = Layer.succeed(Failpoints, {
  pass: (failpoint) =>
    failpoint === "video.verdict"
      ? Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(goOn))
      : Effect.void
})

/** No poller: what settles here is what a reader began. */
const settings = { ...quickSettings, pollerSeconds: 3600 }

layer(layerTestGateway("embedded", settings).pipe(Layer.provide(pausing)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a reader that hangs up", (it) => {
  it.effect("leaves behind a settlement that goes on without it", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const created = yield* gateway.call("/v1/videos/generations", {
        key: who.key,
        json: { model: "film-1", prompt: "x sim:slow=0" }
      })
      const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), created)
      const reader = yield* Effect.forkChild(
        gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
      )
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(reader)
      // Requests that came and went behind it show that the server has seen it go.
      yield* Effect.repeat(gateway.balance(who), { times: 20 })
      yield* Deferred.succeed(goOn, undefined)
      yield* gateway
        .balance(who)
        .pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: ({ held }) => held === "0" }),
          Effect.timeout("10 seconds")
        )
      assert.strictEqual((yield* gateway.balance(who)).balance, "4.9906")
      yield* gateway.verify
    })
  )
})
