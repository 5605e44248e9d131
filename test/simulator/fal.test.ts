/** What the simulated Kling of fal refuses, and how long its videos are. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, read, send } from "./support.ts"

const root = "fal-ai/kling-video"
const FRAME = "https://media.test/1.png"

/** The answer of the host that makes the video in one request. */
const run = (model: string, body: object) =>
  send("POST", `/fal/run/${root}/${model}`, { authorization: "Key key-of-the-test", body })

const shotsOf = (...durations: ReadonlyArray<string | number>) =>
  durations.map((duration) => ({ prompt: "a lighthouse sim:slow=0", duration }))

const Faults = Schema.Struct({
  detail: Schema.NonEmptyArray(Schema.Struct({ loc: Schema.Array(Schema.String) }))
})

const three = "v3/pro/text-to-video"
const threeFrames = "v3/pro/image-to-video"
const four = "v4/text-to-video"
const fourFrames = "v4/image-to-video"
const prompt = "a lighthouse sim:slow=0"

layer(layerSimulator({ port: 0 }))("Kling at fal", (it) => {
  it.effect.each([
    [
      "a text and shots",
      three,
      { prompt, duration: "7", multi_prompt: shotsOf("3", "4") },
      "prompt"
    ],
    ["neither a text nor shots", three, {}, "prompt"],
    [
      "shots of another length",
      three,
      { duration: "8", multi_prompt: shotsOf("3", "4") },
      "multi_prompt"
    ],
    [
      "shots of another length than the usual one",
      four,
      { multi_prompt: shotsOf(3, 3) },
      "multi_prompt"
    ],
    ["no shots in their list", three, { multi_prompt: [] }, "multi_prompt.0"],
    ["a shot without a text", four, { multi_prompt: [{ duration: 5 }] }, "multi_prompt.0.prompt"],
    ["a short shot", four, { duration: 5, multi_prompt: shotsOf(2, 3) }, "multi_prompt.0.duration"],
    ["a number where version 3 has a text", three, { prompt, duration: 5 }, "duration"],
    ["a text where version 4 has a number", four, { prompt, duration: "5" }, "duration"],
    ["more than 15 seconds of version 3", three, { prompt, duration: "16" }, "duration"],
    ["more than 30 seconds", four, { prompt, duration: 31 }, "duration"],
    ["another ratio", three, { prompt, aspect_ratio: "auto" }, "aspect_ratio"],
    ["another resolution", four, { prompt, resolution: "480p" }, "resolution"],
    ["another kind of shots", three, { prompt, shot_type: "none" }, "shot_type"],
    ["no first frame", threeFrames, { prompt }, "start_image_url"],
    [
      "nine frames in between",
      fourFrames,
      { prompt, start_image_url: FRAME, middle_image_urls: Array(9).fill(FRAME) },
      "middle_image_urls"
    ]
  ] as const)("refuses %s", ([, model, body, field]) =>
    Effect.gen(function* () {
      const answer = yield* run(model, body)
      assert.strictEqual(answer.status, 422, answer.text)
      assert.strictEqual(read(Faults, answer).detail[0].loc.slice(1).join("."), field)
    })
  )

  it.effect.each([
    ["v3", three, { prompt }, 5, 0],
    ["v3 of shots", three, { duration: "7", multi_prompt: shotsOf("3", "4") }, 7, 0],
    [
      "v4 of frames",
      fourFrames,
      { prompt, duration: 30, start_image_url: FRAME, middle_image_urls: [FRAME, FRAME] },
      30,
      3
    ]
  ] as const)("renders the ordered length: %s", ([, model, body, seconds, images]) =>
    Effect.gen(function* () {
      const answer = yield* run(model, body)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.nestedPropertyVal(json(answer), "video.content_type", "video/mp4")
      const entries = yield* booked
      const accepted = entries.findLast(({ event }) => event === "accepted")
      assert.deepNestedInclude(accepted, {
        "order.inputs.images": images,
        "order.seconds": seconds
      })
      const ended = entries.findLast(({ event }) => event === "succeeded")
      assert.deepNestedInclude(ended, { "produced.seconds": seconds })
    })
  )
})
