import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { VendorWire, WireFault } from "../../../src/adapters/wire/VendorWire.ts"
import { send } from "../../../src/adapters/wire/vendorHttp.ts"
import { get, post } from "../../../src/adapters/wire/vendorRequest.ts"
import { brokenVendor } from "../../support/brokenVendor.ts"
import { wireTo } from "../../support/wire.ts"
import { layerSockets } from "../support.ts"

const limits = { timeout: Duration.seconds(1), maxBytes: 1000 }

const fault = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) })
const faults = (...errors: ReadonlyArray<Error>) =>
  Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" })

const failingWith = (cause: unknown) =>
  wireTo(() => Effect.fail(new WireFault({ cause, partial: null })))

it.effect.each<readonly [says: string, cause: unknown, tag: "VendorUnreachable" | "VendorLost"]>([
  ["an unknown host", fault("ENOTFOUND", "getaddrinfo"), "VendorUnreachable"],
  ["a name server that is busy", fault("EAI_AGAIN", "getaddrinfo"), "VendorUnreachable"],
  ["a connection that took too long", fault("ETIMEDOUT", "connect"), "VendorUnreachable"],
  ["a host without a route", fault("EHOSTUNREACH", "connect"), "VendorUnreachable"],
  ["the client's own connect limit", fault("UND_ERR_CONNECT_TIMEOUT"), "VendorUnreachable"],
  ["an expired certificate", fault("CERT_HAS_EXPIRED"), "VendorUnreachable"],
  ["a certificate of another host", fault("ERR_TLS_CERT_ALTNAME_INVALID"), "VendorUnreachable"],
  [
    "a host none of whose addresses listens",
    faults(fault("ECONNREFUSED", "connect"), fault("ETIMEDOUT", "connect")),
    "VendorUnreachable"
  ],
  [
    "a host of whose addresses one broke off later",
    faults(fault("ECONNREFUSED", "connect"), fault("ECONNRESET", "read")),
    "VendorLost"
  ],
  ["no address at all", faults(), "VendorLost"],
  ["a route that vanished on the way", fault("EHOSTUNREACH", "read"), "VendorLost"],
  ["a running connection that timed out", fault("ETIMEDOUT", "read"), "VendorLost"],
  ["a reset connection", fault("ECONNRESET", "read"), "VendorLost"],
  ["a connection closed by the other side", fault("UND_ERR_SOCKET"), "VendorLost"],
  ["a record that was garbled on the way", fault("EPROTO", "write"), "VendorLost"],
  ["a fault without a code", new Error("oops"), "VendorLost"],
  ["a fault that is no error", "oops", "VendorLost"]
])("%s: what may have been sent counts as lost", ([, cause, tag]) =>
  Effect.gen(function* () {
    const request = post("http://127.0.0.1/", {}, {})
    const failure = yield* Effect.flip(send(failingWith(cause), request, limits))
    assert.strictEqual(failure._tag, tag)
  })
)

it.effect("a fault of a handshake that comes after the request had left counts as lost", () =>
  Effect.gen(function* () {
    const cause = fault("ERR_SSL_WRONG_VERSION_NUMBER")
    const tags = yield* Effect.forEach([false, true], (isSent) => {
      const wire = wireTo(() => Effect.fail(new WireFault({ cause, partial: null, isSent })))
      return Effect.map(
        Effect.flip(send(wire, get("https://vendor.test/", {}), limits)),
        ({ _tag }) => _tag
      )
    })
    assert.deepStrictEqual(tags, ["VendorUnreachable", "VendorLost"])
  })
)

it.effect("a byte order mark before the JSON is no part of it", () =>
  Effect.gen(function* () {
    const vendor = yield* brokenVendor({ body: '\uFEFF{"a":1}' })
    const wire = yield* VendorWire
    const answer = yield* send(wire, get(vendor.url, {}), limits)
    assert.deepInclude(answer, { status: 200, body: { a: 1 }, bytes: 10 })
  }).pipe(Effect.provide(layerSockets))
)

it.effect("a message never holds the vendor's address or what was sent", () =>
  Effect.gen(function* () {
    const headers = { authorization: "Bearer sk-secret" }
    const request = post("http://127.0.0.1/secret-path", headers, { prompt: "secret prompt" })
    for (const cause of [fault("ECONNREFUSED", "connect"), fault("ECONNRESET", "read")]) {
      const failure = yield* Effect.flip(send(failingWith(cause), request, limits))
      assert.notMatch(`${failure.message} ${JSON.stringify(failure)}`, /secret|127\.0\.0\.1/)
    }
  })
)

it.live("an order given up before its connection stands is never sent", () =>
  Effect.gen(function* () {
    const vendor = yield* brokenVendor({ body: "{}" })
    const wire = yield* VendorWire
    const order = (name: string) => wire.exchange(post(`${vendor.url}/${name}`, {}, {}), limits)
    for (let turn = 0; turn < 20; turn += 1) {
      const given = yield* Effect.forkChild(order("given-up"), { startImmediately: true })
      yield* Fiber.interrupt(given)
      yield* order("wanted")
    }
    const targets = (yield* vendor.requests).map(({ target }) => target)
    assert.deepStrictEqual(new Set(targets), new Set(["/wanted"]))
  }).pipe(Effect.provide(layerSockets))
)
