/** The tests' catalog with text models of every kind, and the forms their answers have. */
import { Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { testCatalog } from "./gateway.ts"

type Catalog = typeof CatalogWrite.Encoded

/** Input 2 and output 8 a million, so that each shows in a charge. */
export const TALK_PRICES = {
  kind: "tokens",
  per_million_input: "2",
  per_million_output: "8"
} as const

/** `elsewhere` is the base address of another vendor than the simulated one, for `talk-held` and `vector-held`. */
export const textCatalog =
  (elsewhere = "http://127.0.0.1:9") =>
  (simulatorUrl: string): Catalog => {
    const base = testCatalog(simulatorUrl)
    const models: Catalog["models"] = [
      { id: "talk-1", modality: "chat", protocol: "openai", prices: TALK_PRICES },
      { id: "look-1", modality: "vlm", protocol: "openai", prices: TALK_PRICES },
      {
        id: "vector-1",
        modality: "embedding",
        protocol: "openai",
        prices: { kind: "tokens", per_million_input: "0.5" }
      },
      { id: "talk-held", modality: "chat", protocol: "openai", prices: TALK_PRICES },
      {
        id: "vector-held",
        modality: "embedding",
        protocol: "openai",
        prices: { kind: "tokens", per_million_input: "0.5" }
      },
      { id: "talk-unpriced", modality: "chat", protocol: "openai" },
      {
        id: "talk-half-priced",
        modality: "chat",
        protocol: "openai",
        prices: { kind: "tokens", per_million_input: "2" }
      },
      { id: "talk-strange", modality: "chat", protocol: "other", prices: TALK_PRICES },
      { id: "talk-unmounted", modality: "chat", protocol: "openai", prices: TALK_PRICES },
      { id: "speak-1", modality: "tts", protocol: "openai" },
      { id: "listen-1", modality: "asr", protocol: "openai" }
    ]
    return {
      channels: [
        ...base.channels,
        { id: "ch-t", name: "T", base_url: `${simulatorUrl}/openai/v1`, api_key: "vendor-key-t" },
        { id: "ch-held", name: "Held", base_url: elsewhere, api_key: "vendor-key-h" }
      ],
      models: [...base.models.filter(({ id }) => id !== "talk-1"), ...models],
      mounts: [
        ...base.mounts,
        ...models
          .filter(({ id }) => id !== "talk-unmounted" && id !== "speak-1" && id !== "listen-1")
          .map(({ id }) => ({
            model: id,
            channel: id.endsWith("-held") ? "ch-held" : "ch-t",
            upstream_model: `vendor-${id}`
          }))
      ]
    }
  }

/** A chat with one message, and whatever else is said. */
export const talk = (content: unknown, more: object = {}) => ({
  model: "talk-1",
  messages: [{ role: "user", content }],
  max_tokens: 100,
  ...more
})

const Counts = Schema.Struct({
  prompt_tokens: Schema.Int,
  completion_tokens: Schema.Int
})

export const Completion = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({ message: Schema.Struct({ role: Schema.String, content: Schema.String }) })
  ),
  usage: Schema.optionalKey(Counts)
})

/** The data of every event of a stream, in their order. */
export const dataOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length))

const Chunk = Schema.fromJsonString(
  Schema.Struct({
    choices: Schema.Array(
      Schema.Struct({ delta: Schema.Struct({ content: Schema.optionalKey(Schema.String) }) })
    )
  })
)
const isChunk = Schema.decodeUnknownOption(Chunk)

/** The text a stream has brought. */
export const textOf = (data: ReadonlyArray<string>): string =>
  data
    .map((one) => {
      const chunk = isChunk(one)
      return chunk._tag === "Some" ? (chunk.value.choices[0]?.delta.content ?? "") : ""
    })
    .join("")
