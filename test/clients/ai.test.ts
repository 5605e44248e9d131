/** The gateway as a provider of the official `ai` package. */
import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import {
  APICallError,
  DownloadError,
  embed,
  embedMany,
  generateImage,
  generateText,
  RetryError,
  StreamProviderError,
  streamText
} from "ai"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { aiProviderOf, done, rejection, watchedFetch } from "../support/officialClients.ts"
import { textCatalog } from "../support/textCatalog.ts"

const prompt = "a lighthouse at dusk"

/** Without it the package asks for nothing in particular, gets addresses and fetches them. */
const inline = { gateway: { response_format: "b64_json" } }

const accepted = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.book, (book) => book.filter(({ event }) => event === "accepted").length)
)

layer(layerTestGateway("postgres", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the ai package", (it) => {
  it.effect("makes images", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const provider = yield* aiProviderOf(who)
      const { images, image } = yield* done(() =>
        generateImage({
          model: provider.imageModel("paint-1"),
          prompt,
          n: 2,
          size: "256x256",
          providerOptions: inline
        })
      )
      assert.strictEqual(images.length, 2)
      assert.strictEqual(image.mediaType, "image/png")
      assert.strictEqual((yield* gateway.balance(who)).balance, "9.6")
    })
  )

  it.effect("does not fetch images from addresses of a private network, and pays once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const before = yield* accepted
      const error = yield* rejection(() =>
        generateImage({ model: provider.imageModel("paint-1"), prompt })
      )
      assert.isTrue(DownloadError.isInstance(error))
      assert.strictEqual((yield* accepted) - before, 1)
    })
  )

  it.effect("has a text written, as a whole and bit by bit, and knows its tokens", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const model = provider("talk-1")
      const whole = yield* done(() => generateText({ model, prompt }))
      assert.strictEqual(whole.finishReason, "stop")
      assert.isAbove(whole.usage.outputTokens ?? 0, 0)
      const streamed = yield* done(async () => {
        const { textStream, usage } = streamText({ model, prompt })
        const pieces: Array<string> = []
        for await (const piece of textStream) pieces.push(piece)
        return { pieces, usage: await usage }
      })
      assert.isAbove(streamed.pieces.length, 2)
      assert.strictEqual(streamed.pieces.join(""), whole.text)
      assert.deepInclude(streamed.usage, {
        inputTokens: whole.usage.inputTokens,
        outputTokens: whole.usage.outputTokens
      })
    })
  )

  it.effect("shows images to a model that sees", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const { usage } = yield* done(() =>
        generateText({
          model: provider("look-1"),
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "what is this?" },
                {
                  type: "file",
                  mediaType: "image/png",
                  data: Buffer.from("iVBORw0KGgo=", "base64")
                }
              ]
            }
          ]
        })
      )
      assert.isAbove(usage.inputTokens ?? 0, 85)
    })
  )

  it.effect("gets vectors", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const model = provider.embeddingModel("vector-1")
      const one = yield* done(() => embed({ model, value: "one" }))
      const two = yield* done(() => embedMany({ model, values: ["one", "two"] }))
      assert.strictEqual(one.embedding.length, 8)
      assert.deepEqual(two.embeddings[0], one.embedding)
      assert.strictEqual(two.embeddings.length, 2)
      assert.isAbove(two.usage.tokens, one.usage.tokens)
    })
  )

  it.effect.each([
    ["paint-unpriced", prompt, 400, "billing_unavailable", false],
    ["nobody", prompt, 404, "model_not_found", false],
    ["paint-1", "x sim:moderate-input", 400, "upstream_error", false],
    ["paint-1", "x sim:rate", 503, "upstream_error", true],
    ["paint-unmounted", prompt, 503, "channel_unavailable", true]
  ] as const)("%s, %j: an error of status %i with the gateway's code", ([id, text, ...facts]) =>
    Effect.gen(function* () {
      const [status, code, isRetryable] = facts
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const error = yield* rejection(() =>
        generateImage({ model: provider.imageModel(id), prompt: text, maxRetries: 0 })
      )
      if (!APICallError.isInstance(error)) return assert.fail(String(error))
      assert.deepInclude(error, { statusCode: status, isRetryable })
      const body: unknown = JSON.parse(error.responseBody ?? "")
      assert.deepNestedInclude(body, { "error.code": code, "error.message": error.message })
      assert.match(error.responseHeaders?.["x-request-id"] ?? "", /^req_/)
    })
  )

  it.effect("learns in mid-stream what became of the rest", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* aiProviderOf(yield* gateway.customer("10"))
      const { pieces, errors } = yield* done(async () => {
        const pieces: Array<string> = []
        const errors: Array<unknown> = []
        const { textStream } = streamText({
          model: provider("talk-1"),
          prompt: "x sim:breaks=4",
          onError: ({ error }) => void errors.push(error)
        })
        for await (const piece of textStream) pieces.push(piece)
        return { pieces, errors }
      })
      assert.isAbove(pieces.join("").length, 0)
      assert.strictEqual(errors.length, 1)
      const [error] = errors
      if (!StreamProviderError.isInstance(error)) return assert.fail(String(error))
      assert.deepInclude(error, { code: "upstream_error", isRetryable: false })
    })
  )

  it.effect("asks again whatever the gateway says, and is not paid twice under a key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { seen, fetch } = watchedFetch()
      const provider = yield* aiProviderOf(who, fetch)
      const before = yield* accepted
      const error = yield* rejection(() =>
        generateImage({
          model: provider.imageModel("paint-1"),
          prompt: "x sim:lost",
          maxRetries: 1,
          headers: { "Idempotency-Key": randomUUID() }
        })
      )
      assert.isTrue(RetryError.isInstance(error))
      assert.deepEqual(seen, [502, 502])
      assert.strictEqual((yield* accepted) - before, 1)
    })
  )

  it.effect("leaves books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
