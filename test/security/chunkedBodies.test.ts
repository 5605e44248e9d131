import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const settings = {
  ...quickSettings,
  maxMediaBodyBytes: 64 * 1024 * 1024,
  // Room for the largest body four times, two of them one organisation's.
  bodyBudgetBytes: 256 * 1024 * 1024
}

/** An order whose length no header tells, as a proxy that streams would send it. */
const orderInChunks = (url: string, { key }: Customer, prompt: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const sent = request(`${url}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
    })
    sent.once("response", (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.once("error", (error) => resume(Effect.die(error)))
    sent.write('{"model":"paint-1",')
    sent.end(`"prompt":"${prompt}"}`)
    return Effect.sync(() => sent.destroy())
  })

/** An order whose body is sent when the gateway says that it wants it. */
const orderOnceAsked = (url: string, { key }: Customer, prompt: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const body = JSON.stringify({ model: "paint-1", prompt })
    const sent = request(`${url}/v1/images/generations`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": body.length,
        expect: "100-continue"
      }
    })
    sent.once("continue", () => sent.end(body))
    sent.once("response", (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.once("error", (error) => resume(Effect.die(error)))
    sent.flushHeaders()
    return Effect.sync(() => sent.destroy())
  })

const begun = '{"model":"paint-1","prompt":"'
const json = "content-type: application/json"
const whole = `content-length: ${settings.maxMediaBodyBytes}`

/** How bodies begin that may become the longest there are, and what comes of them then. */
const beginnings = {
  "declared length": {
    path: "/v1/images/generations",
    headers: [json, whole],
    first: begun,
    drip: "x"
  },
  "unknown length": {
    path: "/v1/images/generations",
    headers: [json, "transfer-encoding: chunked"],
    first: `${begun.length.toString(16)}\r\n${begun}\r\n`,
    drip: "1\r\nx\r\n"
  },
  "a form": {
    path: "/v1/audio/transcriptions",
    headers: ["content-type: multipart/form-data; boundary=b", whole],
    first: '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n',
    drip: "x"
  }
} as const

const dribble = (url: string, { key }: Customer, kind: keyof typeof beginnings) => {
  const { path, headers, first, drip } = beginnings[kind]
  const head = requestText(path, { key, headers }).replace("GET", "POST")
  return rawRequest(url, [head, first], { drip: drip.repeat(10_000) })
}

layer(layerTestGateway("postgres", settings), { excludeTestServices: true, timeout: "60 seconds" })(
  "bodies that come in pieces",
  (it) => {
    it.effect("are all taken, though none says its length and each might be the longest", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customer = yield* gateway.customer("100")
        const orders = Array.from({ length: 60 }, (_, index) =>
          orderInChunks(gateway.url, customer, `picture ${index}`)
        )
        const statuses = yield* Effect.all(orders, { concurrency: "unbounded" })
        assert.deepStrictEqual([...new Set(statuses)], [200])
        assert.strictEqual((yield* gateway.balance(customer)).balance, "88")
      })
    )

    it.effect.each(["declared length", "unknown length", "a form"] as const)(
      "that may become huge and are slow to come are in nobody's way: %s",
      (kind) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const slow = [yield* gateway.customer("100"), yield* gateway.customer("100")]
          const other = yield* gateway.customer("100")
          yield* Effect.forEach([...slow, ...slow, ...slow], (who) =>
            Effect.forkChild(dribble(gateway.url, who, kind))
          )
          // The seventh is the one that asks.
          yield* gateway.metrics.pipe(
            Effect.delay("10 millis"),
            Effect.repeat({
              until: ({ text }) => Number(/in_flight (\d+)/.exec(text)?.[1]) >= 7
            }),
            Effect.timeout("30 seconds")
          )
          for (const customer of [other, ...slow]) {
            const answer = yield* gateway.call("/v1/images/generations", {
              key: customer.key,
              json: { model: "paint-1", prompt: "x" }
            })
            assert.strictEqual(answer.status, 200, answer.text)
            const chunked = orderInChunks(gateway.url, customer, "x")
            assert.strictEqual(yield* Effect.timeout(chunked, "4 seconds"), 200)
          }
        })
    )

    it.effect("are asked for where the client waits for it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customer = yield* gateway.customer("100")
        assert.strictEqual(yield* orderOnceAsked(gateway.url, customer, "x".repeat(50_000)), 200)
      })
    )

    it.effect("are audited where the operator sends them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* gateway.admin("/organizations", { json: { name: "x".repeat(20_000) } })
        const { text } = yield* gateway.admin("/audit?limit=1")
        assert.include(text, '"name":"xxx')
      })
    )
  }
)
