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
      "an answer to a cancel by which a job counts as cancelled that may be finished",
      {
        ...toyDocument,
        calls: {
          ...toyDocument.calls,
          cancel: { ...toyDocument.calls.cancel, cancelled: ["gone", "done", "busy"], refused: [] }
        }
      },
      'calls.cancel.cancelled[1]: "done" means finished in statuses, and a cancelled job has ended without a product: list it in requested or refused',
      'calls.cancel.cancelled[2]: "busy" means open in statuses, and a cancelled job has ended without a product: list it in requested or refused'
    ],
    [
      "headers that the HTTP client writes",
      {
        ...toyDocument,
        key: { header: "host" },
        calls: {
          submit: {
            ...toyDocument.calls.submit,
            headers: { te: "gzip", "x-toy": "1" },
            image_headers: { "transfer-encoding": "chunked" }
          },
          status: { ...toyDocument.calls.status, headers: { "proxy-authorization": "x" } },
          result: { ...toyDocument.calls.status, headers: { "content-length": "1" } },
          cancel: { ...toyDocument.calls.cancel, headers: { "content-type": "text/plain" } }
        }
      },
      "key.header: Expected another header: the HTTP client alone writes host",
      "calls.submit.headers.te: Expected another header: the HTTP client alone writes te",
      "calls.submit.image_headers.transfer-encoding: Expected another header: the HTTP client alone writes transfer-encoding",
      "calls.status.headers.proxy-authorization: Expected another header: the HTTP client alone writes proxy-authorization",
      "calls.result.headers.content-length: Expected another header: the HTTP client alone writes content-length",
      "calls.cancel.headers.content-type: Expected another header: the HTTP client alone writes content-type"
    ],
    [
      "steps out of a path",
      {
        ...withModel({ id: "film/../../admin" }),
        versions: ["/v2/.."],
        calls: {
          ...toyDocument.calls,
          submit: { method: "POST", path: "/v2/../{model}" },
          status: { method: "GET", path: "/v2/{id}/." }
        }
      },
      "versions[0]: Expected segments other than . and ..",
      "calls.submit.path: Expected segments other than . and ..",
      "calls.status.path: Expected segments other than . and ..",
      "models[0].id: Expected segments other than . and .."
    ],
    [
      "a rule with a value of another type, or without a part",
      withFields({
        first_frame: { to: "/start", inline: "no" },
        ratio: { width: "/w", height: "/h", to: "/shape" }
      }),
      "models[0].fields.ratio.width: There is no such field",
      "models[0].fields.ratio.height: There is no such field",
      "models[0].fields.ratio.to: There is no such field",
      "models[0].fields.first_frame.inline: Expected boolean"
    ],
    [
      "no name of a finished job",
      { ...toyDocument, statuses: { finished: [] } },
      "statuses.finished: Expected the name of a finished job"
    ],
    [
      "a status that proves no refusal",
      { ...toyDocument, refusals: { ...toyDocument.refusals, statuses: { "429": "rate" } } },
      "refusals.statuses.429: Expected a status of refusals: 400 to 404, 413, 415 or 422. " +
        "Others prove nothing by themselves: list the code"
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
      "references that lead nowhere or elsewhere",
      withModel({
        input_schema: {
          properties: {
            wind: { $ref: "#/$defs/Wind" },
            mood: { allOf: [{ $ref: "https://elsewhere.test/schema.json#/Mood" }] },
            tune: { $ref: "#/$defs/One" },
            sample: { type: "string", default: { $ref: "#/none" } }
          },
          $defs: { One: { $ref: "#/$defs/Two" }, Two: { $ref: "#/$defs/One" } }
        }
      }),
      'models[0].input_schema.properties.wind.$ref: "#/$defs/Wind" leads to no schema',
      'models[0].input_schema.properties.tune.$ref: "#/$defs/One" leads to no schema',
      'models[0].input_schema.$defs.One.$ref: "#/$defs/Two" leads to no schema',
      'models[0].input_schema.$defs.Two.$ref: "#/$defs/One" leads to no schema',
      'models[0].input_schema.properties.mood.allOf[0].$ref: "https://elsewhere.test/schema.json#/Mood" is not in this schema, and nothing is loaded from elsewhere: copy it in, as #/$defs/...'
    ],
    [
      "a schema of no object",
      withModel({ input_schema: { type: "string" } }),
      "models[0].input_schema: Expected a JSON Schema with properties, or an OpenAPI document with components.schemas.Input or a request body"
    ],
    [
      "a required field that nothing writes",
      withModel({
        input_schema: {
          required: ["say", "sky", "file", "style"],
          properties: {
            say: { type: "string" },
            sky: { type: "string" },
            file: { type: "string", format: "uri" },
            style: { type: "object", default: {} }
          }
        }
      }),
      "models[0].input_schema.required: file is required, and no field, constant or parameter writes it"
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
    const { seconds, onlySeconds, resolutions, acceptedRatios } = rowOfModel(row, "film/one")
    assert.deepStrictEqual(
      { seconds, onlySeconds, resolutions, acceptedRatios },
      {
        seconds: [4, 8],
        onlySeconds: [4, 8],
        resolutions: ["720p", "1080p"],
        acceptedRatios: ["16:9", "9:16"]
      }
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
      mood: {
        type: "choice",
        values: ["calm", "wild"],
        default: "calm",
        title: "Mood",
        description: "The vendor's field mood"
      },
      looping: { type: "boolean", default: false, description: "The vendor's field looping" },
      tags: { type: "list", max_items: 2, description: "The vendor's field tags" }
    })
    assert.strictEqual(Object.keys(parametersOf(row, row, "film/one"))[0], "mood")
    assert.deepStrictEqual(parametersOf(row, row, "film/two"), {})
  })

  it("have the parameters of an OpenAPI document, in the order in which its vendor shows them", () => {
    const document = Result.getOrThrow(
      decodeQueueDocument(
        withModel(
          {
            input_schema: {
              openapi: "3.0.4",
              paths: {
                "/requests/{id}": { get: {} },
                "/": {
                  post: {
                    requestBody: {
                      content: {
                        "application/json": { schema: { $ref: "#/components/schemas/DrawInput" } }
                      }
                    }
                  }
                }
              },
              components: {
                schemas: {
                  DrawInput: {
                    type: "object",
                    required: ["style", "steps"],
                    "x-fal-order-properties": ["style", "tags"],
                    properties: {
                      steps: { enum: [4, 8], title: " Number  of steps", default: 8 },
                      tags: { type: "array", items: { $ref: "#/components/schemas/Tag" } },
                      size: { type: ["string", "null"], maxLength: 9 },
                      grain: { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 5 },
                      style: { anyOf: [{ $ref: "#/components/schemas/Style" }, { type: "null" }] }
                    }
                  },
                  Style: { type: "string", maxLength: 20 },
                  Tag: { type: "string", enum: ["a", "b"] }
                }
              }
            },
            input_schema_without: ["size"],
            parameters: {}
          },
          { ...draw }
        )
      )
    )
    const row = documentRows([document]).image.get("toy_queue")
    assert.isDefined(row)
    const family = imageFamilyOf(row, "draw")
    assert.deepStrictEqual(Object.entries(family.parameters), [
      [
        "style",
        { type: "text", max_length: 20, required: true, description: "The vendor's field style" }
      ],
      ["tags", { type: "list", values: ["a", "b"], description: "The vendor's field tags" }],
      [
        "steps",
        {
          type: "integer",
          minimum: 4,
          maximum: 8,
          values: [4, 8],
          default: 8,
          title: "Number of steps",
          description: "The vendor's field steps"
        }
      ],
      [
        "grain",
        { type: "integer", minimum: 1, maximum: 4, description: "The vendor's field grain" }
      ]
    ])
    const faults = (fields: Json) => {
      const body = { model: "our-model", prompt: "x", ...fields }
      const checked = checkImages({ body, edit: null }, family)
      return Result.isFailure(checked) ? checked.failure.message : null
    }
    const style = "oil"
    assert.isNull(faults({ style, tags: ["b"], steps: 4, user: "me", quality: "auto" }))
    assert.strictEqual(
      faults({ tags: [] }),
      "style: Expected a text of 1 to 20 characters, without NUL"
    )
    assert.strictEqual(
      faults({ style, tags: ["c"] }),
      "tags: Expected a list of a and b, of at most 100 entries"
    )
    assert.strictEqual(faults({ style, steps: 5 }), "steps: Expected one of 4, 8, without quotes")
    assert.strictEqual(
      faults({ style, stepz: 4 }),
      "stepz: There is no such field; did you mean steps?"
    )
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
