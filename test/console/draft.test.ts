import { assert, it } from "@effect/vitest"
import { emptyDraft, mediumUsesOf, orderOf } from "../../src/console/pages/playground/form/draft.ts"
import type { ModelEntry } from "../../src/http/api/models.ts"

const model: ModelEntry = {
  id: "film",
  object: "model",
  created: 0,
  owned_by: "maker",
  modality: "video",
  status: "open",
  input_forms: [],
  takes: [
    {
      inputs: [{}, { first_frame: 1, middle_frame: 2 }, { edit_video: 1 }],
      durations: { min: 4, max: 8, smart: false },
      resolutions: ["720p"],
      sound: "unset"
    }
  ],
  currency: "CNY",
  prices: { kind: "second_video", per_second: { "720p": 1n } }
}

const medium = (use: ReturnType<typeof mediumUsesOf>[number], url: string) => ({
  id: url,
  use,
  url,
  file: null
})

it("a model is offered the inputs that its vendors are known to take", () => {
  assert.deepStrictEqual(mediumUsesOf(model), [
    "image",
    "first_frame",
    "middle_frame",
    "edit_video"
  ])
  const { takes: _, ...unknownModel } = model
  assert.notInclude(mediumUsesOf(unknownModel), "extend_video")
  assert.include(mediumUsesOf(unknownModel), "reference_video")
  const limits = { inputs: { extend_video: 1 } }
  assert.deepStrictEqual(mediumUsesOf({ ...model, limits }), ["extend_video"])
})

it("an edit has an earlier order as its video and no duration, frames have their roles", () => {
  const draft = { ...emptyDraft(), prompt: "rain", duration: 5, maxWait: 60 }
  assert.deepStrictEqual(
    orderOf("video", model, { ...draft, media: [medium("edit_video", "vt_1")] }).body,
    {
      model: "film",
      content: [
        { type: "text", text: "rain" },
        { type: "video_url", role: "edit_video", video_url: { url: "vt_1" } }
      ],
      max_wait: 60
    }
  )
  const frames = [medium("first_frame", "a"), medium("middle_frame", "b")]
  assert.deepStrictEqual(orderOf("video", model, { ...draft, media: frames }).body, {
    model: "film",
    content: [
      { type: "text", text: "rain" },
      { type: "image_url", role: "first_frame", image_url: { url: "a" } },
      { type: "image_url", role: "middle_frame", image_url: { url: "b" } }
    ],
    duration: 5,
    max_wait: 60
  })
})
