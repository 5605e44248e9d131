/** Calls for text, and what stands in the usage for them. */
import { Effect, Schema } from "effect"
import { bodyAs, type Customer, Gateway } from "./gateway.ts"

const Usage = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      modality: Schema.String,
      input: Schema.Int,
      output: Schema.Int,
      unit: Schema.String,
      unit_price: Schema.String,
      input_unit_price: Schema.NullOr(Schema.String),
      charge: Schema.String,
      basis: Schema.String
    })
  )
})

export const latestUsage = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
    return data[0]
  })

export const ask = (who: Customer, json: object, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/chat/completions", { key: who.key, json, headers })
  )
