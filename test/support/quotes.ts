/** Quotes as a customer asks for them. */
import { Effect, Schema } from "effect"
import { type Customer, Gateway } from "./gateway.ts"

export const quoteOf = (who: Customer, json: unknown) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call("/v1/quotes", { key: who.key, json }))

export const Amounts = Schema.Struct({ hold: Schema.String, expected_charge: Schema.String })
