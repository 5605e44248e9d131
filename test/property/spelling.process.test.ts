/** Orders over HTTP with fields in another spelling, at a vendor that reads whatever there is. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Predicate } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { errorOf } from "../support/orders.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"
import { fileNamed, PNG } from "../support/uploads.ts"

import {
  CASES,
  complaint,
  drawn,
  inWords,
  isVideo,
  type Json,
  joined,
  type Kind,
  kinds,
  paint,
  plain,
  prices,
  SEED,
  vendorFields
} from "./spellings.ts"

/** An order over HTTP takes a hundred times as long as one that is decoded alone. */
const HTTP_CASES = Math.ceil(CASES / 40)

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

/** An order as text or as the entries of a form. */
const drawOverHttp = (dice: Dice) => {
  const kind = dice.pick(kinds)
  const isForm = kind === "edit" && dice.chance(60)
  const drawing = drawn(dice, kind, isForm)
  // One model has not all the fields that some vendor has.
  const asked = isVideo(kind) ? { ...drawing, isClear: false } : drawing
  const all = joined(plain[kind], drawing.fields)
  const headers = kind === "image" && dice.chance(30) ? later : {}
  const { image: _, ...form } = all
  return { asked, headers, order: isForm ? Object.entries(form) : p(all) }
}

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
          const label = `PROPERTY_SEED=${seed} PROPERTY_CASES=1`
          const { asked, order, headers } = drawOverHttp(diceOf(seed))
          const error = yield* refused(who, asked.kind, order, headers)
          const fault = { path: String(error.param), message: error.message }
          // A form has its names without some of the characters that nobody sees.
          if (!Array.isArray(order)) {
            assert.isNull(complaint(asked, fault), `${label} ${inWords(order)}`)
          }
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
