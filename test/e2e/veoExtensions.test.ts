/** Videos of Veo that are extended: by the vendor's own address, at the channel that made them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"
import { Amounts, quoteOf } from "../support/quotes.ts"

const VEO = "veo-3.1-generate-preview"

const prices = {
  kind: "second_video",
  per_second: { "720p": "0.4", "1080p": "0.4" }
} as const

const channelAt = (simulatorUrl: string, id: string, ...api_keys: ReadonlyArray<string>) => ({
  id,
  name: id,
  base_url: `${simulatorUrl}/veo/v1beta`,
  api_keys: api_keys.map((api_key) => ({ name: api_key.slice(-2), api_key }))
})

const shot = { modality: "video", protocol: "veo", prices } as const

const catalogFor = (simulatorUrl: string) => ({
  channels: [
    channelAt(simulatorUrl, "google", "google-key-a1", "google-key-b2", "google-key-c3"),
    channelAt(simulatorUrl, "other", "google-key-d4"),
    { id: "clips", name: "clips", base_url: `${simulatorUrl}/vp_d`, api_key: "clip-key-1" }
  ],
  models: [
    { id: "shot", ...shot },
    { id: "shot-limited", ...shot, limits: { resolutions: ["720p", "1080p"] } } as const,
    { id: "shot-other", ...shot },
    { id: "shot-0", ...shot },
    { id: "clip", modality: "video", protocol: "vp_d", prices } as const
  ],
  mounts: [
    { model: "shot", channel: "google", upstream_model: VEO },
    { model: "shot-limited", channel: "google", upstream_model: VEO },
    { model: "shot-other", channel: "other", upstream_model: VEO },
    { model: "shot-0", channel: "google", upstream_model: "veo-3.0-generate-001" },
    { model: "clip", channel: "clips", upstream_model: "kling-v3-omni" }
  ]
})

const sentBodies = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const requests = yield* simulator.requests
  return requests.filter(({ method }) => method === "POST").map(({ body }) => body)
})

const lastSent = Effect.map(sentBodies, (bodies) => bodies.at(-1))

/** The file of the last video that the simulated vendor finished, by the vendor's own address. */
const lastFile = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const end = (yield* simulator.book).findLast(({ event }) => event === "succeeded")
  const id = end?.upstream_id.split("/").at(-1)
  return `${simulator.url}/veo/v1beta/files/${id}:download?alt=media`
})

const earlierVideo = Effect.fnUntraced(function* (who: Customer, fields: object = {}) {
  const id = yield* createVideo(who, { model: "shot", duration: 4, ...fields })
  const { content } = yield* finishVideo(who, id)
  return { id, link: content?.video_url ?? "", file: yield* lastFile }
})

const extend = (video: object | string, fields: object = {}) => ({
  model: "shot",
  prompt: "it goes on",
  content: [
    { type: "text", text: "it goes on" },
    { type: "video_url", role: "extend_video", video_url: video }
  ],
  ...fields
})

const refusalOf = Effect.fnUntraced(function* (who: Customer, order: object) {
  const gateway = yield* Gateway
  const before = yield* sentBodies
  const answer = yield* orderVideo(who, { ...order })
  const quote = yield* quoteOf(who, { ...order })
  assert.strictEqual(answer.status, 400, answer.text)
  assert.strictEqual((yield* sentBodies).length, before.length, "nothing is sent")
  assert.strictEqual((yield* gateway.balance(who)).held, "0")
  const error = yield* errorOf(answer)
  assert.strictEqual((yield* errorOf(quote)).message, error.message)
  return error
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`extensions of Veo (${kind})`, (it) => {
    it.effect("an extension is held and charged as 8 seconds, and can be extended itself", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const first = yield* earlierVideo(who, { ratio: "9:16" })
        const order = extend({ task_id: first.id })
        const quote = yield* quoteOf(who, order)
        assert.strictEqual((yield* bodyAs(Amounts, quote)).hold, "3.2")
        const id = yield* createVideo(who, order)
        assert.deepInclude(yield* gateway.balance(who), { balance: "18.4", held: "3.2" })
        assert.deepStrictEqual(yield* lastSent, {
          instances: [{ prompt: "it goes on", video: { uri: first.file } }],
          parameters: { aspectRatio: "9:16", durationSeconds: 8, resolution: "720p" }
        })
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        assert.deepInclude(yield* gateway.balance(who), { balance: "15.2", held: "0" })
        const file = yield* lastFile
        const next = yield* createVideo(who, extend(id))
        assert.deepNestedInclude(yield* lastSent, {
          instances: [{ prompt: "it goes on", video: { uri: file } }],
          "parameters.aspectRatio": "9:16"
        })
        yield* finishVideo(who, next)
        const book = yield* gateway.simulator.book
        const ends = book.filter(({ event }) => event === "succeeded").slice(-3)
        assert.deepStrictEqual(
          ends.map((end) => ("produced" in end ? end.produced.seconds : null)),
          [4, 11, 18]
        )
        yield* gateway.verify
      })
    )

    it.effect("the video is named by its link and by OpenAI's id", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const { id, link, file } = yield* earlierVideo(who)
        assert.include(link, `/v1/videos/${id}/content?token=`)
        for (const video of [link, id.replace("vt_", "video_")]) {
          yield* createVideo(who, extend(video, { duration: 8 }))
          assert.deepNestedInclude(yield* lastSent, {
            instances: [{ prompt: "it goes on", video: { uri: file } }]
          })
        }
        const limited = yield* createVideo(who, extend(id, { model: "shot-limited" }))
        assert.deepNestedInclude(yield* lastSent, { "parameters.durationSeconds": 8 })
        assert.strictEqual((yield* finishVideo(who, limited)).task_status, "succeeded")
        const answer = yield* gateway.call("/v1/videos/extensions", {
          key: who.key,
          json: { video: { id: id.replace("vt_", "video_") }, prompt: "it goes on" }
        })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepNestedInclude(yield* lastSent, {
          instances: [{ prompt: "it goes on", video: { uri: file } }]
        })
      })
    )

    it.effect("an extension goes with the key that made the video, past the turns of keys", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("40")
        const { id } = yield* earlierVideo(who)
        for (const _ of [1, 2, 3]) {
          const longer = yield* createVideo(who, extend(id))
          assert.strictEqual((yield* finishVideo(who, longer)).task_status, "succeeded")
        }
        yield* gateway.verify
      })
    )

    it.effect("what the vendor cannot extend is refused before the hold", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const { id, file } = yield* earlierVideo(who)
        const sharp = yield* earlierVideo(who, { duration: 8, resolution: "1080p" })
        const other = yield* earlierVideo(who, { model: "shot-other" })
        const stranger = yield* gateway.customer("20")
        const foreign = yield* earlierVideo(stranger)
        const clipId = yield* createVideo(who, { model: "clip" })
        yield* finishVideo(who, clipId)
        const picture = "data:image/png;base64,AAAA"
        const frame = { type: "image_url", role: "first_frame", image_url: picture }
        const rows = [
          [
            extend(sharp.id),
            "video",
            "Only videos of 720p can be extended, and this one has 1080p"
          ],
          [extend(other.id), "video", "made through the same channel"],
          [extend(clipId), "video", "made through the same channel"],
          [extend(file), "video", "that it made itself"],
          [extend("https://files.test/v1beta/files/a:download"), "video", "that it made itself"],
          [extend(`${gateway.simulator.url}/media/a.mp4`), "video", "that it made itself"],
          [extend("data:video/mp4;base64,AAAA"), "video", "that it made itself"],
          [extend(foreign.id), "content[1].video_url", "No video is called"],
          [extend(foreign.link), "video", "No video is called"],
          [extend(id, { duration: 6 }), "duration", "takes 8 seconds"],
          [extend(id, { resolution: "1080p" }), "resolution", "takes 720p"],
          [
            extend(id, { model: "shot-0" }),
            "video",
            "a video to extend, which has the role extend_video: it takes"
          ],
          [
            extend(id, { content: [...extend(id).content, frame] }),
            null,
            "Not all of this input has a place"
          ]
        ] as const
        for (const [order, param, message] of rows) {
          const error = yield* refusalOf(who, order)
          assert.include(error.message, message)
          if (param !== null) assert.strictEqual(error.param, param, message)
        }
        const listed = yield* gateway.call("/v1/models/shot", { key: who.key })
        assert.include(listed.text, '{"extend_video":1}')
      })
    )
  })
}
