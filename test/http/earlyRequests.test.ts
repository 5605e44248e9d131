import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { Listener, layerHttpServer, layerListener } from "../../src/http/server/listener.ts"
import { call } from "../support/http.ts"

const layerServer = layerHttpServer({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge(layerListener),
  Layer.provide([NodeServices.layer, NodeCrypto.layerSecureRandom])
)

it.live("a request that comes before the handler is answered once, when it is there", () =>
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    const { unansweredCount } = yield* Listener
    const url = HttpServer.formatAddress(server.address)
    const early = yield* Effect.forkChild(call(`${url}/early`))
    const untilUnanswered = (count: number) =>
      Effect.sync(unansweredCount).pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (now) => now === count })
      )
    yield* untilUnanswered(1)
    let handled = 0
    yield* server.serve(
      Effect.sync(() => {
        handled++
        return HttpServerResponse.text("here")
      })
    )
    assert.strictEqual((yield* Fiber.join(early)).text, "here")
    assert.strictEqual((yield* call(`${url}/late`)).text, "here")
    assert.strictEqual(handled, 2)
    yield* untilUnanswered(0)
  }).pipe(Effect.provide(layerServer))
)
