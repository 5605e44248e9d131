/** Endpoints of webhooks, images whose end they are told, and what proves a message's signature. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import { bodyAs, type Customer, Gateway, quickSettings } from "./gateway.ts"
import type { Received } from "./receiver.ts"

export const webhookSettings = {
  ...quickSettings,
  webhookAllowPrivate: true,
  webhookRetrySeconds: [0.01, 0.01, 0.01]
}

export const EndpointBody = Schema.Struct({ id: Schema.String, signing_secret: Schema.String })

export const create = Effect.fnUntraced(function* (
  who: Customer,
  url: string,
  eventTypes: ReadonlyArray<string>
) {
  const gateway = yield* Gateway
  const made = yield* gateway.call("/v1/webhook_endpoints", {
    key: who.key,
    json: { name: "test", url, event_types: eventTypes }
  })
  assert.strictEqual(made.status, 200, made.text)
  return yield* bodyAs(EndpointBody, made)
})

export const images = Effect.fnUntraced(function* (who: Customer, json: object = {}) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-1", prompt: "a lighthouse nobody knows", ...json }
  })
  assert.strictEqual(answer.status, 202, answer.text)
  return (yield* bodyAs(Schema.Struct({ id: Schema.String }), answer)).id
})

/** As the specification's own package sees it. */
export const verified = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers)
