/** What goes to a vendor is written by us: no header of a client, and no line a text could add. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"

/** Names in lower case; the last two are asked for by protocols. */
const allowed: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "user-agent",
  "x-application-id",
  "x-dashscope-async"
])

const clientHeaders = {
  "x-secret-of-the-client": "canary-1",
  "x-forwarded-for": "10.0.0.1",
  "x-forwarded-host": "canary-2",
  forwarded: "for=canary-3",
  cookie: "session=canary-4",
  referer: "https://canary-5.test/",
  "user-agent": "canary-6",
  "x-client-request-id": "canary-7",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  baggage: "user=canary-8",
  "x-api-key": "canary-9",
  "x-dashscope-async": "canary-10",
  "x-application-id": "canary-11",
  "openai-organization": "canary-12",
  "accept-language": "canary-13",
  "proxy-authorization": "Basic canary-14"
}

const injections = [
  "x\r\nX-Injected: 1",
  "x\nX-Injected: 1",
  "x\rX-Injected: 1",
  "x\r\n\r\nPOST /second HTTP/1.1\r\nHost: x\r\n\r\n",
  "x\u0000y",
  "x%0d%0aX-Injected: 1",
  "x\u560d\u560aX-Injected: 1",
  "x\u2028X-Injected: 1",
  "x\u0085X-Injected: 1"
] as const

const texts = {
  video: ["prompt", "ratio", "resolution", "image"],
  image: ["prompt", "size", "user", "image"]
} as const

layer(layerTestGateway("postgres", undefined, { catalogFor: (url) => protocolCatalog(url) }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("what goes to a vendor", (it) => {
  it.effect("has only headers of ours, whatever the client sends with its request", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* brokenVendor({ status: 400, body: { message: "no" } })
      yield* gateway.admin("/catalog", {
        method: "PUT",
        json: {
          ...protocolCatalog(gateway.simulator.url),
          channels: protocolCatalog(gateway.simulator.url).channels.map((channel) => ({
            ...channel,
            base_url: vendor.url
          }))
        }
      })
      const who = yield* gateway.customer("1000000")
      yield* Effect.forEach(
        ways,
        ({ model, modality }) =>
          gateway.call(`/v1/${modality}s/generations`, {
            key: who.key,
            headers: clientHeaders,
            json: { model, prompt: "x", ...leastInput(model) }
          }),
        { concurrency: 8 }
      )
      assert.isAtLeast((yield* vendor.requests).length, ways.length)

      // A text in every place that takes one, on every way to a vendor.
      yield* Effect.forEach(
        ways.flatMap((way) =>
          injections.flatMap((text) => texts[way.modality].map((field) => ({ way, text, field })))
        ),
        ({ way: { model, modality }, text, field }) =>
          Effect.map(
            gateway.call(`/v1/${modality}s/generations`, {
              key: who.key,
              json: { model, prompt: "x", ...leastInput(model), [field]: text }
            }),
            (answer) => {
              assert.isBelow(answer.status, 500, answer.text)
              assert.isNull(answer.headers.get("x-injected"))
            }
          ),
        { concurrency: 24, discard: true }
      )

      const requests = yield* vendor.requests
      // Many of these texts are for the vendor to judge, so many requests went out.
      assert.isAtLeast(requests.length, ways.length * injections.length)
      for (const { target, headers } of requests) {
        const names = Object.keys(headers)
        assert.deepEqual(
          names.filter((name) => !allowed.has(name)),
          [],
          target
        )
        assert.notInclude(JSON.stringify(headers), "canary")
        assert.notInclude(JSON.stringify(headers), "njected")
        assert.notInclude(target, "second")
        assert.match(target, /^\/[\x21-\x7e]*$/)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("cannot be given a second line by the operator's catalog either", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const catalog = protocolCatalog(gateway.simulator.url)
      for (const field of ["base_url", "api_key", "app_id"]) {
        for (const text of ["x\r\nX-Injected: 1", "x\ny", "x\u0000y"]) {
          const value = field === "base_url" ? `http://127.0.0.1/${text}` : text
          const answer = yield* gateway.admin("/catalog", {
            method: "PUT",
            json: {
              ...catalog,
              channels: catalog.channels.map((channel) => ({ ...channel, [field]: value }))
            }
          })
          assert.strictEqual(answer.status, 400, `${field} ${JSON.stringify(text)}`)
          assert.include(answer.text, `channels[0].${field}`)
        }
      }
    })
  )
})
