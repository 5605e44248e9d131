/**
 * Parameters of documents and what is billed: no field that may change the bill becomes a parameter
 * because a vendor's schema has it, and no document lists one by which a client orders more than is
 * paid. PROPERTY_CASES sets how many names, PROPERTY_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { builtInDocuments } from "../../../src/domain/queue/builtInDocuments.ts"
import { decodeQueueDocument } from "../../../src/domain/queue/decodeQueueDocument.ts"
import { parametersOfModel } from "../../../src/domain/queue/queueParameters.ts"
import { disguised } from "../../property/disguises.ts"
import { CASES, SEED } from "../../property/spellings.ts"
import { diceOf } from "../../support/randomOrders.ts"
import { toyDocument } from "./documents.ts"

/** A name costs a hundred times as much in a document as in an order. */
const NAMES = Math.ceil(CASES / 10)

const [film, , draw] = toyDocument.models
const toyModels = { image: draw, video: film }
type Modality = keyof typeof toyModels

const decodeModel = (modality: Modality, more: object) =>
  decodeQueueDocument({ ...toyDocument, models: [{ ...toyModels[modality], ...more }] })

/** The names of the parameters that follow from a schema with one field. */
const namesFromSchema = (modality: Modality, name: string): ReadonlyArray<string> => {
  const input_schema = { properties: Object.fromEntries([[name, { type: "integer" }]]) }
  const document = Result.getOrThrow(decodeModel(modality, { input_schema, parameters: {} }))
  return document.models.flatMap((model) => Object.keys(parametersOfModel(model, document)))
}

const handwrittenFaults = (modality: Modality, name: string): ReadonlyArray<string> => {
  const parameter = { type: "integer", minimum: 1, maximum: 9, description: "How many" }
  const document = decodeModel(modality, {
    parameters: Object.fromEntries([[name, parameter]]),
    input_schema: { properties: {} }
  })
  return Result.isFailure(document) ? document.failure.map(({ path }) => path) : []
}

/** Names by which a client orders more than one product, a longer one, or has it sent elsewhere. */
const amounts = [
  "num_images",
  "max_images",
  "image_count",
  "images_per_prompt",
  "sequential_image_generation",
  "num_outputs",
  "number_of_videos",
  "clip_count",
  "num_frames",
  "video_length",
  "batch_size",
  "quantity",
  "webhook_url"
] as const

/** Names by which a client may order a dearer product. */
const prices = [
  "quality",
  "image_size",
  "output_resolution",
  "upscale_factor",
  "frame_rate",
  "service_tier",
  "model_name",
  "mode",
  "enable_audio",
  "web_search"
] as const

const harmless = [
  "seed",
  "guidance_scale",
  "num_inference_steps",
  "negative_prompt",
  "output_format",
  "camera_fixed",
  "style",
  "strength"
]

describe.each<Modality>(["image", "video"])("a parameter of a document's %s model", (modality) => {
  it(`never follows from a schema where it may change the bill (PROPERTY_SEED=${SEED})`, () => {
    for (let index = 0; index < NAMES; index++) {
      const dice = diceOf(SEED + index)
      const name = dice.pick([...amounts, ...prices])
      const { top, isNested } = disguised(dice, name, 9, { isForm: true, own: [] })
      for (const spelling of isNested ? [name] : [name, top]) {
        const inWords = `PROPERTY_SEED=${SEED + index} ${JSON.stringify(spelling)}`
        assert.deepStrictEqual(namesFromSchema(modality, spelling), [], inWords)
      }
    }
  })

  it(`is refused by its path where it orders more (PROPERTY_SEED=${SEED})`, () => {
    for (let index = 0; index < NAMES; index++) {
      const dice = diceOf(SEED + index)
      const name = dice.pick(amounts)
      const { top, isNested } = disguised(dice, name, 9, { isForm: true, own: [] })
      for (const spelling of isNested ? [name] : [name, top]) {
        const inWords = `PROPERTY_SEED=${SEED + index} ${JSON.stringify(spelling)}`
        assert.include(
          handwrittenFaults(modality, spelling),
          `models[0].parameters.${spelling}`,
          inWords
        )
      }
    }
  })

  it.each(["fps", "frames_per_second", "interpolated_frames", "sync_mode", "enable_web_search"])(
    "never follows from a schema as %s",
    (name) => assert.deepStrictEqual(namesFromSchema(modality, name), [])
  )

  it.each(harmless)("follows from a schema as %s", (name) => {
    assert.deepStrictEqual(namesFromSchema(modality, name), [name])
  })

  it.each([...prices, ...harmless])("may be listed as %s", (name) => {
    assert.deepStrictEqual(handwrittenFaults(modality, name), [])
  })
})

describe("the parameters of the built-in documents", () => {
  it("are those that are billed alike", () => {
    const names = builtInDocuments.flatMap((document) =>
      document.models.map((model) => [
        model.id,
        ...Object.keys(parametersOfModel(model, document)).toSorted()
      ])
    )
    const ofFlux = ["guidance_scale", "num_inference_steps", "output_format", "seed"]
    assert.deepInclude(names, ["fal-ai/flux/dev", ...ofFlux])
    assert.deepInclude(names, [
      "fal-ai/clarity-upscaler",
      "creativity",
      "guidance_scale",
      "negative_prompt",
      "num_inference_steps",
      "resemblance",
      "seed"
    ])
    assert.deepInclude(names, [
      "black-forest-labs/flux-schnell",
      "go_fast",
      "num_inference_steps",
      "output_format",
      "seed"
    ])
  })
})
