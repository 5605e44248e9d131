/** What an order of the AI SDK costs when the network, the vendor or the caller does not do as it should. */
import { assert, layer } from "@effect/vitest"
import {
  APICallError,
  DownloadError,
  embed,
  generateImage,
  generateText,
  experimental_generateVideo as generateVideo,
  RetryError
} from "ai"
import { Effect } from "effect"
import type { MediaGatewayProvider } from "../../src/ai-sdk/provider.ts"
import {
  behindProxy,
  cutting,
  losing,
  lostConnection,
  sdkCatalog,
  sdkOf
} from "../support/aiSdk.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { done, rejection } from "../support/officialClients.ts"
import { freePort } from "../support/postgresServer.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const prompt = "a lighthouse at dusk"
const poll = { intervalMs: 10 }

const accepted = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.book, (book) => book.filter(({ event }) => event === "accepted").length)
)

type Fetch = typeof globalThis.fetch

/** A gateway that has no place for orders, from one on and for so many. */
const refusing = (fetch: Fetch, from: number, times = Number.POSITIVE_INFINITY): Fetch => {
  let count = 0
  return async (input, init) => {
    if (init?.method !== "POST") return fetch(input, init)
    count += 1
    if (count <= from || count > from + times) return fetch(input, init)
    const error = { message: "no place", type: "server_error", param: null, code: "overloaded" }
    return Response.json({ error }, { status: 503, headers: { "retry-after": "0" } })
  }
}

/** Each kind of order, as a call that lasts until it is answered. */
const orders = {
  generateText: (provider: MediaGatewayProvider): Promise<unknown> =>
    generateText({ model: provider("talk-1"), prompt }),
  embed: (provider: MediaGatewayProvider): Promise<unknown> =>
    embed({ model: provider.embeddingModel("vector-1"), value: "one" }),
  generateImage: (provider: MediaGatewayProvider): Promise<unknown> =>
    generateImage({ model: provider.image("paint-1"), prompt }),
  generateVideo: (provider: MediaGatewayProvider): Promise<unknown> =>
    generateVideo({ model: provider.video("film-1"), prompt, poll })
}

layer(layerTestGateway("postgres", quickSettings, { catalogFor: sdkCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("orders of the AI SDK", (it) => {
  it.effect.each([
    ["generateText", "a lost answer", losing(1)],
    ["embed", "an answer that breaks off", cutting],
    ["generateImage", "a lost answer", losing(2)],
    ["generateImage", "an answer that breaks off", cutting],
    ["generateImage", "a proxy's 502", behindProxy],
    ["generateVideo", "a lost answer", losing(1)]
  ] as const)("%s through %s: answered, and paid once", ([name, , network]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders: sent } = yield* sdkOf(yield* gateway.customer("100"), network)
      const before = yield* accepted
      yield* done(() => orders[name](provider))
      assert.strictEqual((yield* accepted) - before, 1)
      assert.isAbove(sent().length, 1)
      assert.lengthOf(new Set(sent().map(({ key }) => key)), 1)
    })
  )

  it.effect.each([
    ["all its repeats are lost", losing(100)],
    ["its repeats are refused", (fetch: Fetch) => refusing(losing(1)(fetch), 1)]
  ] as const)("an order whose answer is lost is under one key though %s", ([, network]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders: sent } = yield* sdkOf(yield* gateway.customer("100"), network)
      const before = yield* accepted
      const model = provider.image("paint-1")
      const error = yield* rejection(() => generateImage({ model, prompt, maxRetries: 2 }))
      if (!APICallError.isInstance(error)) return assert.fail(String(error))
      assert.isFalse(error.isRetryable)
      assert.lengthOf(new Set(sent().map(({ key }) => key)), 1)
      assert.strictEqual((yield* accepted) - before, 1)
    })
  )

  it.effect("what never reached a gateway is the AI SDK's to repeat", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const baseURL = `http://127.0.0.1:${yield* Effect.promise(freePort)}`
      const { provider, orders: sent } = yield* sdkOf(who, undefined, { baseURL })
      const call = { model: provider.image("paint-1"), prompt, maxRetries: 0 }
      const error = yield* rejection(() => generateImage(call))
      if (!APICallError.isInstance(error)) return assert.fail(String(error))
      assert.isTrue(error.isRetryable)
      assert.lengthOf(sent(), 1)
    })
  )

  it.effect("the repeat of one of several orders of a call has that one's key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const keys: Array<string | null> = []
      const network = (fetch: Fetch): Fetch => {
        const refused = refusing(fetch, 0, 1)
        return (input, init) => {
          if (init?.method === "POST") keys.push(new Headers(init.headers).get("idempotency-key"))
          return refused(input, init)
        }
      }
      const who = yield* gateway.customer("10")
      const { provider } = yield* sdkOf(who, network)
      const headers = { "Idempotency-Key": `album-${who.memberId}` }
      const model = provider.image("paint-1")
      yield* done(() => generateImage({ model, prompt, n: 11, headers }))
      assert.deepStrictEqual(
        keys,
        ["", ".2", ""].map((end) => `album-${who.memberId}${end}`)
      )
      assert.strictEqual((yield* gateway.balance(who)).balance, "7.8")
    })
  )

  it.effect("an order that is still running is waited for", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* heldVendor
      const json = sdkCatalog(gateway.simulator.url, vendor.url)
      yield* gateway.admin("/catalog", { method: "PUT", json })
      const answers: Array<number> = []
      const network = (fetch: Fetch): Fetch => {
        let isSent = false
        return async (input, init) => {
          if (init?.method !== "POST") return new Response("a picture")
          if (!isSent) {
            isSent = true
            void fetch(input, init)
            await Effect.runPromise(vendor.asked)
            throw lostConnection()
          }
          const response = await fetch(input, init)
          answers.push(response.status)
          await Effect.runPromise(vendor.letGo)
          return response
        }
      }
      const who = yield* gateway.customer("10")
      const { provider, orders: sent } = yield* sdkOf(who, network)
      const model = provider.image("paint-held")
      const { images } = yield* done(() => generateImage({ model, prompt }))
      assert.lengthOf(images, 1)
      assert.deepStrictEqual([answers[0], answers.at(-1)], [409, 200])
      assert.lengthOf(new Set(sent().map(({ key }) => key)), 1)
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.8")
    })
  )

  it.effect.each([
    ["paint-unpriced", prompt, 400, "billing_unavailable", false],
    ["nobody", prompt, 404, "model_not_found", false],
    ["paint-1", "x sim:moderate-input", 400, "upstream_error", false],
    ["paint-1", "x sim:rate", 503, "upstream_error", true],
    ["paint-1", "x sim:lost", 502, "upstream_error", false],
    ["paint-unmounted", prompt, 503, "channel_unavailable", true]
  ] as const)("%s, %j: status %i, %s, retryable %s", ([id, text, ...facts]) =>
    Effect.gen(function* () {
      const [statusCode, code, isRetryable] = facts
      const gateway = yield* Gateway
      const { provider } = yield* sdkOf(yield* gateway.customer("10"))
      const model = provider.image(id)
      const error = yield* rejection(() => generateImage({ model, prompt: text, maxRetries: 0 }))
      if (!APICallError.isInstance(error)) return assert.fail(String(error))
      assert.deepInclude(error, { statusCode, isRetryable })
      assert.deepNestedInclude(error.data, { "error.code": code, "error.message": error.message })
    })
  )

  it.effect("errors of videos and texts say all that the gateway says", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider } = yield* sdkOf(yield* gateway.customer("0.0001"))
      const long = yield* rejection(() =>
        generateVideo({ model: provider.video("film-1"), prompt, duration: 99 })
      )
      if (!APICallError.isInstance(long)) return assert.fail(String(long))
      assert.deepNestedInclude(long.data, {
        "error.code": "video_sku_invalid",
        "error.param": "duration",
        "error.allowed": { min: 5, max: 15, smart: false },
        "error.nearest": 15
      })
      assert.include(long.message, "15")
      const sharp = yield* rejection(() =>
        generateVideo({
          model: provider.video("clip-1"),
          prompt,
          providerOptions: { mediaGateway: { resolution: "480p" } }
        })
      )
      if (!APICallError.isInstance(sharp)) return assert.fail(String(sharp))
      assert.deepNestedInclude(sharp.data, {
        "error.param": "resolution",
        "error.allowed": ["720p", "1080p", "4K"],
        "error.nearest": "720p"
      })
      assert.include(sharp.message, "720p")
      const poor = yield* rejection(() => generateText({ model: provider("talk-1"), prompt }))
      if (!APICallError.isInstance(poor)) return assert.fail(String(poor))
      assert.isFalse(poor.isRetryable)
      assert.deepNestedInclude(poor.data, { "error.code": "insufficient_balance" })
      assert.nestedProperty(poor.data, "error.required")
    })
  )

  it.effect.each([
    [404, 1],
    [500, 3]
  ] as const)(
    "images whose addresses answer %i are asked for %i times, and ordered once",
    ([status, times]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        let asked = 0
        const network =
          (fetch: Fetch): Fetch =>
          async (input, init) => {
            if (init?.method === "POST") return fetch(input, init)
            asked += 1
            return new Response("", { status })
          }
        const { provider, orders: sent } = yield* sdkOf(yield* gateway.customer("10"), network)
        const model = provider.image("paint-1")
        const error = yield* rejection(() => generateImage({ model, prompt }))
        assert.isTrue(DownloadError.isInstance(error))
        assert.strictEqual(asked, times)
        assert.lengthOf(sent(), 1)
      })
  )

  it.effect(
    "private addresses are loaded where the gateway is beside them or they are trusted",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        // The gateway as it is reached from elsewhere, whose vendor is at an address of this machine.
        const baseURL = "https://gateway.test"
        const network =
          (fetch: Fetch): Fetch =>
          (input, init) =>
            fetch(String(input).replace(baseURL, gateway.url), init)
        const strange = yield* sdkOf(who, network, { baseURL })
        const model = strange.provider.image("paint-1")
        const error = yield* rejection(() => generateImage({ model, prompt }))
        assert.isTrue(DownloadError.isInstance(error))
        assert.match(String(error), /not allowed/)
        const trustedOrigins = [gateway.simulator.url]
        const trusting = yield* sdkOf(who, network, { baseURL, trustedOrigins })
        const { image } = yield* done(() =>
          generateImage({ model: trusting.provider.image("paint-1"), prompt })
        )
        assert.strictEqual(image.mediaType, "image/png")
      })
  )

  it.effect("a call that is given up ends at once, and leaves no order behind it unsettled", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const { provider, orders: sent } = yield* sdkOf(who)
      const stop = new AbortController()
      const running = generateVideo({
        model: provider.video("film-1"),
        prompt: "x sim:polls=1000000",
        poll: { intervalMs: 10, delay: async () => stop.abort() },
        abortSignal: stop.signal
      })
      const error = yield* rejection(() => running)
      assert.strictEqual((error as Error).name, "AbortError")
      assert.lengthOf(sent(), 1)
      const images = yield* rejection(() =>
        generateImage({
          model: provider.image("paint-1"),
          prompt,
          abortSignal: AbortSignal.abort()
        })
      )
      assert.strictEqual((images as Error).name, "AbortError")
    })
  )

  it.effect("a seed and other fields are sent where the model tells that it takes them", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders: sent } = yield* sdkOf(yield* gateway.customer("10"))
      const { warnings } = yield* done(() =>
        generateImage({ model: provider.image("paint-b"), prompt, seed: 7 })
      )
      assert.deepStrictEqual(warnings, [])
      assert.deepInclude(sent()[0]?.body, { seed: 7 })
      const error = yield* rejection(() =>
        generateImage({
          model: provider.image("paint-1"),
          prompt,
          providerOptions: { mediaGateway: { stream: true } }
        })
      )
      assert.match(String(error), /providerOptions\.mediaGateway\.stream/)
      assert.isFalse(RetryError.isInstance(error))
      assert.lengthOf(sent(), 1)
    })
  )

  it.effect("leaves books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
