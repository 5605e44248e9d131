/** The connections to vendors: where a name may lead. */
import { lookup } from "node:dns"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, LookupFunction } from "node:net"
import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { makeLargeAnswers } from "../../../src/adapters/wire/largeAnswers.ts"
import { layerVendorWireWith, VendorWire } from "../../../src/adapters/wire/VendorWire.ts"
import { get } from "../../../src/adapters/wire/vendorRequest.ts"

const vendor = Effect.acquireRelease(
  Effect.promise(async () => {
    let connections = 0
    const server = createServer((_, response) => response.end("{}"))
    server.on("connection", () => connections++)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address: string | AddressInfo | null = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    return { server, port: address.port, connections: () => connections }
  }),
  ({ server }) => Effect.promise(async () => void (await server[Symbol.asyncDispose]()))
)

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
  const { port, connections } = yield* vendor
  const turns = () => makeLargeAnswers({ budgetBytes: 1, patienceMillis: 1 })
  const wire = Context.get(yield* Layer.build(layerVendorWireWith(turns, resolve)), VendorWire)
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
    const { exit } = yield* asked(lookup)
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
