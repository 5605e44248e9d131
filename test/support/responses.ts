/** Responses beside the same chats: a catalog with both kinds of vendors, and the calls. */
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { bodyAs, type Customer, Gateway } from "./gateway.ts"
import { TALK_PRICES, textCatalog } from "./textCatalog.ts"

type Catalog = typeof CatalogWrite.Encoded

/** A model of a vendor with chats alone, and one of a vendor with the Responses API. */
export const responseModels = ["talk-1", "talk-own"] as const

const prices = { ...TALK_PRICES, per_million_cached_input: "0.5" }

/** The catalog of texts, with the models `talk-own` and `talk-other` of two accounts and a price for cached tokens. */
export const responsesCatalog =
  (elsewhere?: string) =>
  (simulatorUrl: string): Catalog => {
    const base = textCatalog(elsewhere)(simulatorUrl)
    return {
      channels: [
        ...base.channels,
        {
          id: "ch-r",
          name: "R",
          base_url: `${simulatorUrl}/openai_responses/v1`,
          api_key: "vendor-key-r"
        },
        {
          id: "ch-s",
          name: "S",
          base_url: `${simulatorUrl}/openai_responses/v1`,
          api_key: "vendor-key-s"
        }
      ],
      models: [
        ...base.models.map((model) => (model.id === "talk-1" ? { ...model, prices } : model)),
        { id: "talk-own", modality: "chat", protocol: "openai_responses", prices },
        { id: "talk-other", modality: "chat", protocol: "openai_responses", prices }
      ],
      mounts: [
        ...base.mounts,
        { model: "talk-own", channel: "ch-r", upstream_model: "vendor-talk-1" },
        { model: "talk-other", channel: "ch-s", upstream_model: "vendor-talk-1" }
      ]
    }
  }

/** The order of a response, as `talk` is one of a chat. */
export const respond = (input: unknown, more: object = {}) => ({
  model: "talk-1",
  input,
  max_output_tokens: 100,
  ...more
})

export const askResponse = (
  who: Customer,
  json: object,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/responses", { key: who.key, json, headers })
  )

export const ResponseBody = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.String,
    status: Schema.String,
    output: Schema.Array(
      Schema.StructWithRest(Schema.Struct({ id: Schema.String, type: Schema.String }), [
        Schema.Record(Schema.String, Schema.Unknown)
      ])
    )
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const Event = Schema.fromJsonString(
  Schema.Struct({
    type: Schema.String,
    sequence_number: Schema.Int,
    delta: Schema.optionalKey(Schema.String),
    response: Schema.optionalKey(ResponseBody)
  })
)
const decodeEvent = Schema.decodeUnknownSync(Event)

/** The events of a streamed response. */
export const responseEventsIn = (text: string) =>
  text.split("\n\n").flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    return data === undefined ? [] : [decodeEvent(data)]
  })

/** The text that a stream has brought. */
export const responseTextIn = (text: string): string =>
  responseEventsIn(text)
    .filter(({ type }) => type === "response.output_text.delta")
    .map(({ delta }) => delta ?? "")
    .join("")

const Orders = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, state: Schema.String, hold: Schema.String })
  )
})

/** The member's latest order of any kind. */
export const latestOrder = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const answer = yield* gateway.call("/v1/orders?limit=1", { key: who.key })
    return (yield* bodyAs(Orders, answer)).data[0]
  })
