/** The connections to vendors: where a name may lead, and how an answer is read as it comes. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo, LookupFunction } from "node:net"
import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Scheduler } from "effect"
import { makeLargeAnswers } from "../../../src/adapters/wire/largeAnswers.ts"
import { layerVendorWireWith, VendorWire } from "../../../src/adapters/wire/VendorWire.ts"
import { get } from "../../../src/adapters/wire/vendorRequest.ts"
import { layerSecureRandom } from "../../../src/crypto.ts"

const vendorWith = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let connections = 0
      const server = createServer(answer)
      server.on("connection", () => connections++)
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const address: string | AddressInfo | null = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      return { server, port: address.port, connections: () => connections }
    }),
    ({ server }) => Effect.promise(async () => void (await server[Symbol.asyncDispose]()))
  )

const wireThrough = (resolve: LookupFunction) => {
  const turns = () => makeLargeAnswers({ budgetBytes: 1, maxWaitMillis: 1 })
  return Effect.map(
    Layer.build(Layer.provide(layerVendorWireWith(turns, resolve), layerSecureRandom)),
    Context.get(VendorWire)
  )
}

/** As Node answers for an unknown name. */
const leadingNowhere: LookupFunction = (host, _, callback) => {
  const error = new Error(`getaddrinfo ENOTFOUND ${host}`)
  callback(Object.assign(error, { code: "ENOTFOUND", syscall: "getaddrinfo" }), "")
}

/** Leads every name to these addresses. */
const leadingTo =
  (...addresses: ReadonlyArray<string>): LookupFunction =>
  (_, options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    const [first] = found
    if (options.all === true) callback(null, found)
    else callback(null, first?.address ?? "", first?.family)
  }

const asked = Effect.fnUntraced(function* (resolve: LookupFunction) {
  const { port, connections } = yield* vendorWith((_, response) => response.end("{}"))
  const wire = yield* wireThrough(resolve)
  const exit = yield* Effect.exit(
    wire.exchange(get(`http://vendor.test:${port}/`, {}), {
      timeout: Duration.seconds(20),
      maxBytes: 100
    })
  )
  return { exit, connections: connections() }
})

it.live.each(["169.254.0.1", "fe80::1", "::ffff:169.254.0.1"])(
  "a name that leads to %s is not called",
  (address) =>
    Effect.gen(function* () {
      const { exit } = yield* asked(leadingTo(address))
      const said = Exit.isFailure(exit) ? JSON.stringify(exit.cause) : ""
      assert.include(said, "EACCES")
    })
)

it.live("a name that leads nowhere is told by its fault", () =>
  Effect.gen(function* () {
    const { exit } = yield* asked(leadingNowhere)
    const said = Exit.isFailure(exit) ? JSON.stringify(exit.cause) : ""
    assert.include(said, "getaddrinfo")
    assert.notInclude(said, "EACCES")
  })
)

it.live("a name that leads elsewhere as well is called there", () =>
  Effect.gen(function* () {
    for (const addresses of [["127.0.0.1"], ["169.254.0.1", "127.0.0.1"]]) {
      const { exit, connections } = yield* asked(leadingTo(...addresses))
      assert.isTrue(Exit.isSuccess(exit), JSON.stringify(exit))
      assert.strictEqual(connections, 1)
    }
  })
)

const PIECES = 200

it.live("no bytes are missed, wherever the reader makes way for what comes", () =>
  Effect.gen(function* () {
    let write = (): void => undefined
    const { port } = yield* vendorWith((_, response) => {
      response.flushHeaders()
      write = () => void response.write("x")
    })
    const wire = yield* wireThrough(leadingTo("127.0.0.1"))
    for (const steps of [6, 7, 8, 9, 10, 11, 13]) {
      const answer = yield* wire.open(get(`http://vendor.test:${port}/`, {}), Duration.hours(1))
      const read = Effect.suspend(() => {
        // The next one comes when this one was read, so that none brings the one before it along.
        write()
        return answer.read(Duration.hours(1))
      })
      const all = Effect.replicateEffect(read, PIECES, { discard: true })
      yield* Effect.provideService(all, Scheduler.MaxOpsBeforeYield, steps)
    }
  })
)

it.live("what comes before the answer's own head is not taken for it", () =>
  Effect.gen(function* () {
    const { port } = yield* vendorWith((_, response) => {
      response.writeEarlyHints({ link: "</words>; rel=preload" })
      response.writeHead(429, { "retry-after": "7" }).end("{}")
    })
    const wire = yield* wireThrough(leadingTo("127.0.0.1"))
    const answer = yield* wire.open(get(`http://vendor.test:${port}/`, {}), Duration.hours(1))
    assert.strictEqual(answer.status, 429)
    assert.strictEqual(answer.headers["retry-after"], "7")
  })
)
