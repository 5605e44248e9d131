/** Videos that are made from an earlier video: edited or extended, with the hold of what is sent. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
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

/** The tokens of a second of 720p, as the reference computes them. */
const TOKENS_PER_SECOND = 21_600

/** Decimal currency units of the seconds at the price with video input. */
const priceOf = (seconds: number): number => (seconds * TOKENS_PER_SECOND * 28) / 1_000_000

const sentBodies = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  const requests = yield* simulator.requests
  return requests.filter(({ method }) => method === "POST").map(({ body }) => body)
})

const Sent = Schema.Record(Schema.String, Schema.Unknown)

/** What the vendor was sent last. */
const lastSent = Effect.map(sentBodies, (bodies) => Schema.decodeUnknownSync(Sent)(bodies.at(-1)))

const holdOf = Effect.fnUntraced(function* (who: Customer, order: object) {
  const answer = yield* quoteOf(who, order)
  assert.strictEqual(answer.status, 200, answer.text)
  return Number((yield* bodyAs(Amounts, answer)).hold)
})

const heldBy = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  return Number((yield* gateway.balance(who)).held)
})

/** A finished video of five seconds, with its address at the vendor. */
const earlierVideo = Effect.fnUntraced(function* (who: Customer, model: string) {
  const id = yield* createVideo(who, { model })
  const { content } = yield* finishVideo(who, id)
  return { id, url: content?.video_url ?? "" }
})

const refusalOf = Effect.fnUntraced(function* (who: Customer, order: object) {
  const gateway = yield* Gateway
  const before = yield* sentBodies
  const answer = yield* orderVideo(who, { ...order })
  const quote = yield* quoteOf(who, { prompt: "a lighthouse", ...order })
  assert.strictEqual(quote.status, answer.status)
  assert.strictEqual((yield* sentBodies).length, before.length, "nothing is sent")
  assert.strictEqual((yield* gateway.balance(who)).held, "0")
  const error = yield* errorOf(answer)
  assert.strictEqual((yield* errorOf(quote)).message, error.message)
  return { status: answer.status, param: error.param, message: error.message }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: demoCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`videos made from earlier videos (${kind})`, (it) => {
    it.effect.each([
      ["extend_video", { duration: 6 }, 5 + 6, { omni_reference_task_type: "extend", duration: 6 }],
      ["edit_video", {}, 5 + 5, { omni_reference_task_type: "edit", duration: -1 }]
    ] as const)("vp_a: %s by the id of a task", ([role, fields, seconds, wire]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const earlier = yield* earlierVideo(who, "film-2.5")
        const order = {
          model: "film-2.5",
          prompt: "sim:waits",
          video: { task_id: earlier.id, role },
          ...fields
        }
        assert.closeTo(yield* holdOf(who, order), priceOf(seconds), 1e-9)
        const id = yield* createVideo(who, order)
        assert.closeTo(yield* heldBy(who), priceOf(seconds), 1e-9)
        assert.deepInclude(yield* lastSent, {
          ...wire,
          ratio: "adaptive",
          content: [
            { type: "text", text: "sim:waits" },
            { type: "video_url", role: "reference_video", video_url: { url: earlier.url } }
          ]
        })
        yield* gateway.simulator.releaseTasks
        assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        yield* gateway.verify
      })
    )

    it.effect("a block takes the id in place of an address, also in the form of OpenAI", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { id, url } = yield* earlierVideo(who, "film-2.5")
        const openaiId = id.replace("vt_", "video_")
        for (const video of [id, { url: id }, { task_id: openaiId }, openaiId]) {
          yield* createVideo(who, {
            model: "film-2.5",
            content: [
              { type: "text", text: "go on" },
              { type: "video_url", role: "extend_video", video_url: video }
            ]
          })
          assert.include(JSON.stringify(yield* lastSent), JSON.stringify({ url }))
        }
      })
    )

    it.effect("an earlier video is a reference of known length where it has no role", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { id } = yield* earlierVideo(who, "film-2.5")
        const order = { model: "film-1", prompt: "like it", video: id, duration: 7 }
        assert.closeTo(yield* holdOf(who, order), priceOf(5 + 7), 1e-9)
        yield* createVideo(who, order)
        assert.notProperty(yield* lastSent, "omni_reference_task_type")
      })
    )

    it.effect(
      "an edit of unknown length is held for the longest, and charged as it is reported",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const order = {
            model: "film-2.5",
            prompt: "at night",
            video: { url: "https://x.test/v.mp4", role: "edit_video" }
          }
          assert.isAtLeast(yield* holdOf(who, order), priceOf(4 + 15) - 1e-9)
          const id = yield* createVideo(who, order)
          assert.strictEqual((yield* lastSent).duration, -1)
          const { usage } = yield* finishVideo(who, id)
          assert.isAbove(usage?.completion_tokens ?? 0, 0)
          yield* gateway.verify
        })
    )

    it.effect.each(["edit_video", "extend_video"] as const)("vp_d: %s is a base video", (role) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const earlier = yield* earlierVideo(who, "clip-1")
        yield* createVideo(who, { model: "clip-1", video: { url: earlier.id, role } })
        assert.deepInclude(yield* lastSent, {
          contents: [
            { type: "prompt", text: "a lighthouse" },
            { type: "base_video", url: earlier.url }
          ],
          settings: { resolution: "720p", duration: 5, audio: "off", multi_shot: false }
        })
      })
    )

    it.effect.each(["scene-2.7-image", "relay-scene"])("vp_f: %s goes on from a clip", (model) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const earlier = yield* earlierVideo(who, "film-2.5")
        yield* createVideo(who, {
          model,
          content: [
            { type: "text", text: "it goes on" },
            { type: "video_url", role: "extend_video", video_url: { task_id: earlier.id } },
            { type: "image_url", role: "last_frame", image_url: "https://x.test/end.png" }
          ]
        })
        assert.deepInclude(yield* lastSent, {
          input: {
            prompt: "it goes on",
            media: [
              { type: "first_clip", url: earlier.url },
              { type: "last_frame", url: "https://x.test/end.png" }
            ]
          }
        })
      })
    )

    it.effect("frames between the first and the last one are refused where there is no form", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const content = (["first_frame", "middle_frame", "last_frame"] as const).map((role) => ({
          type: "image_url",
          role,
          image_url: `https://x.test/${role}.png`
        }))
        for (const model of [
          "film-1",
          "film-2.5",
          "clip-1",
          "clip-3.0",
          "relay-clip",
          "motion-1"
        ]) {
          const refusal = yield* refusalOf(who, { model, content })
          assert.deepInclude(refusal, { status: 400, param: "image" }, model)
          assert.include(refusal.message, "role middle_frame: it takes")
        }
      })
    )

    it.effect("what a model or its vendor does not take is refused before the hold", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { id } = yield* earlierVideo(who, "film-2.5")
        const edit = { task_id: id, role: "edit_video" }
        const rows = [
          [{ model: "film-1", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "clip-3.0", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "film-2", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "relay-clip", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "motion-1", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "scene-1", video: edit }, "video", "role edit_video: it takes"],
          [{ model: "film-2.5", video: edit, duration: 9 }, "duration", "5, that of its video"],
          [{ model: "film-2.5", video: [edit, edit] }, "video", "at most one video"],
          [
            { model: "clip-1", video: { url: "https://x.test/v.mp4", role: "edit_video" } },
            "video",
            "which is not known"
          ]
        ] as const
        for (const [order, param, message] of rows) {
          const refusal = yield* refusalOf(who, order)
          assert.deepInclude(refusal, { status: 400, param }, JSON.stringify(order))
          assert.include(refusal.message, message)
        }
        for (const [fields, message] of [
          [{ omni_reference_task_type: "extend" }, "omni_reference_task_type"],
          [{ ratio: "16:9" }, "ratio"]
        ] as const) {
          const order = { model: "film-2.5", video: edit, ...fields }
          const { status, message: refusal } = yield* refusalOf(who, order)
          assert.strictEqual(status, 400)
          assert.include(refusal, message)
        }
      })
    )

    it.effect("an edit by a model without edits is refused by what the model takes", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { id } = yield* earlierVideo(who, "shot-1")
        const order = { model: "shot-1", video: { task_id: id, role: "edit_video" } }
        const refusal = yield* refusalOf(who, order)
        assert.deepInclude(refusal, { status: 400, param: "video" })
        assert.include(refusal.message, "does not take a video to edit")
        assert.include(refusal.message, "up to 3 reference images")
        const remix = yield* gateway.call(`/v1/videos/${id.replace("vt_", "video_")}/remix`, {
          key: who.key,
          json: { prompt: "at night" }
        })
        assert.strictEqual(remix.status, 400, remix.text)
        assert.strictEqual((yield* errorOf(remix)).message, refusal.message)
        // A model that takes such videos needs an address, which the gateway of this test has not.
        const reference = { model: "film-2.5", video: { task_id: id } }
        const lost = yield* refusalOf(who, reference)
        assert.deepInclude(lost, { status: 400, param: "video.task_id" })
        assert.include(lost.message, "no file any more")
      })
    )

    it.effect("a video that is not the organisation's, or not there, is refused by its field", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("100"), yield* gateway.customer("100")]
        const { id: foreign } = yield* earlierVideo(other, "film-2.5")
        const failedId = yield* createVideo(who, { model: "film-2.5", prompt: "sim:fail" })
        yield* finishVideo(who, failedId)
        const unknown = "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
        const rows = [
          [foreign, `No video is called "${foreign}"`],
          [unknown, `No video is called "${unknown}"`],
          [failedId, "has failed"]
        ] as const
        for (const [id, message] of rows) {
          const refusal = yield* refusalOf(who, { model: "film-2.5", video: { task_id: id } })
          assert.deepInclude(refusal, { status: 400, param: "video.task_id" })
          assert.include(refusal.message, message)
        }
        const openId = yield* createVideo(other, { model: "film-2.5", prompt: "sim:waits" })
        const answer = yield* orderVideo(other, {
          model: "film-2.5",
          content: [{ type: "video_url", role: "extend_video", video_url: openId }]
        })
        assert.deepInclude(yield* errorOf(answer), { param: "content[0].video_url" })
        assert.include(answer.text, "is not finished yet")
        yield* gateway.simulator.releaseTasks
        yield* finishVideo(other, openId)
      })
    )
  })
}
