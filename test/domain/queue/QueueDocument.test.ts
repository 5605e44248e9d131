/** Documents of vendors: what is refused in one, and what orders become by it. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { builtInProtocols, documentRows } from "../../../src/domain/catalog/ProtocolTables.ts"
import { imageFamilyOf } from "../../../src/domain/image/ImageProtocol.ts"
import { checkImages } from "../../../src/domain/image/ImageRequest.ts"
import { builtInDocuments } from "../../../src/domain/queue/builtInDocuments.ts"
import { decodeQueueDocument } from "../../../src/domain/queue/decodeQueueDocument.ts"
import { type QueueDocument, videoModelsOf } from "../../../src/domain/queue/QueueDocument.ts"
import { videoBodyOf } from "../../../src/domain/queue/queueBody.ts"
import { rowOfModel } from "../../../src/domain/video/VideoProtocol.ts"
import { parametersOf } from "../../../src/domain/video/vendorFields.ts"
import { textBlock } from "../../adapters/support.ts"
import { toyDocument } from "./documents.ts"

const toy: QueueDocument = Result.getOrThrow(decodeQueueDocument(toyDocument))

const faultsOf = (document: unknown): ReadonlyArray<string> =>
  Result.match(decodeQueueDocument(document), {
    onSuccess: () => [],
    onFailure: (faults) => faults.map(({ path, message }) => `${path}: ${message}`)
  })

type Json = Readonly<Record<string, unknown>>
const [film, , draw] = toyDocument.models

const withModel = (more: Json, model: Json = { ...film }) => ({
  ...toyDocument,
  models: [{ ...model, ...more }]
})
/** A list of shots whose lengths have names. */
const shotList = {
  to: "/scenes/-",
  prompt: "/say/text",
  seconds: { to: "/length", values: { "1": "blink", "2": "look" } }
}
const shotFilm = (id: string, shots: object) => ({
  ...film,
  id,
  shots,
  fields: { ...film?.fields, shots: shotList }
})
const withFields = (more: Json) => withModel({ fields: { ...film?.fields, ...more } })

describe("a document", () => {
  it.each(builtInDocuments.map((document) => [document.id, document] as const))(
    "of %s has no fault",
    (_, document) => {
      assert.deepStrictEqual(faultsOf(document), [])
    }
  )

  it.each<readonly [says: string, document: unknown, ...faults: ReadonlyArray<string>]>([
    ["no document", 7, ": Expected QueueDocument"],
    [
      "a job's id before there is one",
      {
        ...toyDocument,
        calls: { ...toyDocument.calls, submit: { method: "POST", path: "/jobs/{id}" } }
      },
      "calls.submit.path: A job has no {id} before it is submitted"
    ],
    [
      "a status of no job",
      { ...toyDocument, calls: { ...toyDocument.calls, status: { method: "GET", path: "/jobs" } } },
      "calls.status.path: Expected {id}, the id of the job"
    ],
    [
      "a name with two meanings",
      { ...toyDocument, statuses: { ...toyDocument.statuses, expired: ["done"] } },
      'statuses.expired[0]: "done" already means finished'
    ],
    [
      "no name of a finished job",
      { ...toyDocument, statuses: { finished: [] } },
      "statuses.finished: Expected the name of a finished job"
    ],
    [
      "a model twice, and one without a prompt",
      { ...toyDocument, models: [draw, { ...draw, fields: { n: "/count" } }] },
      'models[1].id: "draw" is listed twice',
      'models[1].fields: Expected prompt, or "ignores": ["prompt"] of a model without one',
      "models[1].forms[0].takes.reference_image: No field of the body has reference_image"
    ],
    [
      "a list in a field for one",
      withFields({ reference_image: "/look" }),
      "models[0].fields.reference_image: /look holds one of 3; a list ends with /-"
    ],
    [
      "a form that needs what it does not take",
      withModel({ forms: [{ takes: {}, needs: ["first_frame"] }] }),
      "models[0].forms[0].needs[0]: The form does not take first_frame"
    ],
    [
      "two fields in one place",
      withFields({ ratio: "/say/shape" }),
      "models[0].fields.ratio: /say/shape is already written by models[0].fields.prompt"
    ],
    [
      "a table without a length",
      withFields({ seconds: { to: "/length", values: { "4": "short" } } }),
      "models[0].fields.seconds.values: Expected 8 too"
    ],
    [
      "several resolutions without a field",
      withModel(
        { resolutions: ["480p", "720p"] },
        { ...toyDocument.models[1], fields: { prompt: "/say" } }
      ),
      "models[0].fields: Expected resolution, as the model has several",
      "models[0].fields: Expected ratio, as the model has several"
    ],
    [
      "a switch of sound without a field",
      withModel({ sound: "switch" }, { ...toyDocument.models[1] }),
      "models[0].sound: No field of the body has the sound"
    ],
    [
      "a parameter that is a field of the gateway",
      withModel({ input_schema: { properties: { duration: { type: "integer" } } } }),
      "models[0].parameters.duration: The gateway has a field duration; map it, or list it in input_schema_without"
    ],
    [
      "shots without a list, and a list without limits",
      {
        ...toyDocument,
        models: [
          { ...film, shots: { most: 2, seconds: [1, 4] } },
          {
            ...film,
            id: "film/b",
            fields: { ...film?.fields, shots: { to: "/say", prompt: "/a", seconds: "/a/b" } }
          }
        ]
      },
      "models[0].shots: No field of the body has the shots",
      "models[1].fields.shots: /say is already written by models[1].fields.prompt",
      "models[1].fields.shots.to: Expected the place of a list, with /- last",
      "models[1].fields.shots.seconds: /a/b is already written by models[1].fields.shots.prompt",
      "models[1].fields.shots: Expected the limits in shots too"
    ],
    [
      "shots of lengths that the model or the table does not have",
      {
        ...toyDocument,
        models: [
          shotFilm("film/a", { most: 2, seconds: [9, 12] }),
          shotFilm("film/b", { most: 2, seconds: [3, 2] }),
          shotFilm("film/c", { most: 2, seconds: [1, 3] }),
          shotFilm("film/d", { most: 2, seconds: [1, 2] })
        ]
      },
      "models[0].shots.seconds: Expected the least seconds before the most, and within the lengths of the model",
      "models[1].shots.seconds: Expected the least seconds before the most, and within the lengths of the model",
      "models[2].fields.shots.seconds.values: Expected 3 too"
    ],
    [
      "shots of images",
      withModel({ fields: { ...draw?.fields, shots: shotList } }, { ...draw }),
      "models[0].fields.shots: Orders of images have no such field"
    ],
    [
      "several images without a field",
      withModel({ fields: { prompt: "/say", reference_image: "/looks/-" } }, { ...draw }),
      "models[0].max_images: No field of the body has the number of images"
    ]
  ])("is refused with %s", (_, document, ...faults) => {
    assert.deepStrictEqual<unknown>(faultsOf(document), faults)
  })

  it("tells every fault of its shape", () => {
    const faults = faultsOf({
      ...toyDocument,
      id: "Toy",
      key: { header: "X-Key" },
      extra: 1,
      answers: { ...toyDocument.answers, id: ["job"] },
      models: [{ ...draw, modality: "image", fields: { prompt: "/__proto__/x" } }]
    }).map((fault) => fault.slice(0, fault.indexOf(":")))
    assert.includeMembers(faults, ["id", "key.header", "extra", "answers.id[0]"])
    assert.isTrue(faults.some((path) => path.startsWith("models[0]")))
  })
})

const order = {
  taskId: "vt_1",
  upstreamModel: "film/one",
  blocks: [textBlock("a lighthouse")],
  seconds: 4,
  resolution: "720p",
  ratio: null,
  generateAudio: null,
  parameters: {}
} as const

const bodyOf = (model: string, more: object = {}) => {
  const one = videoModelsOf(toy).find(({ id }) => id === model)
  assert.isDefined(one)
  return Result.match(videoBodyOf(toy, one, { ...order, upstreamModel: model, ...more }), {
    onSuccess: (body) => body,
    onFailure: ({ path, message }) => `${path}: ${message}`
  })
}

const fixedForm = {
  safe: true,
  options: { tier: "normal" },
  model: "film/one",
  token: "vt_1",
  say: "a lighthouse",
  length: "short",
  lines: 720
}

describe("the body of an order", () => {
  it("has constants, names of the vendor, and the fields in their places", () => {
    assert.deepStrictEqual(bodyOf("film/one"), fixedForm)
    assert.deepStrictEqual(
      bodyOf("film/one", {
        seconds: 8,
        resolution: "1080p",
        ratio: "9:16",
        generateAudio: false,
        parameters: { wind: 0.5, mood: "calm" }
      }),
      {
        ...fixedForm,
        length: "long",
        lines: 1080,
        shape: "9:16",
        loud: false,
        options: { tier: "normal", wind: 0.5, mood: "calm" }
      }
    )
  })

  it("has media of a list one after the other", () => {
    const image = (url: string) => ({ type: "image", role: "reference_image", url }) as const
    assert.deepStrictEqual(
      bodyOf("film/one", { blocks: [image("https://a.test/1"), image("https://a.test/2")] }),
      {
        ...Object.fromEntries(Object.entries(fixedForm).filter(([name]) => name !== "say")),
        looks: [{ href: "https://a.test/1" }, { href: "https://a.test/2" }]
      }
    )
  })

  it("has shots as items of their list, in place of the prompt", () => {
    const document = Result.getOrThrow(
      decodeQueueDocument({
        ...toyDocument,
        models: [shotFilm("film/one", { most: 2, seconds: [1, 2] })]
      })
    )
    const [model] = videoModelsOf(document)
    assert.isDefined(model)
    const blocks = [
      { type: "text", text: "a lighthouse", shotSeconds: 2 },
      { type: "text", text: "its keeper", shotSeconds: 2 }
    ] as const
    const { say: _, ...rest } = fixedForm
    assert.deepStrictEqual(Result.getOrThrow(videoBodyOf(document, model, { ...order, blocks })), {
      ...rest,
      scenes: [
        { say: { text: "a lighthouse" }, length: "look" },
        { say: { text: "its keeper" }, length: "look" }
      ]
    })
    assert.include(bodyOf("film/one", { blocks }), "shots: Expected nothing")
  })

  it("takes the size for the resolution and the ratio", () => {
    const sku = { seconds: 6, resolution: "1080p" }
    assert.deepStrictEqual(bodyOf("film/two", sku), { say: "a lighthouse", size: "wide" })
    assert.deepStrictEqual(bodyOf("film/two", { ...sku, ratio: "9:16" }), {
      say: "a lighthouse",
      size: "tall"
    })
  })

  it.each<readonly [says: string, more: object, fault: string]>([
    [
      "an inline file where the vendor takes none",
      { blocks: [{ type: "image", role: "first_frame", url: "data:image/png;base64,AA" }] },
      "image: Expected an http or https URL: this model takes no inline files"
    ],
    ["another ratio", { ratio: "1:1" }, "ratio: Expected one of 16:9, 9:16"],
    ["another length", { seconds: 5 }, "duration: Expected 4, 8: the model has no other length"]
  ])("is not written for %s", (_, more, fault) => {
    assert.strictEqual(bodyOf("film/one", more), fault)
  })
})

describe("the rows of a document", () => {
  const rows = documentRows([toy])
  const row = rows.video.get("toy_queue")
  assert.isDefined(row)

  it("have the limits of each model", () => {
    const { seconds, onlySeconds, resolutions } = rowOfModel(row, "film/one")
    assert.deepStrictEqual(
      { seconds, onlySeconds, resolutions },
      { seconds: [4, 8], onlySeconds: [4, 8], resolutions: ["720p", "1080p"] }
    )
    assert.deepStrictEqual(rowOfModel(row, "film/two").seconds, [6, 6])
    assert.isUndefined(rowOfModel(row, "film/two").onlySeconds)
    const codedRow = builtInProtocols.video.get("vp_d")
    assert.isDefined(codedRow)
    assert.strictEqual(rowOfModel(codedRow, "kling-v3"), codedRow)
  })

  it("have the parameters of the vendor's schema, but for what is mapped, priced or left out", () => {
    assert.deepStrictEqual(parametersOf(row, row, "film/one"), {
      wind: { type: "number", minimum: 0, maximum: 1, description: "The vendor's field wind" },
      seed: {
        type: "integer",
        minimum: -2_147_483_648,
        maximum: 2_147_483_647,
        description: "The seed"
      },
      mood: { type: "choice", values: ["calm", "wild"], description: "The vendor's field mood" },
      looping: { type: "boolean", default: false, description: "The vendor's field looping" }
    })
    assert.deepStrictEqual(parametersOf(row, row, "film/two"), {})
  })

  it.each<readonly [says: string, more: object, fault: string | null]>([
    ["a plain order", {}, null],
    ["an order of four", { n: 4, size: "640x480", image: "https://a.test/1.png" }, null],
    [
      "more than a request makes",
      { n: 5 },
      "n: Expected at most 4 images of this model in an order"
    ],
    ["a size without sides", { size: "2K" }, "size: Expected a size such as 1024x1024"],
    [
      "too many images",
      { images: ["https://a.test/1", "https://a.test/2", "https://a.test/3"] },
      "image: Expected at most 2 images for this model"
    ],
    [
      "a parameter out of its bounds",
      { seed: 10 },
      "seed: Expected a whole number from 0 to 9, without quotes"
    ]
  ])("check %s of images", (_, more, fault) => {
    const images = rows.image.get("toy_queue")
    assert.isDefined(images)
    const body = { model: "our-model", prompt: "x", ...more }
    const checked = checkImages({ body, edit: null }, imageFamilyOf(images, "draw"))
    assert.strictEqual(Result.isFailure(checked) ? checked.failure.message : null, fault)
  })
})
