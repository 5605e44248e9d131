/** Google's models through the gateway: what is refused, what is charged, and how files are delivered. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { archiving, bucket, digest, inState, load } from "../support/archives.ts"
import { brokenVendor, type ReceivedRequest } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"
import { Amounts, quoteOf } from "../support/quotes.ts"
import { makeReceiver } from "../support/receiver.ts"

const KEY = "google-key"

const shot = {
  modality: "video",
  protocol: "veo",
  prices: { kind: "second_video", per_second: { "720p": "0.4", "1080p": "0.4" } }
} as const

const catalogAt = (base_url: string) => ({
  channels: [{ id: "google", name: "Google", base_url, api_key: KEY }],
  models: [
    { id: "shot", ...shot },
    { id: "shot-unknown", ...shot },
    { id: "shot-limited", ...shot, limits: { resolutions: ["1080p"] } } as const,
    {
      id: "sketch",
      modality: "image" as const,
      protocol: "gemini",
      prices: {
        kind: "image_tokens" as const,
        per_million_text_input: "2",
        per_million_image_input: "4",
        per_million_image_output: "120",
        most_output_tokens: 2000
      }
    }
  ],
  mounts: [
    { model: "shot", channel: "google", upstream_model: "veo-3.1-generate-preview" },
    { model: "shot-unknown", channel: "google", upstream_model: "veo-9" },
    { model: "shot-limited", channel: "google", upstream_model: "veo-3.1-generate-preview" },
    { model: "sketch", channel: "google", upstream_model: "gemini-3-pro-image-preview" }
  ]
})

/** A customer with 10 to spend, whose vendor is at the address. */
const customerAt = Effect.fnUntraced(function* (base_url: string) {
  const gateway = yield* Gateway
  const put = yield* gateway.admin("/catalog", { method: "PUT", json: catalogAt(base_url) })
  assert.strictEqual(put.status, 200, put.text)
  return yield* gateway.customer("10")
})

const customerOfSimulator = Effect.flatMap(Gateway, ({ simulator }) =>
  customerAt(`${simulator.url}/veo/v1beta`)
)

const balanceOf = (who: Customer) => Effect.flatMap(Gateway, (gateway) => gateway.balance(who))

const film = "the bytes of a film"
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8")
const mp4 = { headers: { "content-type": "video/mp4" }, body: film }

const open = (address: string) =>
  Effect.promise(async () => {
    const response = await fetch(address)
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
  })

/** A vendor whose operation is done at once, and whose file is at another host that wants no key. */
const redirectingVendor = Effect.gen(function* () {
  const files = yield* brokenVendor(mp4)
  const vendor = yield* brokenVendor(({ method, target, headers }) => {
    if (method === "POST") return { body: { name: "models/m/operations/1" } }
    if (target.includes("/files/")) {
      return headers["x-goog-api-key"] === KEY
        ? { status: 302, headers: { location: `${files.url}/film.mp4` } }
        : { status: 403, body: {} }
    }
    const uri = `http://${headers.host}/v1beta/files/a:download?alt=media`
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
    return { body: { name: "models/m/operations/1", done: true, response } }
  })
  return { files, vendor }
})

const keysOf = (requests: ReadonlyArray<ReceivedRequest>) =>
  requests.map(({ headers }) => headers["x-goog-api-key"] ?? null)

const picture = `data:image/png;base64,${Buffer.from("a picture").toString("base64")}`

layer(layerTestGateway("embedded", { ...quickSettings, webhookAllowPrivate: true }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("Google Veo", (it) => {
  it.effect("a video is charged by its seconds and served by the gateway", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfSimulator
      const id = yield* createVideo(who, { model: "shot", duration: 8, image: picture })
      const { content } = yield* finishVideo(who, id)
      const url = content?.video_url ?? ""
      const path = `/v1/videos/${id}/content`
      assert.isTrue(url.startsWith(`${gateway.url}${path}?token=`), url)
      assert.deepInclude(yield* balanceOf(who), { balance: "6.8", held: "0" })
      const byLink = yield* open(url)
      assert.strictEqual(byLink.status, 200)
      const byKey = yield* load(who, path)
      assert.strictEqual(byKey.headers.get("content-type"), "video/mp4")
      assert.strictEqual(digest(byKey.bytes), digest(byLink.bytes))
      const part = yield* load(who, path, { range: "bytes=0-9" })
      assert.strictEqual(part.status, 206)
      assert.deepStrictEqual(part.bytes, byLink.bytes.slice(0, 10))
    })
  )

  it.effect("a withheld video is a failure with the vendor's reason, and free", () =>
    Effect.gen(function* () {
      const who = yield* customerOfSimulator
      const id = yield* createVideo(who, { model: "shot", prompt: "a sim:moderate-output" })
      const { task_status, error } = yield* finishVideo(who, id)
      assert.strictEqual(task_status, "failed")
      assert.strictEqual(error?.code, "raiMediaFiltered")
      assert.include(error?.message, "we can't create videos with this content")
      assert.deepInclude(yield* balanceOf(who), { balance: "10", held: "0" })
    })
  )

  it.effect.each([
    [{ image: "https://files.test/1.png" }, "image", "Google loads no image from an address"],
    [{ duration: 4, resolution: "1080p" }, "duration", "Expected 8 seconds"],
    [{ generate_audio: false }, "generate_audio", "always makes sound"]
  ] as const)("what cannot be sent is refused before the hold: %j", ([json, param, says]) =>
    Effect.gen(function* () {
      const who = yield* customerOfSimulator
      const answer = yield* orderVideo(who, { model: "shot", ...json })
      assert.strictEqual(answer.status, 400, answer.text)
      const error = yield* errorOf(answer)
      assert.strictEqual(error.param, param)
      assert.include(error.message, says)
      assert.deepInclude(yield* balanceOf(who), { balance: "10", held: "0" })
    })
  )

  const references = {
    content: [picture, picture, picture].map((url) => ({
      type: "image_url",
      role: "reference_image",
      image_url: { url }
    }))
  }
  it.effect.each([
    [{ model: "shot" }, 4],
    [{ model: "shot", resolution: "1080p" }, 8],
    [{ model: "shot", ...references }, 8],
    [{ model: "shot-unknown", ...references }, 8],
    [{ model: "shot-limited" }, 8]
  ] as const)("an order without a duration has one that the vendor makes: %j", ([order, seconds]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfSimulator
      const json = { prompt: "a lighthouse", ...order }
      const quote = yield* bodyAs(Amounts, yield* quoteOf(who, json))
      assert.strictEqual(quote.hold, seconds === 8 ? "3.2" : "1.6")
      const id = yield* createVideo(who, json)
      assert.strictEqual((yield* balanceOf(who)).held, quote.hold)
      const sent = (yield* gateway.simulator.requests).findLast(({ method }) => method === "POST")
      assert.deepNestedInclude(sent?.body, { "parameters.durationSeconds": seconds })
      yield* finishVideo(who, id)
    })
  )

  it.effect("only 4, 6 and 8 seconds are offered", () =>
    Effect.gen(function* () {
      const who = yield* customerOfSimulator
      const answer = yield* orderVideo(who, { model: "shot", duration: 5 })
      const error = yield* errorOf(answer)
      assert.strictEqual(error.code, "video_sku_invalid")
      assert.include(error.message, "takes 4, 6, 8 seconds")
    })
  )

  it.effect("the key of the channel goes to the origin of its address alone", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { files, vendor } = yield* redirectingVendor
        const who = yield* customerAt(`${vendor.url}/v1beta`)
        const id = yield* createVideo(who, { model: "shot" })
        yield* finishVideo(who, id)
        const { status, bytes } = yield* load(who, `/v1/videos/${id}/content`)
        assert.strictEqual(status, 200)
        assert.strictEqual(textOf(bytes), film)
        assert.deepStrictEqual(new Set(keysOf(yield* vendor.requests)), new Set([KEY]))
        assert.deepStrictEqual(keysOf(yield* files.requests), [null])
      })
    )
  )

  it.effect("a file at another origin is served without the key", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const files = yield* brokenVendor(mp4)
        const uri = `${files.url}/film.mp4`
        const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
        const vendor = yield* brokenVendor(({ method }) => ({
          body: method === "POST" ? { name: "operations/2" } : { name: "a", done: true, response }
        }))
        const who = yield* customerAt(vendor.url)
        const id = yield* createVideo(who, { model: "shot" })
        const { content } = yield* finishVideo(who, id)
        assert.notInclude(content?.video_url, files.url)
        const { bytes } = yield* load(who, `/v1/videos/${id}/content`)
        assert.strictEqual(textOf(bytes), film)
        assert.deepStrictEqual(keysOf(yield* files.requests), [null])
      })
    )
  )

  it.effect("a vendor that redirects in a circle is given up", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const vendor = yield* brokenVendor(({ method, target, headers }) => {
          const uri = `http://${headers.host}/v1beta/files/a:download`
          if (method === "POST") return { body: { name: "operations/3" } }
          if (target.includes("/files/")) return { status: 302, headers: { location: uri } }
          const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
          return { body: { name: "a", done: true, response } }
        })
        const who = yield* customerAt(vendor.url)
        const id = yield* createVideo(who, { model: "shot" })
        yield* finishVideo(who, id)
        const { status } = yield* load(who, `/v1/videos/${id}/content`)
        assert.strictEqual(status, 502)
      })
    )
  )

  it.effect("a webhook without the gateway's address has no address of the vendor", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const receiver = yield* makeReceiver()
        const who = yield* customerOfSimulator
        yield* createVideo(who, { model: "shot", callback_url: `${receiver.url}/hooks` })
        yield* receiver.awaited(1)
        const [message] = receiver.received
        assert.propertyVal(message?.body.data, "task_status", "succeeded")
        assert.notProperty(message?.body.data, "content")
        assert.notInclude(message?.text, gateway.simulator.url)
      })
    )
  )
})

const Images = Schema.Struct({
  data: Schema.NonEmptyArray(Schema.Struct({ b64_json: Schema.String }))
})

const orderSketch = (who: Customer, json: object, path = "generations", headers = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/images/${path}`, {
      key: who.key,
      json: { model: "sketch", prompt: "a lighthouse", ...json },
      headers
    })
  )

const customerOfImages = Effect.flatMap(Gateway, ({ simulator }) =>
  customerAt(`${simulator.url}/gemini/v1beta`)
)

layer(layerTestGateway("embedded", quickSettings), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("Gemini's images", (it) => {
  it.effect("an image is charged by the tokens of its kinds, with a receipt", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfImages
      const answer = yield* orderSketch(who, {
        image: picture,
        size: "1K",
        aspect_ratio: "3:2"
      })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data } = yield* bodyAs(Images, answer)
      assert.lengthOf(data, 1)
      assert.strictEqual(Buffer.from(data[0].b64_json, "base64").toString("latin1", 1, 4), "PNG")
      // 12 tokens of text, 258 of an image, and 1290 of the new one.
      assert.deepInclude(yield* gateway.balance(who), { balance: "9.844144", held: "0" })
      const usage = yield* gateway.call("/v1/usage?limit=1", { key: who.key })
      const [entry] = (yield* bodyAs(list(UsageEntry), usage)).data
      assert.strictEqual(entry?.charge, "0.155856")
      const receipt = yield* gateway.call(`/v1/usage/${entry?.id}`, { key: who.key })
      const { charge, explanation, parts } = yield* bodyAs(ReceiptView, receipt)
      assert.strictEqual(charge, "0.155856")
      assert.deepStrictEqual(parts, entry?.parts)
      for (const count of ["12", "258", "1290"]) assert.include(explanation, count)
    })
  )

  it.effect("several images have a call each, and edits are orders with images", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfImages
      const several = yield* bodyAs(Images, yield* orderSketch(who, { n: 2, size: "512" }))
      assert.lengthOf(several.data, 2)
      const edit = yield* orderSketch(who, { image: [picture, picture] }, "edits")
      assert.strictEqual(edit.status, 200, edit.text)
      const requests = yield* gateway.simulator.requests
      const sent = requests.filter(
        ({ method, protocol }) => method === "POST" && protocol === "gemini"
      )
      assert.nestedPropertyVal(sent.at(-1)?.body, "contents[0].parts.length", 3)
    })
  )

  it.effect.each(["sim:moderate-input", "sim:moderate-output"])(
    "a refusal of the content is one, and free: %s",
    (word) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* customerOfImages
        const answer = yield* orderSketch(who, { prompt: `a ${word}` })
        assert.strictEqual(answer.status, 400, answer.text)
        assert.strictEqual((yield* errorOf(answer)).code, "upstream_error")
        assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
      })
  )

  it.effect.each([
    [{ image: "https://files.test/1.png" }, "image"],
    [{ size: "1024x1024" }, "size"],
    [{ response_format: "url" }, "response_format"],
    [{ aspect_ratio: "7:5" }, "aspect_ratio"],
    [{ quality: "high" }, "quality"]
  ] as const)("what cannot be sent is refused before the hold: %j", ([json, param]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfImages
      const answer = yield* orderSketch(who, json)
      assert.strictEqual(answer.status, 400, answer.text)
      assert.strictEqual((yield* errorOf(answer)).param, param)
      assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
    })
  )

  it.effect("images that are read later need an archive", () =>
    Effect.gen(function* () {
      const who = yield* customerOfImages
      const answer = yield* orderSketch(who, {}, "generations", { prefer: "respond-async" })
      assert.strictEqual(answer.status, 400, answer.text)
      assert.strictEqual((yield* errorOf(answer)).param, "prefer")
    })
  )
})

layer(layerTestGateway("embedded", { ...archiving, archiveRedirect: true }, { bucket }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("Google Veo with an archive", (it) => {
  it.effect("a file is copied with the key, and served when the vendor has dropped it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { files, vendor } = yield* redirectingVendor
        const who = yield* customerAt(`${vendor.url}/v1beta`)
        const id = yield* createVideo(who, { model: "shot" })
        yield* finishVideo(who, id)
        yield* inState(id, "kept")
        const loaded = (yield* files.requests).length
        const { bytes } = yield* load(who, `/v1/videos/${id}/content`)
        assert.strictEqual(textOf(bytes), film)
        assert.strictEqual((yield* files.requests).length, loaded)
        assert.deepStrictEqual(new Set(keysOf(yield* files.requests)), new Set([null]))
      })
    )
  )

  it.effect("an uploaded file goes out as bytes, also where others go by address", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customerOfSimulator
      const form = new FormData()
      form.set("purpose", "vision")
      // A picture of one pixel.
      const bytes = Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64"
      )
      form.set("file", new Blob([bytes], { type: "image/png" }), "a.png")
      const upload = yield* Effect.promise(async () => {
        const answer = await fetch(`${gateway.url}/v1/files`, {
          method: "POST",
          headers: { authorization: `Bearer ${who.key}` },
          body: form
        })
        return answer.json()
      })
      const { id: image } = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(upload)
      const id = yield* createVideo(who, { model: "shot", image, duration: 8 })
      yield* finishVideo(who, id)
      const requests = yield* gateway.simulator.requests
      const order = requests.findLast(
        ({ method, protocol }) => method === "POST" && protocol === "veo"
      )
      assert.nestedPropertyVal(order?.body, "instances[0].image.mimeType", "image/png")
      assert.nestedPropertyVal(
        order?.body,
        "instances[0].image.bytesBase64Encoded",
        bytes.toString("base64")
      )
    })
  )
})
