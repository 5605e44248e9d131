/** The AI SDK's functions with our own provider, as their documentation has them. */
import type { JSONSchema7 } from "@ai-sdk/provider"
import { assert, layer } from "@effect/vitest"
import {
  createProviderRegistry,
  embed,
  embedMany,
  generateImage,
  generateText,
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  experimental_startVideo as startVideo,
  streamText
} from "ai"
import { Effect } from "effect"
import { mediaGateway } from "../../src/ai-sdk/provider.ts"
import { sdkCatalog, sdkOf } from "../support/aiSdk.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { done, rejection } from "../support/officialClients.ts"
import { finishVideo } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { webhookSettings } from "../support/webhooks.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const prompt = "a lighthouse at dusk"
const poll = { intervalMs: 10 }
const PNG = new Uint8Array(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"))
const picture = `data:image/png;base64,${Buffer.from(PNG).toString("base64")}`

const spent = Effect.fnUntraced(function* (who: Parameters<typeof sdkOf>[0], of: number) {
  const gateway = yield* Gateway
  return (of - Number((yield* gateway.balance(who)).balance)).toFixed(3)
})

/** What the vendors have taken on since. */
const watchOrders = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const before = (yield* simulator.book).length
  return {
    orders: Effect.map(simulator.book, (book) =>
      book.slice(before).flatMap((entry) => (entry.event === "accepted" ? [entry.order] : []))
    )
  }
})

/** The last request to a vendor that ordered something, as it was on the wire. */
const lastOrder = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.requests, (seen) => seen.filter(({ method }) => method === "POST").at(-1))
)

layer(layerTestGateway("postgres", webhookSettings, { catalogFor: sdkCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the AI SDK with media-gateway/ai-sdk", (it) => {
  it.effect("generateText and streamText, with what they used", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider } = yield* sdkOf(yield* gateway.customer("10"))
      const model = provider("talk-1")
      const whole = yield* done(() => generateText({ model, prompt }))
      const { text, usage } = yield* done(async () => {
        const streamed = streamText({ model, prompt })
        return { text: await streamed.text, usage: await streamed.usage }
      })
      assert.isAbove(whole.text.length, 0)
      assert.strictEqual(text, whole.text)
      assert.isAbove(usage.outputTokens ?? 0, 0)
      assert.strictEqual(usage.outputTokens, whole.usage.outputTokens)
      assert.isAbove(usage.inputTokens ?? 0, 0)
    })
  )

  it.effect("the JSON schema of an output reaches the vendor", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders } = yield* sdkOf(yield* gateway.customer("10"))
      const schema: JSONSchema7 = {
        type: "object",
        properties: { height: { type: "number" } },
        required: ["height"],
        additionalProperties: false
      }
      const output = Output.object({ schema: jsonSchema(schema) })
      // The text of a simulated vendor need not be JSON; only the request matters here.
      yield* done(() =>
        generateText({ model: provider("talk-1"), prompt, output }).catch((error: unknown) => {
          if (!NoObjectGeneratedError.isInstance(error)) throw error
        })
      )
      const format = {
        type: "json_schema",
        json_schema: { schema, strict: true, name: "response" }
      }
      for (const order of [orders()[0], yield* lastOrder]) {
        assert.deepInclude(order?.body, { response_format: format })
      }
    })
  )

  it.effect("embed and embedMany, by a registry too", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider } = yield* sdkOf(yield* gateway.customer("10"))
      const registry = createProviderRegistry({ mg: provider })
      const model = registry.embeddingModel("mg:vector-1")
      const one = yield* done(() => embed({ model, value: "one" }))
      const two = yield* done(() =>
        embedMany({ model: provider.textEmbeddingModel("vector-1"), values: ["one", "two"] })
      )
      assert.strictEqual(one.embedding.length, 8)
      assert.deepStrictEqual(two.embeddings[0], one.embedding)
    })
  )

  it.effect(
    "generateImage: bytes from a local gateway, facts beside them, the key kept at home",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const { provider, sent } = yield* sdkOf(who)
        const { image, warnings, providerMetadata, responses } = yield* done(() =>
          generateImage({
            model: provider.image("paint-1"),
            prompt,
            size: "256x256",
            aspectRatio: "1:1",
            seed: 7,
            providerOptions: { mediaGateway: { user: "ada" } }
          })
        )
        assert.strictEqual(image.mediaType, "image/png")
        assert.deepStrictEqual(
          warnings.map((warning) => warning.type === "unsupported" && warning.feature),
          ["aspectRatio", "seed"]
        )
        const [facts] = providerMetadata.mediaGateway?.images ?? []
        assert.match(JSON.stringify(facts), /^\{"url":"http:\/\/127/)
        assert.match(responses[0]?.headers?.["x-request-id"] ?? "", /^req_/)
        const [order] = sent.filter(({ method }) => method === "POST")
        assert.deepStrictEqual(order?.body, {
          prompt,
          n: 1,
          size: "256x256",
          user: "ada",
          model: "paint-1"
        })
        const file = sent.at(-1)
        assert.deepInclude(file, { method: "GET", authorization: null })
        assert.strictEqual(yield* spent(who, 10), "0.200")
      })
  )

  it.effect("generateImage: more than one order has are several, each under a key of its own", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider, orders } = yield* sdkOf(who)
      const model = provider.imageModel("paint-1")
      const many = { model, prompt, n: 21, size: "64x64" } as const
      const { images } = yield* done(() => generateImage(many))
      assert.lengthOf(images, 21)
      assert.lengthOf(new Set(orders().map(({ key }) => key)), 3)
      const headers = { "Idempotency-Key": `album-${who.memberId}` }
      const own = yield* done(() => generateImage({ ...many, headers }))
      assert.lengthOf(own.images, 21)
      assert.deepStrictEqual(
        orders()
          .slice(3)
          .map(({ key }) => key)
          .toSorted(),
        ["", ".2", ".3"].map((end) => `album-${who.memberId}${end}`)
      )
      const again = yield* done(() => generateImage({ ...many, headers }))
      assert.lengthOf(again.images, 21)
      assert.strictEqual(yield* spent(who, 10), "8.400")
    })
  )

  it.effect("generateImage: from pictures", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders } = yield* sdkOf(yield* gateway.customer("10"))
      const vendor = yield* watchOrders
      const model = provider.imageModel("paint-b")
      for (const images of [
        [PNG, PNG],
        [PNG, "https://files.test/2.png"]
      ]) {
        const made = yield* done(() =>
          generateImage({ model, prompt: { text: prompt, images }, n: 2 })
        )
        assert.lengthOf(made.images, 2)
      }
      const taken = yield* vendor.orders
      assert.lengthOf(taken, 2)
      for (const order of taken) {
        assert.deepInclude(order, { n: 2, inputs: { images: 2, videos: 0, audios: 0 } })
      }
      const before = orders().length
      // Whether a mask is taken is the protocol's business: it is never left out.
      const masked = { text: prompt, images: [PNG], mask: PNG }
      yield* Effect.exit(Effect.tryPromise(() => generateImage({ model, prompt: masked })))
      const standard = provider.imageModel("paint-1")
      const changed = yield* done(() => generateImage({ model: standard, prompt: masked }))
      assert.lengthOf(changed.images, 1)
      const [edit, second, ...others] = orders().slice(before)
      assert.strictEqual(edit?.path, "/v1/images/edits")
      assert.sameMembers(edit?.body as Array<string>, ["prompt", "n", "model", "image", "mask"])
      assert.strictEqual(second?.path, "/v1/images/edits")
      assert.deepStrictEqual(others, [])
    })
  )

  it.effect("generateVideo: a text, with what was asked for exactly or a warning", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const { provider, sent } = yield* sdkOf(who)
      const { orders } = yield* watchOrders
      const { videos, warnings, providerMetadata } = yield* done(() =>
        generateVideo({
          model: provider.video("film-1"),
          prompt,
          n: 2,
          duration: 6,
          resolution: "1080x1920",
          aspectRatio: "9:16",
          generateAudio: false,
          fps: 30,
          seed: 7,
          poll,
          providerOptions: { mediaGateway: { metadata: { project: "lighthouse" } } }
        })
      )
      assert.lengthOf(videos, 2)
      assert.strictEqual(videos[0]?.mediaType, "video/mp4")
      assert.include(Buffer.from(videos[0]?.uint8Array.subarray(0, 12) ?? []).toString(), "ftyp")
      const made = { seconds: 6, resolution: "1080p", ratio: "9:16", generate_audio: false }
      for (const order of yield* orders) assert.deepInclude(order, made)
      assert.deepStrictEqual(
        warnings.map((warning) => warning.type === "unsupported" && warning.feature),
        ["fps", "fps"]
      )
      assert.lengthOf(providerMetadata.mediaGateway?.videos as Array<unknown>, 2)
      const keys = sent.flatMap(({ method, key }) => (method === "POST" ? [key] : []))
      assert.lengthOf(new Set(keys), 2)
      for (const key of keys) assert.match(key ?? "", /^aisdk_vid_/)
      const usage = yield* gateway.call("/v1/usage?tag=project=lighthouse", { key: who.key })
      assert.deepInclude(usage.body, { has_more: false })
      assert.include(usage.text, '"model":"film-1"')
    })
  )

  it.effect("generateVideo: first and last frame, references, and what is refused unpaid", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const { provider, orders } = yield* sdkOf(who)
      const model = provider.videoModel("film-1")
      yield* done(() =>
        generateVideo({
          model,
          prompt: { image: PNG, text: prompt },
          frameImages: [{ image: "https://files.test/last.png", frameType: "last_frame" }],
          aspectRatio: "adaptive",
          poll
        })
      )
      const image = (role: string, url: string) => ({ type: "image_url", role, image_url: { url } })
      const frames = [
        image("first_frame", picture),
        image("last_frame", "https://files.test/last.png")
      ]
      assert.deepStrictEqual(orders()[0]?.body, {
        prompt,
        content: frames,
        ratio: "adaptive",
        model: "film-1"
      })
      assert.include(JSON.stringify((yield* lastOrder)?.body), '"role":"last_frame"')
      const { warnings } = yield* done(() =>
        generateVideo({
          model,
          prompt,
          inputReferences: [
            PNG,
            { data: "https://files.test/1.mp4", mediaType: "video/mp4" },
            { data: "https://files.test/1.mp3", mediaType: "audio/mpeg" },
            { data: "https://files.test/1.pdf", mediaType: "application/pdf" }
          ],
          poll
        })
      )
      assert.deepInclude(warnings, {
        type: "unsupported",
        feature: "inputReferences",
        details: "A file of type application/pdf is left out."
      })
      const roles = [...JSON.stringify(orders()[1]?.body).matchAll(/"role":"(\w+)"/g)]
      assert.deepStrictEqual(
        roles.map(([, role]) => role),
        ["reference_image", "reference_video", "reference_audio"]
      )
      const count = orders().length
      for (const shape of [
        { resolution: "1000x1000" },
        { resolution: "1280x720", aspectRatio: "1:1" }
      ] as const) {
        const error = yield* rejection(() => generateVideo({ model, prompt, poll, ...shape }))
        assert.match(String(error), /resolution|aspect ratio/)
      }
      assert.strictEqual(orders().length, count)
    })
  )

  it.effect("generateVideo: a webhook tells the end, and a failed one costs nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const { provider, sent } = yield* sdkOf(who)
      const receiver = yield* makeReceiver()
      const call = (text: string, count: number) => ({
        model: provider.video("film-1"),
        prompt: text,
        webhook: async () => ({
          url: `${receiver.url}/done`,
          received: Effect.runPromise(
            Effect.map(receiver.awaited(count), () => ({ headers: {}, body: {} }))
          )
        })
      })
      const { video } = yield* done(() => generateVideo(call(prompt, 1)))
      assert.isAbove(video.uint8Array.length, 0)
      assert.strictEqual(receiver.received[0]?.body.type, "video.completed")
      const reads = sent.filter(({ path }) => path.startsWith("/v1/videos/vt_"))
      assert.lengthOf(reads, 1)
      const paid = yield* spent(who, 100)
      const error = yield* rejection(() => generateVideo(call("x sim:fail", 2)))
      assert.match(String(error), /\(vt_[\w-]+, \w+\)/)
      assert.strictEqual(yield* spent(who, 100), paid)
    })
  )

  it.effect(
    "startVideo here and getVideoStatus elsewhere, with the address in the environment",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        process.env.GATEWAY_URL = `${gateway.url}/v1/`
        process.env.GATEWAY_KEY = who.key
        const model = mediaGateway.videoModel("clip-1")
        const { operation } = yield* done(() => startVideo({ model, prompt, duration: 3 }))
        assert.match(String(operation), /^vt_/)
        yield* finishVideo(who, String(operation))
        const status = yield* done(() => getVideoStatus(model, { operation }))
        assert.strictEqual(status.status, "completed")
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            delete process.env.GATEWAY_URL
            delete process.env.GATEWAY_KEY
          })
        )
      )
  )

  it.effect("models lists what the key may order with its limits, in one request", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, sent } = yield* sdkOf(yield* gateway.customer("0"))
      const videos = yield* done(() => provider.models({ modality: "video" }))
      assert.deepStrictEqual([...new Set(videos.map(({ modality }) => modality))], ["video"])
      const listed = yield* gateway.call("/v1/models?modality=video", {
        key: (yield* gateway.customer("0")).key
      })
      assert.deepStrictEqual({ object: "list", data: videos }, listed.body)
      const film = videos.find(({ id }) => id === "film-1")
      assert.deepStrictEqual(film?.durations, { min: 5, max: 15, default: 5, smart: false })
      const all = yield* done(() => provider.models())
      const paint = all.find(({ id }) => id === "paint-1")
      assert.strictEqual(paint?.images?.max, provider.image("paint-1").maxImagesPerCall)
      assert.deepStrictEqual(
        sent.map(({ method, path }) => `${method} ${path}`),
        ["GET /v1/models", "GET /v1/models"]
      )
    })
  )

  it.effect("names what is missing where it knows neither address nor key", () =>
    Effect.gen(function* () {
      const error = yield* rejection(() => generateText({ model: mediaGateway("talk-1"), prompt }))
      assert.match(String(error), /GATEWAY_URL/)
    })
  )

  it.effect("leaves books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
