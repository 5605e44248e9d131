import { Agent, get, IncomingMessage } from "node:http"
import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { layerHttpServer, layerListener } from "../../src/http/server/listener.ts"

const collectGarbage = Effect.sync(() => {
  assert.isDefined(globalThis.gc)
  globalThis.gc?.()
})

/** Reads an answer to its end. */
const readFrom = (url: string, agent: Agent) =>
  Effect.callback<void>((resume) => {
    get(url, { agent }, (answer) => answer.on("end", () => resume(Effect.void)).resume())
  })

const layerServer = layerHttpServer({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provide(layerListener),
  Layer.provide([NodeServices.layer, NodeCrypto.layerSecureRandom])
)

it.live("an idle connection keeps nothing of its last answer in memory", () =>
  Effect.gen(function* () {
    const answered: Array<WeakRef<Uint8Array>> = []
    const ports = new Set<number>()
    const server = yield* HttpServer.HttpServer
    yield* server.serve(
      Effect.gen(function* () {
        const { source } = yield* HttpServerRequest.HttpServerRequest
        if (source instanceof IncomingMessage) ports.add(source.socket.remotePort ?? 0)
        const bytes = new Uint8Array(1024 * 1024)
        answered.push(new WeakRef(bytes))
        return HttpServerResponse.stream(Stream.make(bytes), { contentLength: bytes.byteLength })
      })
    )
    const { address } = server
    if (address._tag === "UnixPathAddress") return assert.fail("there is no port")
    const url = `http://127.0.0.1:${address.port}/`
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    yield* readFrom(url, agent)
    yield* collectGarbage.pipe(
      Effect.andThen(Effect.sleep("5 millis")),
      Effect.repeat({ until: () => answered[0]?.deref() === undefined })
    )
    yield* readFrom(url, agent)
    assert.strictEqual(ports.size, 1, "it was not one connection")
  }).pipe(Effect.provide(layerServer))
)
