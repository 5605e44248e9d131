/** Videos that the `openai` package makes from other videos: remixes, edits and extensions. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { toFile } from "openai"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { loadClip } from "../../src/simulator/media/clip.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, keyedOpenaiOf, openaiOf, rejection } from "../support/officialClients.ts"
import { createVideo, finishVideo } from "../support/orders.ts"

const Sent = Schema.Record(Schema.String, Schema.Unknown)

/** What the vendor was sent last. */
const lastSent = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const requests = yield* simulator.requests
  const posts = requests.filter(({ method }) => method === "POST")
  return { body: Schema.decodeUnknownSync(Sent)(posts.at(-1)?.body), count: posts.length }
})

const openaiId = (id: string): string => id.replace("vt_", "video_")

/** A finished video of 6 seconds in 1080p, with its address at the vendor. */
const earlierVideo = Effect.fnUntraced(function* (who: Customer, model = "film-2.5") {
  const fields = { model, duration: 6, resolution: "1080p", ratio: "9:16" }
  const id = yield* createVideo(who, fields)
  const { content } = yield* finishVideo(who, id)
  return { id: openaiId(id), url: content?.video_url ?? "" }
})

/** The types of the package know only the sizes and seconds of one vendor. */
const includes = (video: object, expected: object): void =>
  assert.deepInclude(Object.fromEntries(Object.entries(video)), expected)

layer(layerTestGateway("postgres", quickSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("videos that the openai package makes from videos", (it) => {
  it.effect.each(["remix", "edit"] as const)("%s orders an edit by the same model", (method) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* keyedOpenaiOf(who)
      const { id, url } = yield* earlierVideo(who)
      const prompt = "the same at night"
      const made = yield* done(() =>
        method === "remix"
          ? client.videos.remix(id, { prompt })
          : client.videos.edit({ prompt, video: { id } })
      )
      const expected = {
        object: "video",
        model: "film-2.5",
        seconds: "6",
        size: "1080p",
        remixed_from_video_id: id
      }
      includes(made, { ...expected, status: "queued" })
      assert.deepInclude((yield* lastSent).body, {
        omni_reference_task_type: "edit",
        duration: -1,
        resolution: "1080p",
        ratio: "adaptive",
        content: [
          { type: "text", text: prompt },
          { type: "video_url", role: "reference_video", video_url: { url } }
        ]
      })
      yield* finishVideo(who, made.id.replace("video_", "vt_"))
      const read = yield* done(() => client.videos.retrieve(made.id))
      includes(read, { ...expected, status: "completed" })
      const list = yield* done(() => client.videos.list({ limit: 1 }))
      includes(list.data[0] ?? {}, expected)
      yield* gateway.verify
    })
  )

  it.effect(
    "an extension has the seconds that it is asked for, and another model if it is told",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const client = yield* openaiOf(who)
        const { id, url } = yield* earlierVideo(who)
        const body = { prompt: "it goes on", seconds: "8", video: { id } } as const
        const made = yield* done(() => client.videos.extend(body))
        includes(made, { seconds: "8", size: "1080p", remixed_from_video_id: id })
        const { body: sent } = yield* lastSent
        assert.deepInclude(sent, { omni_reference_task_type: "extend", duration: 8 })

        const other = { ...body, model: "clip-1" }
        const byOther = yield* done(() => client.videos.extend(other))
        includes(byOther, { model: "clip-1", size: "720p", remixed_from_video_id: id })
        const { body: contents } = yield* lastSent
        assert.deepInclude(contents, {
          contents: [
            { type: "prompt", text: "it goes on" },
            { type: "base_video", url }
          ]
        })
      })
  )

  it.effect("a file is edited by the model that is named", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* openaiOf(who)
      const clip = yield* loadClip
      const video = yield* done(() => toFile(clip(7), "sunset.mp4"))
      const order = { prompt: "at night", video, model: "film-2.5" }
      const made = yield* done(() => client.videos.edit(order))
      includes(made, { seconds: "7", remixed_from_video_id: null })
      assert.include(JSON.stringify((yield* lastSent).body), `"media_type":"video/mp4"`)
      const withoutModel = yield* rejection(() => client.videos.edit({ prompt: "at night", video }))
      assert.deepInclude(withoutModel, { status: 400, param: "model" })
      const picture = yield* done(() => toFile(Buffer.from("GIF89a..."), "a.gif"))
      const noVideo = yield* rejection(() => client.videos.edit({ ...order, video: picture }))
      assert.deepInclude(noVideo, { status: 400, param: "video" })
    })
  )

  it.effect("a repeat with the same key is the same order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const client = yield* openaiOf(who)
      const { id } = yield* earlierVideo(who)
      const options = { headers: { "idempotency-key": "remix-1" } }
      const remix = () => client.videos.remix(id, { prompt: "again" }, options)
      const first = yield* done(remix)
      const { count } = yield* lastSent
      assert.deepStrictEqual(yield* done(remix), first)
      assert.strictEqual((yield* lastSent).count, count)
      const other = yield* rejection(() =>
        client.videos.extend({ prompt: "again", seconds: "8", video: { id } }, options)
      )
      assert.deepInclude(other, { status: 422 })
    })
  )

  it.effect("what cannot be made is refused with the field that is wrong", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const [who, other] = [yield* gateway.customer("100"), yield* gateway.customer("100")]
      const client = yield* openaiOf(who, { maxRetries: 0 })
      const { id: foreign } = yield* earlierVideo(other)
      const prompt = "x"
      const missing = yield* rejection(() => client.videos.remix(foreign, { prompt }))
      assert.deepInclude(missing, { status: 404, code: "task_not_found" })
      for (const video of [{ id: foreign }, { id: "nothing" }]) {
        const refusal = yield* rejection(() => client.videos.edit({ prompt, video }))
        assert.deepInclude(refusal, { status: 400 })
        assert.match(String(Reflect.get(Object(refusal), "param")), /^video/)
      }
      const openVideo = yield* done(() =>
        client.videos.create({ model: "film-2.5", prompt: "sim:waits" })
      )
      const early = yield* rejection(() => client.videos.remix(openVideo.id, { prompt }))
      assert.deepInclude(early, { status: 400, param: "video" })
      yield* gateway.simulator.releaseTasks
      yield* finishVideo(who, openVideo.id.replace("video_", "vt_"))

      const { id } = yield* earlierVideo(who, "film-1")
      const unable = yield* rejection(() => client.videos.remix(id, { prompt }))
      assert.deepInclude(unable, { status: 400, param: "video" })
      assert.include(String(unable), "role edit_video")
    })
  )
})
