/** Files that are uploaded by the `openai` package, and what vendors get of orders that refer to them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Settings } from "../../../src/runtime/Settings.ts"
import { loadClip } from "../../../src/simulator/media/clip.ts"
import { archiving, bucket, digest, load } from "../../support/archives.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../../support/gateway.ts"
import { done, openaiOf, rejection } from "../../support/officialClients.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../../support/orders.ts"
import { Amounts, quoteOf } from "../../support/quotes.ts"
import { fileNamed, MP3, PNG, uploaded } from "../../support/uploads.ts"
import { inline } from "../../support/videoFiles.ts"

const Marker = Schema.Struct({
  media_type: Schema.String,
  bytes: Schema.Int,
  sha256: Schema.String
})
const Sent = Schema.Union([Schema.String, Marker])
/** What the last request to the vendors says of its media: markers of inline ones, or addresses. */
const sentMedia = (pick: (body: unknown) => ReadonlyArray<typeof Sent.Type>) =>
  Effect.gen(function* () {
    const { simulator } = yield* Gateway
    const requests = yield* simulator.requests
    const ordered = requests.filter(({ method }) => method === "POST").at(-1)
    return pick(ordered?.body)
  })

const Content = Schema.Struct({
  content: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      image_url: Schema.optionalKey(Schema.Struct({ url: Sent })),
      audio_url: Schema.optionalKey(Schema.Struct({ url: Sent })),
      video_url: Schema.optionalKey(Schema.Struct({ url: Sent }))
    })
  )
})
const mediaOfVideo = (body: unknown) =>
  Schema.decodeUnknownSync(Content)(body).content.flatMap(
    ({ image_url, audio_url, video_url }) => (image_url ?? audio_url ?? video_url)?.url ?? []
  )

const ImagesSent = Schema.Struct({ image: Sent, images: Schema.Array(Sent) })
const mediaOfImages = (body: unknown) => {
  const { image, images } = Schema.decodeUnknownSync(ImagesSent)(body)
  return [image, ...images]
}

/** The bytes that a vendor has of it, as their digest. */
const digestOf = (sent: typeof Sent.Type) =>
  typeof sent === "string"
    ? Effect.promise(async () => digest(new Uint8Array(await (await fetch(sent)).arrayBuffer())))
    : Effect.succeed(sent.sha256)

const hold = (who: Customer, order: object) =>
  Effect.map(
    Effect.flatMap(quoteOf(who, order), (answer) => bodyAs(Amounts, answer)),
    (quote) => quote.hold
  )

const edit = (who: Customer, images: unknown) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/images/edits", {
      key: who.key,
      json: { model: "paint-1", prompt: "at dusk", images }
    })
  )

const ways: ReadonlyArray<
  readonly [string, "embedded" | "postgres", Settings, { bucket?: typeof bucket }]
> = [
  ["in the embedded database", "embedded", quickSettings, {}],
  ["in PostgreSQL", "postgres", quickSettings, {}],
  ["in a bucket that vendors cannot reach", "postgres", archiving, { bucket }],
  [
    "in a bucket that is reached from outside",
    "postgres",
    { ...archiving, archiveRedirect: true },
    { bucket }
  ]
]

for (const [where, kind, settings, options] of ways) {
  layer(layerTestGateway(kind, settings, options), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`files ${where}`, (it) => {
    it.effect("are uploaded, read, listed, loaded and deleted", () =>
      Effect.gen(function* () {
        const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
        const client = yield* openaiOf(who)
        // Longer than two chunks, and no whole number of them.
        const bytes = Buffer.concat([PNG, Buffer.alloc(1_700_001, "more")])
        const upload = (name: string, purpose: "vision" | "user_data", seconds?: number) =>
          done(() =>
            client.files.create({
              file: fileNamed(name, bytes, "text/plain"),
              purpose,
              ...(seconds === undefined ? {} : { expires_after: { anchor: "created_at", seconds } })
            })
          )
        const file = yield* upload("a \u202e灯塔.png", "vision")
        assert.match(file.id, /^file_[0-9a-f-]{36}$/)
        assert.deepInclude(file, {
          object: "file",
          bytes: bytes.length,
          filename: "a 灯塔.png",
          purpose: "vision",
          status: "processed"
        })
        assert.strictEqual((file.expires_at ?? 0) - file.created_at, 24 * 3600)
        const short = yield* upload("b.png", "user_data", 3600)
        assert.strictEqual((short.expires_at ?? 0) - short.created_at, 3600)

        assert.deepStrictEqual(yield* done(() => client.files.retrieve(file.id)), file)
        const listed = yield* done(() => client.files.list({ limit: 1 }))
        const all = yield* Effect.promise(async () => {
          const ids: Array<string> = []
          for await (const { id } of listed) ids.push(id)
          return ids
        })
        assert.deepStrictEqual(all, [short.id, file.id])
        const vision = yield* done(() => client.files.list({ purpose: "vision" }))
        assert.deepStrictEqual(vision.data, [file])

        const content = yield* done(() => client.files.content(file.id))
        assert.strictEqual(content.headers.get("content-type"), "image/png")
        assert.match(content.headers.get("content-security-policy") ?? "", /(?:^|; )sandbox$/)
        assert.strictEqual(content.headers.get("x-content-type-options"), "nosniff")
        const loaded = yield* Effect.promise(
          async () => new Uint8Array(await content.arrayBuffer())
        )
        assert.strictEqual(digest(loaded), digest(bytes))
        const path = `/v1/files/${file.id}/content`
        const part = yield* load(who, path, { range: "bytes=786000-1600000" })
        assert.strictEqual(part.status, 206)
        assert.strictEqual(digest(part.bytes), digest(bytes.subarray(786_000, 1_600_001)))
        const etag = `"${digest(bytes)}"`
        assert.strictEqual((yield* load(who, path, { "if-none-match": etag })).status, 304)

        const deleted = yield* done(() => client.files.delete(file.id))
        assert.deepStrictEqual(deleted, { id: file.id, object: "file", deleted: true })
        const gone = yield* rejection(() => client.files.retrieve(file.id))
        assert.deepInclude(gone, { status: 404, code: "not_found" })
        assert.strictEqual((yield* load(who, path)).status, 404)
      })
    )

    it.effect(
      "reach the vendors of orders that refer to them, at the price of the same inline",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const clip = (yield* loadClip)(7)
          const film = yield* uploaded(who, clip)
          const picture = yield* uploaded(who, PNG)
          const sound = yield* uploaded(who, MP3)
          const content = [
            { type: "text", text: "a lighthouse" },
            { type: "image_url", image_url: picture },
            { type: "audio_url", audio_url: { file_id: sound } },
            { type: "video_url", role: "reference_video", video_url: { file_id: film } }
          ]
          const order = { model: "film-1", content, duration: 5 }
          const plain = {
            model: "film-1",
            content: [
              { type: "text", text: "a lighthouse" },
              { type: "video_url", video_url: inline(clip) }
            ],
            duration: 5
          }
          const quoted = yield* hold(who, order)
          // 7 and 5 seconds at 28 per million tokens.
          assert.strictEqual(quoted, "7.2576")
          assert.strictEqual(yield* hold(who, plain), quoted)
          const id = yield* createVideo(who, order)
          assert.strictEqual((yield* gateway.balance(who)).held, quoted)
          const media = yield* sentMedia(mediaOfVideo)
          assert.strictEqual(media.length, 3)
          const digests = yield* Effect.forEach(media, digestOf)
          assert.deepStrictEqual(digests, [digest(PNG), digest(MP3), digest(clip)])
          const isInline = !settings.archiveRedirect
          const types = media.map((sent) =>
            typeof sent === "string" ? "address" : sent.media_type
          )
          assert.deepStrictEqual(
            types,
            isInline ? ["image/png", "audio/mpeg", "video/mp4"] : types.map(() => "address")
          )
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")

          const painted = yield* orderImages(who, {
            model: "paint-1",
            image: { file_id: picture },
            images: [picture, "https://files.test/1.png"]
          })
          assert.strictEqual(painted.status, 200, painted.text)
          const [first, second, other] = yield* sentMedia(mediaOfImages)
          assert.strictEqual(other, "https://files.test/1.png")
          for (const sent of [first, second]) {
            assert.strictEqual(yield* digestOf(sent ?? ""), digest(PNG))
          }
          for (const path of ["/v1/files/%00", "/v1/files/%00/content", "/v1/files/a%20b"]) {
            const { status } = yield* gateway.call(path, { key: who.key })
            assert.strictEqual(status, 404, path)
          }
          const edited = yield* edit(who, [{ file_id: picture }, picture])
          assert.strictEqual(edited.status, 200, edited.text)
          // By a form, where they are inline.
          const taken = (yield* gateway.simulator.book).findLast(
            ({ event }) => event === "accepted"
          )
          assert.deepNestedInclude(taken, { "order.inputs": { images: 2, videos: 0, audios: 0 } })
          // What is kept of them for the operator names neither bytes nor addresses.
          const task = yield* gateway.admin(`/tasks/${id}`)
          assert.notInclude(task.text, PNG.toString("base64").slice(20, 60))
          assert.notMatch(task.text, /X-Amz-Signature/)
          yield* gateway.verify
        })
    )

    it.effect("are refused before anything is held where they do not fit", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const who = yield* gateway.customer("10")
        const stranger = yield* gateway.customer("10")
        const picture = yield* uploaded(who, PNG)
        const foreign = yield* uploaded(stranger, PNG)
        const expired = yield* uploaded(who, PNG)
        yield* sql`UPDATE files SET expires_at = now() WHERE id = ${expired}`
        const unknown = "file_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
        yield* gateway.simulator.clearRequests
        const nobody = (id: string) => `No file is called "${id}"; it may have expired`
        const rows: ReadonlyArray<readonly [object, string, string]> = [
          [{ model: "film-1", image: unknown }, "image", nobody(unknown)],
          [
            { model: "film-1", images: [picture, { file_id: foreign }] },
            "images[1].file_id",
            nobody(foreign)
          ],
          [{ model: "film-1", image: expired }, "image", nobody(expired)],
          [
            { model: "film-1", content: [{ type: "video_url", video_url: picture }] },
            "content[0].video_url",
            "Expected a film, and the file is of type image/png"
          ],
          [
            { model: "film-1", audio: picture },
            "audio",
            "Expected a sound, and the file is of type image/png"
          ],
          [{ model: "paint-1", image_url: unknown }, "image_url", nobody(unknown)]
        ]
        for (const [order, param, message] of rows) {
          const isImage = "image_url" in order
          const answer = yield* (isImage ? orderImages : orderVideo)(who, { ...order })
          const error = yield* errorOf(answer)
          assert.deepInclude(error, {
            code: "invalid_request",
            param,
            message: `${param}: ${message}`
          })
          const quote = yield* errorOf(yield* quoteOf(who, { prompt: "a lighthouse", ...order }))
          assert.deepStrictEqual(quote, error)
        }
        for (const [images, param] of [
          [[picture, { file_id: foreign }], "images[1].file_id"],
          [unknown, "images"]
        ] as const) {
          const error = yield* errorOf(yield* edit(who, images))
          assert.deepInclude(error, { code: "invalid_request", param })
        }
        const both = yield* orderVideo(who, { model: "film-1", images: [unknown, foreign] })
        assert.deepNestedInclude(both.body, { "error.faults[1].path": "images[1]" })
        // What stands beside content is not ordered.
        const aside = { content: [{ type: "text", text: "x" }], image: unknown }
        yield* finishVideo(who, yield* createVideo(who, { model: "film-1", ...aside }))
        const requests = yield* gateway.simulator.requests
        assert.strictEqual(requests.filter(({ method }) => method === "POST").length, 1)
        assert.deepInclude(yield* gateway.balance(who), { balance: "4.9906", held: "0" })
      })
    )
  })
}
