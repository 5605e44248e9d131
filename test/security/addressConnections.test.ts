/** One client address has so many connections; the others have the rest. */
import { connect, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const BOUND = 8
const PLACES = 12

/** A connection without a request, and whether it is still open. */
interface Idle {
  readonly socket: Socket
  isOpen: boolean
}

const idle = (url: string, from: string): Effect.Effect<Idle> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), localAddress: from })
    const one: Idle = { socket, isOpen: true }
    socket.on("error", () => undefined)
    socket.on("close", () => {
      one.isOpen = false
    })
    socket.once("connect", () => resume(Effect.succeed(one)))
  })

/** As many as that, which are closed with the scope. */
const idles = (from: string, count: number) =>
  Effect.acquireRelease(
    Effect.flatMap(Gateway, ({ url }) =>
      Effect.forEach(Array.from({ length: count }), () => idle(url, from))
    ),
    (all) => Effect.forEach(all, ({ socket }) => Effect.sync(() => socket.destroy()))
  )

const openOnes = (all: ReadonlyArray<Idle>) => all.filter(({ isOpen }) => isOpen).length

const until = (isThere: () => boolean) =>
  Effect.sync(isThere).pipe(
    Effect.delay("10 millis"),
    Effect.repeat({ until: (is) => is }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

const health = requestText("/healthz")
const statusFrom = (from: string) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.map(rawRequest(url, [health], { from }), (answer) => answer?.status ?? null)
  )

const bounded = { ...quickSettings, maxConnections: PLACES, addressConnections: BOUND }
layer(layerTestGateway("embedded", bounded), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("connections of one client address", (it) => {
  it.effect("beyond its bound are closed, while another address is served", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const all = yield* idles("127.0.0.2", 30)
          yield* until(() => openOnes(all) === BOUND)
          assert.isNull(yield* statusFrom("127.0.0.2"))
          assert.strictEqual(yield* statusFrom("127.0.0.3"), 200)
          assert.strictEqual(openOnes(all), BOUND)
          // The places of all together stay the bound of all.
          const others = yield* idles("127.0.0.3", BOUND)
          yield* until(() => openOnes(others) <= PLACES - BOUND)
        })
      )
      // They are free again as soon as the connections end.
      yield* statusFrom("127.0.0.2").pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (status) => status === 200 }),
        Effect.timeout("20 seconds")
      )
    })
  )
})

const unbounded = { ...bounded, addressConnections: 0 }
layer(layerTestGateway("embedded", unbounded), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("connections of a proxy, whose address all clients have,", (it) => {
  it.effect("are bounded by all places alone where the bound is 0", () =>
    Effect.gen(function* () {
      const all = yield* idles("127.0.0.2", BOUND + 2)
      assert.strictEqual(yield* statusFrom("127.0.0.2"), 200)
      assert.strictEqual(openOnes(all), BOUND + 2)
    })
  )
})
