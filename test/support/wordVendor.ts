/** A vendor of every modality that takes orders as their prompts say, and counts them. */
import { randomUUID } from "node:crypto"
import { Context, Deferred, Effect, Layer } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { brokenVendor, type Reply } from "./brokenVendor.ts"
import { layerTestGateway, quickSettings } from "./gateway.ts"
import { TALK_PRICES } from "./textCatalog.ts"

/** An order's prompt is `promptOf(...)` of its name and of words, each of them one answer. */
export class WordVendor extends Context.Service<
  WordVendor,
  {
    readonly url: string
    /** How often an order with the text in its body has come. */
    orders(text: string): Effect.Effect<number>
    /** Answers the orders that wait, and all that are told to wait afterwards. */
    readonly letGo: Effect.Effect<void>
  }
>()("test/WordVendor") {}

/**
 * The first word is the answer to the first order of that name, and so on; the last one counts for
 * all further ones. A status, or `late`: 429 with a second to wait, `soon`: 429 with none, `html`,
 * `reset`, `cut`, and `wait`, until the test lets it go.
 */
export const promptOf = (name: string, ...words: ReadonlyArray<string>): string =>
  `name:${name} words:${words.join(",")}`

const readPrompt = (body: string) => {
  const [, name = "", words = ""] = /name:(\S+) words:([\w,]+)/.exec(body) ?? []
  return { name: `name:${name} `, words: words.split(",") }
}

const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
const streamed = [
  { choices: [{ index: 0, delta: { role: "assistant", content: "hello" }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
]
const eventStream = [...streamed.map((event) => JSON.stringify(event)), "[DONE]"]
  .map((data) => `data: ${data}\n\n`)
  .join("")

const wellDone = (target: string, body: string): Reply => {
  if (target.endsWith("/images/generations")) {
    return { body: { created: 1, data: [{ url: "https://media.test/1.png" }] } }
  }
  if (target.endsWith("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [0.5] }]
    return { body: { object: "list", data, usage } }
  }
  if (target.endsWith("/tasks")) return { body: { id: `job-${randomUUID()}` } }
  if (target.includes("/tasks/")) {
    const content = { video_url: "https://media.test/1.mp4" }
    return { body: { status: "succeeded", content, usage: { completion_tokens: 108900 } } }
  }
  if (body.includes('"stream":true')) {
    return { headers: { "content-type": "text/event-stream" }, body: eventStream }
  }
  const message = { role: "assistant", content: "hello" }
  return { body: { choices: [{ index: 0, message, finish_reason: "stop" }], usage } }
}

const busy = (seconds: string): Reply => ({
  status: 429,
  headers: { "content-type": "application/json", "retry-after": seconds },
  body: { error: { message: "too many requests", code: "RateLimitExceeded" } }
})

/** An overload is told by its code, as what stands before a vendor answers 503 as well. */
const errorOf = (word: string) => ({
  error: {
    message: `the vendor says ${word}`,
    code: word === "503" ? "ServerOverloaded" : "unheard"
  }
})

const layerVendor = Layer.effect(
  WordVendor,
  Effect.gen(function* () {
    const letGo = yield* Deferred.make<void>()
    const bodies: Array<string> = []
    const count = (text: string) => bodies.filter((body) => body.includes(text)).length

    const { url } = yield* brokenVendor(async ({ target, body }): Promise<Reply> => {
      const { name, words } = readPrompt(body)
      const word = words[count(name)] ?? words.at(-1)
      bodies.push(body)
      switch (word) {
        case "late":
          return busy("1")
        case "soon":
          return busy("0")
        case "html":
          return { headers: { "content-type": "text/html" }, body: "<p>Back soon</p>" }
        case "reset":
        case "cut":
          return word
        case "wait":
          await Effect.runPromise(Deferred.await(letGo))
          return wellDone(target, body)
        default:
          return word === undefined || word === "" || word === "200"
            ? wellDone(target, body)
            : { status: Number(word), body: errorOf(word) }
      }
    })
    return {
      url,
      orders: (text) => Effect.sync(() => count(text)),
      letGo: Effect.asVoid(Deferred.succeed(letGo, undefined))
    }
  })
)

const catalogOf = (url: string): typeof CatalogWrite.Encoded => ({
  channels: [{ id: "ch", name: "Vendor", base_url: url, api_key: "k" }],
  models: [
    {
      id: "film",
      modality: "video",
      protocol: "vp_a",
      prices: {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "46", with_video: "28" } }
      }
    },
    {
      id: "paint",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: "0.2" }
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

/** A gateway with the vendor's models `film`, `paint`, `talk` and `vector`. */
export const layerWordVendorGateway = Layer.unwrap(
  Effect.map(WordVendor, ({ url }) =>
    layerTestGateway("postgres", quickSettings, { catalogFor: () => catalogOf(url) })
  )
).pipe(Layer.provideMerge(layerVendor))
