/** What holds for every call to a vendor, whatever the protocol: how it fails, and what it sends. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { VendorFailure } from "../../src/domain/VendorOutcome.ts"
import type { ChannelAccount } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, closedPort, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf, lost, refused } from "./failures.ts"
import { API_KEY, APP_ID, accountAt, MAX_BYTES, named, runOutOfTime } from "./support.ts"

const html = "<!doctype html><title>Oops</title><h1>Oops</h1>"
const page = (status: number): Reply => ({
  status,
  headers: { "content-type": "text/html" },
  body: html
})
const busy = { error: { message: "Busy, come back later", code: "busy" } }

interface FailureCase {
  readonly says: string
  readonly reply: Reply
  readonly failure: Failure
}

const failures: ReadonlyArray<FailureCase> = [
  { says: "a 500 with HTML is refused", reply: page(500), failure: refused(500, html) },
  { says: "a 502 with HTML is refused", reply: page(502), failure: refused(502, html) },
  {
    says: "a 503 is refused and its Retry-After is read",
    reply: { status: 503, headers: { "retry-after": "7" }, body: html },
    failure: refused(503, html, { retryAfterSeconds: 7 })
  },
  {
    says: "a Retry-After that is no number of seconds is left out",
    reply: { status: 503, headers: { "retry-after": "2026-01-01" } },
    failure: refused(503, "")
  },
  { says: "a 504 with HTML is refused", reply: page(504), failure: refused(504, html) },
  {
    says: "a proxy's 524 is refused",
    reply: page(524),
    failure: refused(524, html)
  },
  { says: "a 408 is refused", reply: { status: 408 }, failure: refused(408, "") },
  {
    says: "a 409 is refused in the vendor's own words",
    reply: { status: 409, body: busy },
    failure: refused(409, busy, { message: "Busy, come back later" })
  },
  {
    says: "a 429 is refused and its Retry-After is read",
    reply: { status: 429, headers: { "retry-after": "30" }, body: busy },
    failure: refused(429, busy, { message: "Busy, come back later", retryAfterSeconds: 30 })
  },
  {
    says: "an error that is a bare text is the message",
    reply: { status: 400, body: { error: "no such size" } },
    failure: refused(400, { error: "no such size" }, { message: "no such size" })
  },
  {
    says: "a message without an error around it is the message",
    reply: { status: 400, body: { message: "no such size" } },
    failure: refused(400, { message: "no such size" }, { message: "no such size" })
  },
  {
    says: "a 200 with HTML is lost",
    reply: page(200),
    failure: lost("broken_answer", 200)
  },
  { says: "an empty 200 is lost", reply: {}, failure: lost("broken_answer", 200) },
  {
    says: "a 204 is lost",
    reply: { status: 204 },
    failure: lost("broken_answer", 204)
  },
  {
    says: "a 200 with half a JSON is lost",
    reply: { body: '{"id":"1","da' },
    failure: lost("broken_answer", 200)
  },
  ...[null, 17, "done", [], {}].map((body) => ({
    says: `a 200 with the JSON ${JSON.stringify(body)} is lost`,
    reply: { body: JSON.stringify(body) },
    failure: lost("broken_answer", 200)
  })),
  { says: "a reset connection is lost", reply: "reset", failure: lost("connection_lost") },
  { says: "a cut answer is lost", reply: "cut", failure: lost("connection_lost", 200) }
]

/** Undici adds `connection` as HTTP/1.1 has it; nothing of ours is in it. */
const allowedHeaders: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "user-agent"
])

export interface Dialect {
  /** The word before the key in `authorization`; empty where another header is the key alone. */
  readonly scheme: "Bearer" | "Key" | "Token" | ""
  /** The header of the key; `authorization` when left out. */
  readonly keyHeader?: string
  /** Headers of its own that the protocol asks for, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

export const plainBearer: Dialect = { scheme: "Bearer", headers: {} }

export interface VendorCall<R> {
  /** As in "a submit". */
  readonly name: string
  readonly call: (account: ChannelAccount) => Effect.Effect<unknown, VendorFailure, R>
  /** A body with which the call succeeds, to which any further field may be added. */
  readonly good: Readonly<Record<string, unknown>>
  /** The call's own limit under the test's `VendorLimits`. */
  readonly seconds: number
  readonly dialect: Dialect
}

export const vendorCallSuite = <R>(
  it: Vitest.MethodsNonLive<R>,
  { name, call, good, seconds, dialect }: VendorCall<R>
): void => {
  const { scheme, keyHeader = "authorization" } = dialect
  const headerFor = (key: string) => `${scheme} ${key}`.trimStart()
  const failing = (baseUrl: string) => Effect.map(Effect.flip(call(accountAt(baseUrl))), failureOf)

  it.effect.each(named(failures))(`${name}: %s`, ([, { reply, failure }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(reply)
      assert.deepStrictEqual(yield* failing(vendor.url), failure)
      assert.strictEqual((yield* vendor.requests).length, 1, "sent more than once")
    })
  )

  it.effect.each([
    ["hang", null],
    ["hang after one byte", 200]
  ] as const)(
    `${name}: a vendor that leaves us waiting (%s) is lost at the call's limit`,
    ([reply, status]) =>
      Effect.gen(function* () {
        const vendor = yield* brokenVendor(reply)
        const failure = yield* runOutOfTime(call(accountAt(vendor.url)), vendor, seconds)
        assert.deepStrictEqual(failureOf(failure), lost("timeout", status))
      })
  )

  it.effect(`${name}: an answer of the largest size is read and one byte more is lost`, () =>
    Effect.gen(function* () {
      const room = MAX_BYTES - JSON.stringify({ ...good, pad: "" }).length
      const fits = yield* brokenVendor({ body: { ...good, pad: "x".repeat(room) } })
      yield* call(accountAt(fits.url))
      const large = yield* brokenVendor({ body: { ...good, pad: "x".repeat(room + 1) } })
      assert.deepStrictEqual(yield* failing(large.url), lost("broken_answer", 200))
    })
  )

  it.effect(
    `${name}: nothing was sent to a closed port, a wrong address or a failed handshake`,
    () =>
      Effect.gen(function* () {
        const plain = yield* brokenVendor({ body: good })
        for (const baseUrl of [
          yield* closedPort,
          plain.url.replace("http:", "https:"),
          "http://127.0.0.1:99999",
          "ftp://127.0.0.1",
          "not an address"
        ]) {
          assert.deepStrictEqual(yield* failing(baseUrl), { _tag: "VendorUnreachable" }, baseUrl)
        }
        assert.deepStrictEqual(yield* plain.requests, [])
      })
  )

  it.effect.each([301, 302, 303, 307, 308])(
    `${name}: a redirect with %i is refused and not followed`,
    (status) =>
      Effect.gen(function* () {
        const target = yield* brokenVendor({ body: good })
        const vendor = yield* brokenVendor({ status, headers: { location: `${target.url}/moved` } })
        assert.deepStrictEqual(yield* failing(vendor.url), refused(status, null))
        assert.deepStrictEqual(yield* target.requests, [])
        assert.strictEqual((yield* vendor.requests).length, 1)
      })
  )

  it.effect(`${name}: only our own few headers go out, also inside a span`, () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: good })
      yield* Effect.withSpan(call(accountAt(vendor.url, "sk-plain")), "outer")
      const [request] = yield* vendor.requests
      const headers = request?.headers ?? {}
      assert.strictEqual(headers[keyHeader], headerFor("sk-plain"))
      assert.strictEqual(
        headers["content-type"],
        request?.method === "GET" ? undefined : "application/json"
      )
      assert.deepStrictEqual(
        Object.fromEntries(
          Object.entries(headers).filter(
            ([name]) => name !== keyHeader && !allowedHeaders.has(name)
          )
        ),
        dialect.headers
      )
    })
  )

  it.effect(`${name}: our credentials are hidden where the vendor echoes them`, () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(({ headers: { [keyHeader]: authorization } }) => ({
        status: 400,
        body: {
          message: `who is ${authorization}?`,
          kept: { authorisation: "Basic", numbers: [1, 40711, null, true] },
          headers: [{ authorization }, { [API_KEY]: encodeURIComponent(API_KEY) }],
          raw: JSON.stringify({ authorization }),
          app: { text: `app=${APP_ID};`, number: Number(APP_ID) }
        }
      }))
      assert.deepStrictEqual(
        yield* failing(vendor.url),
        refused(
          400,
          {
            message: `who is ${headerFor("[redacted]")}?`,
            kept: { authorisation: "Basic", numbers: [1, 40711, null, true] },
            headers: [{ authorization: headerFor("[redacted]") }, { "[redacted]": "[redacted]" }],
            raw: `{"authorization":"${headerFor("[redacted]")}"}`,
            app: { text: "app=[redacted];", number: "[redacted]" }
          },
          { message: `who is ${headerFor("[redacted]")}?` }
        )
      )
    })
  )

  it.effect(`${name}: our credentials are hidden in an answer that cannot be read`, () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(({ headers }) => ({
        headers: { "content-type": "text/plain" },
        body: `echo ${headers[keyHeader]}`
      }))
      assert.deepStrictEqual(yield* failing(vendor.url), lost("broken_answer", 200))
    })
  )
}
