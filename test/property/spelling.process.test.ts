/**
 * What is priced, checked or set has one spelling on the wire: whatever else a lenient vendor could
 * read as one of these fields is refused before anything is held, by the name of the field meant.
 * PROPERTY_CASES sets how many orders, PROPERTY_SEED repeats a run.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Predicate, Result, Schema, type SchemaAST } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { editRequest, ImageEditBody } from "../../src/domain/image/ImageEditRequest.ts"
import { imageFamilyOf, imageProtocols } from "../../src/domain/image/ImageProtocol.ts"
import { checkImages, ImageBody, type ImageRequest } from "../../src/domain/image/ImageRequest.ts"
import { imageDimensions } from "../../src/domain/image/imagePrices.ts"
import { priceImages } from "../../src/domain/image/pricedImages.ts"
import { type FieldFault, issueFaults } from "../../src/domain/requestFields.ts"
import { ChatBody, EmbeddingBody } from "../../src/domain/text/TextRequest.ts"
import { OpenaiVideoBody } from "../../src/domain/video/OpenaiVideoBody.ts"
import { unknownVideoFields, VideoBody } from "../../src/domain/video/VideoBody.ts"
import {
  blockParameters,
  cloudParameters,
  parametersTogether,
  tierParameters,
  unifiedParameters
} from "../../src/domain/video/videoParameters.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { errorOf } from "../support/orders.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"
import { fileNamed, PNG } from "../support/uploads.ts"
import { type Disguise, disguised } from "./disguises.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
const SEED = Number(process.env.PROPERTY_SEED ?? Date.now() % 2 ** 31)
/** An order over HTTP takes a hundred times as long. */
const HTTP_CASES = Math.ceil(CASES / 40)

/** Broken cases that are told of, at most. */
const TOLD = 10

type Json = Readonly<Record<string, unknown>>

const kinds = ["image", "edit", "chat", "embedding", "video", "openai video"] as const
type Kind = (typeof kinds)[number]

// What the gateway reads, told from its schemas and tables

const namesOf = ({ ast }: { readonly ast: SchemaAST.AST }): ReadonlyArray<string> =>
  "propertySignatures" in ast && Array.isArray(ast.propertySignatures)
    ? ast.propertySignatures.flatMap(({ name }) => (typeof name === "string" ? [name] : []))
    : []

const family = imageFamilyOf(imageProtocols.ip_a, "paint")
const ofImages = [...Object.keys(family.parameters), ...imageDimensions]

const schemas = {
  image: ImageBody,
  edit: ImageEditBody,
  chat: ChatBody,
  embedding: EmbeddingBody,
  video: VideoBody,
  "openai video": OpenaiVideoBody
} as const satisfies Record<Kind, Schema.Top>

const ownNames: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  image: [...new Set([...namesOf(ImageBody), ...ofImages])],
  edit: [...new Set([...namesOf(ImageEditBody), ...ofImages])],
  chat: namesOf(ChatBody),
  embedding: namesOf(EmbeddingBody),
  video: namesOf(VideoBody),
  "openai video": namesOf(OpenaiVideoBody)
}

const IMAGE = "https://files.test/1.png"
const paint = { model: "paint", prompt: "a lighthouse", n: 1, size: "1024x1024", quality: "low" }
const plain: Readonly<Record<Kind, Json>> = {
  image: paint,
  edit: { ...paint, image: IMAGE },
  chat: { model: "talk", messages: [{ role: "user", content: "hello" }], max_tokens: 10 },
  embedding: { model: "vector", input: "hello" },
  video: { model: "film", prompt: "a lighthouse", duration: 5 },
  "openai video": { model: "film", prompt: "a lighthouse", seconds: "5" }
}

// The gateway without its sockets

const prices = {
  low: { "1024x1024": "0.1", "4096x4096": "1" },
  high: { "1024x1024": "2", "4096x4096": "20" }
}
const nanoPrices = {
  kind: "image",
  per_image: {
    low: { "1024x1024": 100_000_000n, "4096x4096": 1_000_000_000n },
    high: { "1024x1024": 2_000_000_000n, "4096x4096": 20_000_000_000n }
  }
} as const

const imageFault = (request: ImageRequest): FieldFault | null => {
  const checked = Result.andThen(checkImages(request, family), () =>
    priceImages(nanoPrices, request, family)
  )
  if (Result.isSuccess(checked)) return null
  const { param, message } = checked.failure
  return { path: param ?? "", message }
}

const decoded = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  body: unknown,
  next: (body: S["Type"]) => FieldFault | null
): FieldFault | null => {
  const result = Schema.decodeUnknownResult(schema)(body)
  if (Result.isSuccess(result)) return next(result.success)
  return issueFaults(result.failure.issue)[0] ?? { path: "", message: "" }
}

const taken = () => null

/** The first fault of an order; null where it is taken. */
const faultOf = (kind: Kind, body: Json): FieldFault | null => {
  switch (kind) {
    case "image":
      return decoded(ImageBody, body, (image) => imageFault({ body: image, edit: null }))
    case "edit":
      return decoded(ImageEditBody, body, (edit) => imageFault(editRequest(edit)))
    case "video":
      return decoded(VideoBody, body, (video) => unknownVideoFields(video, parameters)[0] ?? null)
    default:
      return decoded<Schema.Top & { readonly DecodingServices: never }>(schemas[kind], body, taken)
  }
}

const parameters = parametersTogether(
  [blockParameters, unifiedParameters, tierParameters, cloudParameters].map((of) => of.parameters)
)

const isVideo = (kind: Kind): boolean => kind === "video" || kind === "openai video"

interface Drawn extends Disguise {
  readonly kind: Kind
  readonly field: string
}

/** Values that cost more than what the order says. */
const values: Json = {
  n: 10,
  size: "4096x4096",
  quality: "high",
  stream: true,
  model: "dear",
  tools: [{ type: "web_search" }],
  max_tokens: 100_000,
  stream_options: { include_usage: false },
  response_format: "b64_json",
  duration: 15
}

const drawn = (dice: Dice, kind: Kind, isForm = false): Drawn => {
  const [first = "", ...rest] = ownNames[kind]
  const field = dice.pick([first, ...rest])
  const value = isForm ? String(values[field] ?? "x") : (values[field] ?? "x")
  return { kind, field, ...disguised(dice, field, value, { isForm, own: ownNames[kind] }) }
}

const joined = (...parts: ReadonlyArray<Json>): Json =>
  Object.fromEntries(parts.flatMap((part) => Object.entries(part)))

/** What is wrong with how a disguise was answered; null where nothing is. */
const complaint = (
  { kind, field, path, top, isNested, isClear }: Drawn,
  fault: FieldFault | null
) => {
  if (fault === null) return "it was taken"
  if (isVideo(kind)) {
    // Everything unknown is refused, whatever is in it.
    if (fault.path !== top.slice(0, 100).toWellFormed()) return `the path is ${fault.path}`
    return isNested || !isClear || fault.message.includes(field) ? null : fault.message
  }
  // Brackets in a name are refused before anything else.
  if (path !== null && !fault.path.startsWith(path.slice(0, 100).toWellFormed())) {
    return `the path is ${JSON.stringify(fault.path)}`
  }
  return !isClear || fault.message.includes(field) ? null : fault.message
}

const inWords = (value: unknown): string => JSON.stringify(value).slice(0, 300)

describe("a field in another spelling or place", () => {
  it(`is refused by the name of the field meant (PROPERTY_SEED=${SEED})`, () => {
    const broken: Array<string> = []
    for (let index = 0; index < CASES && broken.length < TOLD; index++) {
      const seed = SEED + index
      const dice = diceOf(seed)
      const order = drawn(dice, dice.pick(kinds))
      const body = joined(plain[order.kind], order.fields)
      const wrong = complaint(order, faultOf(order.kind, body))
      if (wrong === null) continue
      broken.push(
        `PROPERTY_SEED=${seed} PROPERTY_CASES=1 ${order.field}: ${wrong}: ${inWords(body)}`
      )
    }
    if (broken.length > 0) assert.fail(`\n${broken.join("\n")}\n`)
  })

  it.each(kinds)("is refused for every field that is read of %s, first in line or last", (kind) => {
    assert.isAbove(ownNames[kind].length, 2)
    for (const field of ownNames[kind]) {
      const twin = { [field.toUpperCase()]: values[field] ?? "x" }
      for (const body of [joined(plain[kind], twin), joined(twin, plain[kind])]) {
        const fault = faultOf(kind, body)
        assert.strictEqual(fault?.path, field.toUpperCase(), field)
        assert.include(fault?.message, field)
      }
    }
  })
})

// Places and names that stand for no field of the gateway's

const harmless: ReadonlyArray<readonly [Kind, (name: string) => Json]> = [
  ["chat", (name) => ({ metadata: { [name]: "x" } })],
  [
    "chat",
    (name) => ({
      tools: [
        {
          type: "function",
          function: {
            name: "f",
            parameters: { type: "object", properties: { [name]: { type: "string" } } }
          }
        }
      ]
    })
  ],
  [
    "chat",
    (name) => ({
      response_format: {
        type: "json_schema",
        json_schema: { name: "s", schema: { properties: { [name]: {} } } }
      }
    })
  ],
  ["chat", (name) => ({ messages: [{ role: "user", content: `{"${name}": 1}` }] })],
  [
    "chat",
    (name) => ({
      messages: [
        { role: "user", content: [{ type: "text", text: `{"${name}": 1}`, cache: { [name]: 1 } }] },
        { role: "assistant", tool_calls: [{ function: { name, arguments: `{"${name}": 1}` } }] }
      ]
    })
  ],
  ["image", (name) => ({ metadata: { [name]: "x" } })],
  ["image", (name) => ({ prompt: `{"${name}": "x"}` })],
  ["image", (name) => ({ user: `{"${name}": "x"}` })],
  ["embedding", (name) => ({ input: `{"${name}": "x"}` })],
  ["video", (name) => ({ metadata: { [name]: "x" } })]
]

const vendorFields: ReadonlyArray<readonly [Kind, Json]> = [
  ["image", { seed: 7, guidance_scale: 3.5, num_inference_steps: 20, negative_prompt: "x" }],
  ["image", { style: "vivid", style_preset: "anime", loras: [{ model: "x", scale: 1 }] }],
  ["image", { controlnet: { image: IMAGE, model: "canny" }, watermark: false, user: "me" }],
  ["image", { 风格: "水墨", параметры: { стиль: 1 }, größe_der_schrift: 3, prénom: "x" }],
  ["image", { background_color: "red", sizing: "fit", models_used: 1, prompt_upsampling: true }],
  ["chat", { temperature: 0.5, top_p: 1, seed: 7, reasoning_effort: "low", logprobs: true }],
  ["chat", { reasoning: { max_tokens: 5 }, options: { num_ctx: 2048, num_predict: 5, stop: [] } }],
  ["chat", { modalities: ["text"], tools: [{ type: "function", function: { name: "f" } }] }],
  ["chat", { stream_options: { include_obfuscation: false }, tools: null }],
  ["chat", { chat_template_kwargs: { enable_thinking: false }, extra_body: { top_k: 5 } }],
  ["chat", { prompt_variables: { 城市: "北京", город: "Москва" }, audio: null, modalities: [] }],
  ["embedding", { dimensions: 8, encoding_format: "float", input_type: "query", user: "me" }]
]

describe("a field of its own name", () => {
  it("is taken where no vendor reads it as the gateway's", () => {
    for (const [kind, fieldsFor] of harmless) {
      for (const name of ownNames[kind].flatMap((own) => [own, own.toUpperCase()])) {
        const body = joined(plain[kind], fieldsFor(name))
        assert.isNull(faultOf(kind, body), inWords(body))
      }
    }
  })

  it.each(vendorFields)("is taken where it resembles none: of %s %j", (kind, fields) => {
    assert.isNull(faultOf(kind, joined(plain[kind], fields)))
  })

  it.each([
    { image_size: "4096x4096" },
    { width: 4096, height: 4096 },
    { aspect_ratio: "16:9", resolution: "4k", image_quality: "hd" }
  ])("may be what others call a size where one price is for all: %j", (fields) => {
    const body = Schema.decodeUnknownSync(ImageBody)(joined(paint, fields))
    const single = { kind: "image", per_image: 1n } as const
    const request = { body, edit: null }
    assert.isTrue(Result.isSuccess(checkImages(request, family)))
    assert.isTrue(Result.isSuccess(priceImages(single, request, family)))
    assert.isTrue(Result.isFailure(priceImages(nanoPrices, request, family)))
    const byQuality = { kind: "image", per_image: { low: { "*": 1n }, high: { "*": 2n } } } as const
    const { image_quality: quality } = { image_quality: null, ...fields }
    assert.strictEqual(Result.isSuccess(priceImages(byQuality, request, family)), quality === null)
  })

  it("is looked for in texts of JSON as far as any order goes, and not beyond", () => {
    for (const text of [
      `[${"[],".repeat(200_000)}[]]`,
      "[".repeat(600_000),
      `{"a":${"[".repeat(999)}${"]".repeat(999)}}`
    ]) {
      const fault = faultOf("image", { ...paint, notes: text })
      assert.strictEqual(
        fault === null,
        text.length < 5000 || text.length === 600_000,
        text.slice(0, 20)
      )
    }
  })
})

// Over HTTP, with a vendor that reads whatever there is

const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }

const answered = ({ method, target, body }: ReceivedRequest): Reply => {
  if (/\/images\//.test(target)) {
    return { body: { created: 1, data: [{ url: "https://media.test/1.png" }] } }
  }
  if (target.endsWith("/embeddings")) {
    return { body: { data: [{ object: "embedding", index: 0, embedding: [0.5] }], usage } }
  }
  if (method === "POST" && target.endsWith("/tasks")) return { body: { id: "job-1" } }
  if (target.includes("/tasks/")) return { body: { status: "running" } }
  const message = { role: "assistant", content: "hello" }
  return { body: { model: body, choices: [{ index: 0, message, finish_reason: "stop" }], usage } }
}

class Vendor extends Context.Service<
  Vendor,
  {
    readonly url: string
    /** The orders that came, as their bytes. */
    readonly orders: Effect.Effect<ReadonlyArray<string>>
  }
>()("test/property/LenientVendor") {
  static readonly layer = Layer.effect(
    Vendor,
    Effect.map(brokenVendor(answered), ({ url, requests }) => ({
      url,
      orders: Effect.map(requests, (all) =>
        all.filter(({ method }) => method === "POST").map(({ body }) => body)
      )
    }))
  )
}

const catalogOf = (url: string): typeof CatalogWrite.Encoded => ({
  channels: [{ id: "ch", name: "Vendor", base_url: url, api_key: "k" }],
  models: [
    {
      id: "film",
      modality: "video",
      protocol: "vp_a",
      prices: { kind: "token_video", per_million_tokens: { base: { without_video: "46" } } }
    },
    {
      id: "paint",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: prices }
    },
    { id: "talk", modality: "chat", protocol: "openai", prices: TALK_PRICES },
    {
      id: "vector",
      modality: "embedding",
      protocol: "openai",
      prices: { kind: "tokens", per_million_input: "0.5" }
    }
  ],
  mounts: ["film", "paint", "talk", "vector"].map((model) => ({ model, channel: "ch" }))
})

const paths: Readonly<Record<Kind, string>> = {
  image: "/v1/images/generations",
  edit: "/v1/images/edits",
  chat: "/v1/chat/completions",
  embedding: "/v1/embeddings",
  video: "/v1/videos/generations",
  "openai video": "/v1/videos"
}

/** Sends JSON as it is written, or fields as a form with a picture. */
const send = Effect.fnUntraced(function* (
  who: Customer,
  kind: Kind,
  order: string | ReadonlyArray<readonly [string, unknown]>,
  headers: Readonly<Record<string, string>> = {}
) {
  const gateway = yield* Gateway
  if (typeof order === "string") {
    return yield* gateway.call(paths[kind], { key: who.key, body: order, headers })
  }
  return yield* Effect.promise(async (): Promise<HttpAnswer> => {
    const form = new FormData()
    for (const [name, value] of order) form.append(name, String(value))
    if (kind === "edit") form.append("image", fileNamed("a.png", PNG, "image/png"))
    const answer = await fetch(`${gateway.url}${paths[kind]}`, {
      method: "POST",
      headers: { authorization: `Bearer ${who.key}`, ...headers },
      body: form
    })
    const { status, headers: answerHeaders } = answer
    const text = await answer.text()
    return { status, headers: answerHeaders, text, body: JSON.parse(text) }
  })
})

/** Every name in a text of JSON, also one that stands twice. */
const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)].flatMap(([, name = "", colon]) =>
    colon === undefined ? [] : [String(JSON.parse(name))]
  )

const rowsOf = (text: string) => ({ text, fields: namesIn(text) })

const p = JSON.stringify
const after = (kind: Kind, more: string): string => `${p(plain[kind]).slice(0, -1)},${more}}`

type Row = readonly [
  kind: Kind,
  order: string | Json,
  param: string,
  meant: string,
  headers?: Readonly<Record<string, string>>
]
const later = { prefer: "respond-async" }

/** A text is JSON as it is written behind the plain order; fields are those of a form. */
const named: ReadonlyArray<Row> = [
  ["image", '"Quality":"high","Size":"4096x4096"', "Quality", "quality"],
  ["image", '"Size":"4096x4096"', "Size", "size"],
  ["image", '"\\u0051uality":"high"', "Quality", "quality"],
  ["image", '"extra_body":{"quality":"high"}', "extra_body.quality", "quality"],
  ["image", '"extra_body":{"image_size":"4096x4096"}', "extra_body.image_size", "size"],
  ["image", '"vendor":{"options":{"size":"4096x4096"}}', "vendor.options.size", "size"],
  ["image", '"image_size":"4096x4096"', "image_size", "size"],
  ["image", '"resolution":"4k"', "resolution", "size"],
  ["image", '"width":4096,"height":4096', "width", "size"],
  ["image", '"aspect_ratio":"16:9"', "aspect_ratio", "size"],
  ["image", '"image_quality":"high"', "image_quality", "quality"],
  ["image", '"qu\u0430lity":"high"', "qu\u0430lity", "quality"],
  ["image", '"\uff53\uff49\uff5a\uff45":"4096x4096"', "\uff53\uff49\uff5a\uff45", "size"],
  ["image", '"si\u200bze":"4096x4096"', "si\u200bze", "size"],
  ["image", '"s\u0131ze":"4096x4096"', "s\u0131ze", "size"],
  ["image", '"size\u0301":"4096x4096"', "size\u0301", "size"],
  ["image", '"size\\u0000":"4096x4096"', "size\u0000", "size"],
  ["image", '"__proto__":{"quality":"high"}', "__proto__.quality", "quality"],
  ["image", '"extra_body":"{\\"size\\":\\"4096x4096\\"}"', "extra_body.size", "size"],
  ["image", '"instances":[{},{"prompt":"another"}]', "instances[1].prompt", "prompt"],
  ["image", '"Response_Format":"b64_json"', "Response_Format", "response_format", later],
  [
    "image",
    '"extra_body":{"response_format":"b64_json"}',
    "extra_body.response_format",
    "response_format",
    later
  ],
  ["edit", '"Quality":"high"', "Quality", "quality"],
  ["edit", '"Mask":"https://files.test/2.png"', "Mask", "mask"],
  ["edit", { Quality: "high" }, "Quality", "quality"],
  ["edit", { extra_body: '{"size":"4096x4096"}' }, "extra_body.size", "size"],
  ["edit", { "extra_body[size]": "4096x4096" }, "extra_body[size]", "size"],
  ["edit", { "parameters.size": "4096x4096" }, "parameters.size", "size"],
  ["edit", { image_size: "4096x4096" }, "image_size", "size"],
  ["edit", { Images: "https://files.test/2.png" }, "Images", "images"],
  ["chat", '"Tools":[{"type":"web_search"}]', "Tools", "tools"],
  ["chat", '"extra_body":{"tools":[{"type":"web_search"}]}', "extra_body.tools", "tools"],
  ["chat", '"tools":[{"type":"function","Type":"web_search"}]', "tools[0].Type", "tools"],
  ["chat", '"Stream_Options":{"include_usage":false}', "Stream_Options", "stream_options"],
  [
    "chat",
    '"stream_options":{"Include_Usage":false}',
    "stream_options.Include_Usage",
    "include_usage"
  ],
  [
    "chat",
    '"modalities":["text","audio"],"audio":{"voice":"a","format":"wav"}',
    "modalities",
    "modalities"
  ],
  ["chat", '"extra_body":{"Modalities":["audio"]}', "extra_body.Modalities", "modalities"],
  ["chat", '"audio":{"voice":"a"}', "audio", "modalities"],
  ["chat", '"Max_Tokens":100000', "Max_Tokens", "max_tokens"],
  ["chat", '"m\u0430x_tokens":100000', "m\u0430x_tokens", "max_tokens"],
  [
    "chat",
    '"extra_body":{"max_completion_tokens":100000}',
    "extra_body.max_completion_tokens",
    "max_completion_tokens"
  ],
  ["chat", '"N":1', "N", "n"],
  [
    "chat",
    '"messages":[{"role":"user","content":"x","Content":"y"}]',
    "messages[0].Content",
    "content"
  ],
  [
    "chat",
    '"messages":[{"role":"user","content":[{"type":"text","text":"x","Image_Url":"https://a.test/1"}]}]',
    "messages[0].content[0].Image_Url",
    "image_url"
  ],
  ["embedding", '"Input":"another"', "Input", "input"],
  ["embedding", '"extra_body":{"input":"another"}', "extra_body.input", "input"],
  ["video", '"Duration":15', "Duration", "duration"],
  ["openai video", '"s\u0435conds":"15"', "s\u0435conds", "seconds"]
]

/** Repeated names, and escapes that are the name itself: one field is left of them. */
const oneLeft: ReadonlyArray<readonly [Kind, string, charge: string, sent: string]> = [
  ["image", '"quality":"high"', "2", '"quality":"high"'],
  [
    "image",
    '"\\u0071uality":"high","size":"1024x1024","size":"4096x4096"',
    "20",
    '"size":"4096x4096"'
  ],
  ["edit", '"n":3,"\\u006e":2', "0.2", '"n":2']
]

layer(
  Layer.unwrap(
    Effect.map(Vendor, ({ url }) =>
      layerTestGateway("embedded", quickSettings, { catalogFor: () => catalogOf(url) })
    )
  ).pipe(Layer.provideMerge(Vendor.layer)),
  { excludeTestServices: true, timeout: "60 seconds" }
)("over HTTP, a field in another spelling or place", (it) => {
  /** Sends what has to be refused, without a hold and without a question to the vendor. */
  const refused = Effect.fnUntraced(function* (
    who: Customer,
    ...order: Parameters<typeof send> extends [Customer, ...infer Rest] ? Rest : never
  ) {
    const { orders } = yield* Vendor
    const before = (yield* orders).length
    const answer = yield* send(who, ...order)
    assert.strictEqual(answer.status, 400, `${inWords(order)}: ${answer.text}`)
    assert.strictEqual((yield* orders).length, before)
    assert.deepInclude(yield* (yield* Gateway).balance(who), { balance: "100", held: "0" })
    const error = yield* errorOf(answer)
    assert.deepInclude(error, { code: "invalid_request" })
    return error
  })

  const asOrder = (kind: Kind, order: string | Json) =>
    typeof order === "string" ? after(kind, order) : Object.entries(joined(paint, order))

  it.effect("is refused before any hold by the field that was meant: the forms by name", () =>
    Effect.gen(function* () {
      const who = yield* (yield* Gateway).customer("100")
      for (const [kind, order, param, meant, headers] of named) {
        const error = yield* refused(who, kind, asOrder(kind, order), headers)
        assert.strictEqual(error.param, param, inWords(order))
        assert.include(error.message, meant, inWords(order))
      }
    })
  )

  it.effect(
    `is refused however it is drawn (PROPERTY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const who = yield* (yield* Gateway).customer("100")
        for (let index = 0; index < HTTP_CASES; index++) {
          const seed = SEED + index
          const dice = diceOf(seed)
          const kind = dice.pick(kinds)
          const isForm = kind === "edit" && dice.chance(60)
          const drawing = drawn(dice, kind, isForm)
          // One model has not all the fields that some vendor has.
          const asked = isVideo(kind) ? { ...drawing, isClear: false } : drawing
          const all = joined(plain[kind], drawing.fields)
          const headers = kind === "image" && dice.chance(30) ? later : {}
          const { image: _, ...form } = all
          const error = yield* refused(who, kind, isForm ? Object.entries(form) : p(all), headers)
          const fault = { path: String(error.param), message: error.message }
          const label = `PROPERTY_SEED=${seed} PROPERTY_CASES=1 ${inWords(all)}`
          // A form has its names without some of the characters that nobody sees.
          if (!isForm) assert.isNull(complaint(asked, fault), label)
        }
      }),
    60_000 + HTTP_CASES * 100
  )

  it.effect("is one field to the vendor where it is one to the gateway", () =>
    Effect.gen(function* () {
      const { orders } = yield* Vendor
      const gateway = yield* Gateway
      for (const [kind, more, charge, sent] of oneLeft) {
        const who = yield* gateway.customer("100")
        const answer = yield* send(who, kind, after(kind, more))
        assert.strictEqual(answer.status, 200, answer.text)
        const { text, fields } = rowsOf((yield* orders).at(-1) ?? "")
        assert.include(text, sent)
        assert.strictEqual(new Set(fields.map((name) => name.toLowerCase())).size, fields.length)
        const { balance } = yield* gateway.balance(who)
        assert.strictEqual(Number(balance), 100 - Number(charge), more)
      }
    })
  )

  it.effect("is handed on as it came where it resembles none", () =>
    Effect.gen(function* () {
      const { orders } = yield* Vendor
      const who = yield* (yield* Gateway).customer("100")
      for (const [kind, fields] of vendorFields) {
        const answer = yield* send(who, kind, p(joined(plain[kind], fields)))
        assert.strictEqual(answer.status, 200, answer.text)
        const sent: unknown = JSON.parse((yield* orders).at(-1) ?? "")
        assert.isTrue(Predicate.isObject(sent))
        assert.deepInclude(sent, fields)
      }
    })
  )
})
