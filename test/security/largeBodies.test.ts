/**
 * The largest and the worst bodies: what is too much is refused before it has all arrived, and the
 * rest is worked on while others are answered. `npm run pauses` tells how long the pauses are.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { type LargeBody, largeBodies } from "../support/largeBodies.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"
import { textCatalog } from "../support/textCatalog.ts"

const MEBIBYTE = 1024 * 1024
/** Media beside which the bounds of all else are small. */
const MEBIBYTES = 8

const bodies = largeBodies(MEBIBYTES)
const named = (refused: LargeBody["refused"]) =>
  bodies.filter((body) => body.refused === refused).map((body) => [body.what, body] as const)

layer(layerTestGateway("postgres", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a body", (it) => {
  it.effect.each(named("by its bytes"))("of %s is refused before its end has come", ([, body]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const bytes = body.make()
      const head = requestText(body.path, {
        key: who.key,
        headers: ["content-type: application/json", `content-length: ${bytes.length}`]
      }).replace("GET", "POST")
      const answer = yield* rawRequest(gateway.url, [head, bytes.subarray(0, -1)])
      assert.strictEqual(answer?.status, 400)
      assert.include(answer?.body, '"code":"invalid_request"')
      assert.include(answer?.body, "The body may have at most")
      assert.strictEqual((yield* gateway.balance(who)).balance, "100")
    })
  )

  it.effect.each(named("as a body"))("of %s is refused for what it says", ([, body]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* gateway.call(body.path, { key: who.key, body: body.make() })
      assert.strictEqual(answer.status, 400, answer.text)
      assert.include(answer.text, '"code":"invalid_request"')
      assert.notInclude(answer.text, "The body may have at most")
      assert.isBelow(answer.text.length, 2000)
    })
  )

  it.effect.each(named(null))("of %s is taken", ([, body]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000000")
      const sent = { key: who.key, body: body.make() }
      const headers = { "idempotency-key": "k" }
      const answer = yield* gateway.call(body.path, { ...sent, headers })
      // Whatever the vendor thinks of it.
      assert.match(answer.text, answer.status === 200 ? /^\{/ : /"code":"upstream_error"/)
      if (answer.status !== 200 || body.path === "/v1/quotes") return
      const again = yield* gateway.call(body.path, { ...sent, headers })
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true", again.text)
    })
  )

  it.effect("of many megabytes leaves others their turns while it is decoded", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const [who, other] = [yield* gateway.customer("100"), yield* gateway.customer("100")]
      const order = { key: other.key, json: { model: "paint-1", prompt: "x" } }
      const image = gateway.call("/v1/images/generations", order)
      yield* image
      let isSent = false
      const meanwhile: Array<number> = []
      const images = yield* Effect.forkChild(
        Effect.forever(
          Effect.suspend(() => {
            const begunAfter = isSent
            return Effect.map(image, ({ status }) => void (begunAfter && meanwhile.push(status)))
          })
        )
      )
      const medium = Buffer.alloc(MEBIBYTE, "A")
      const pieces = function* () {
        yield Buffer.from('{"model":"paint-1","prompt":"x","image":"data:image/png;base64,')
        for (let sent = 0; sent < 48; sent++) yield medium
        isSent = true
        // No JSON: what is answered was decoded to its end.
        yield Buffer.from('",}')
      }
      const status = yield* Effect.promise(async () => {
        const answer = await fetch(`${gateway.url}/v1/images/generations`, {
          method: "POST",
          headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
          body: ReadableStream.from(pieces()),
          duplex: "half"
        })
        return answer.status
      })
      yield* Fiber.interrupt(images)
      assert.strictEqual(status, 400)
      assert.isAtLeast(meanwhile.length, 1)
      assert.deepStrictEqual([...new Set(meanwhile)], [200])
    })
  )

  it.effect("of a quote takes no inline media, and says what to do instead", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("100")
      const image = `data:image/png;base64,${"A".repeat(MEBIBYTE)}`
      const json = { model: "paint-1", prompt: "x", image }
      const quote = yield* gateway.call("/v1/quotes", { key, json })
      assert.strictEqual(quote.status, 413, quote.text)
      assert.include(quote.text, "addresses in place of inline media")
      assert.strictEqual((yield* gateway.call("/v1/images/generations", { key, json })).status, 200)
    })
  )

  it.effect("may begin with a byte order mark, short or long", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      for (const length of [10, 50_000]) {
        const body = `\uFEFF${JSON.stringify({ model: "paint-1", prompt: "x".repeat(length) })}`
        const answer = yield* gateway.call("/v1/images/generations", { key: who.key, body })
        assert.strictEqual(answer.status, 200, answer.text)
      }
      assert.strictEqual((yield* gateway.balance(who)).balance, "0.6")
    })
  )

  it.effect("reaches the vendor as it was sent, whatever its media are made of", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("100")
      const vendor = yield* brokenVendor({ body: { choices: [{ message: { content: "x" } }] } })
      const catalog = textCatalog(vendor.url)(gateway.simulator.url)
      yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
      const long = (fill: string) => `data:text/plain,${fill.repeat(700_000)}`
      const content = [long("AB+/"), `${long("\\/")}\\"`, "黄昏".repeat(200_000), "x", "\uE0000"]
      const json = {
        messages: content.map((text) => ({ role: "user", content: text })),
        user: { [long("k").slice(0, 2000)]: 1 }
      }
      // Some clients escape the slashes of base64.
      const body = JSON.stringify({ model: "talk-held", ...json }).replaceAll("/", "\\/")
      const answer = yield* gateway.call("/v1/chat/completions", { key, body })
      assert.strictEqual(answer.status, 200, answer.text)
      const [received] = yield* vendor.requests
      assert.deepStrictEqual(JSON.parse(received?.body ?? ""), {
        model: "vendor-talk-held",
        ...json
      })
      assert.match(`${received?.headers["content-length"]}`, /^\d+$/)
    })
  )
})
