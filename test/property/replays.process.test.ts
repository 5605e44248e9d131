/**
 * Every kind of key beside every order whose `Idempotency-Key` it knows: an answer that a colleague paid
 * for goes to those keys alone that might order the same, and no other key learns that there is one.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { textCatalog } from "../support/textCatalog.ts"

type Json = Readonly<Record<string, unknown>>

interface Order {
  readonly path: string
  readonly scope: string
  readonly json: Json
  readonly headers?: Readonly<Record<string, string>>
  /** What the first answer is. */
  readonly status: number
  /** What a repeat is answered where it is not that: of what is not kept, or not made yet. */
  readonly repeat?: number
}

const image = { model: "paint-1", prompt: "a lighthouse" }
const chat = { model: "talk-1", messages: [{ role: "user", content: "x" }] }

const orders: Readonly<Record<string, Order>> = {
  images: { path: "/v1/images/generations", scope: "images", json: image, status: 200 },
  "images in base64": {
    path: "/v1/images/generations",
    scope: "images",
    json: { ...image, response_format: "b64_json" },
    status: 200
  },
  "images to read later": {
    path: "/v1/images/generations",
    scope: "images",
    json: image,
    headers: { prefer: "respond-async" },
    status: 202
  },
  "edited images": {
    path: "/v1/images/edits",
    scope: "images",
    json: { ...image, image: "https://files.test/1.png" },
    status: 200
  },
  "a refusal": {
    path: "/v1/images/generations",
    scope: "images",
    json: { ...image, prompt: "x sim:refuse=422" },
    status: 422
  },
  "a video": {
    path: "/v1/videos/generations",
    scope: "videos",
    json: { model: "film-1", prompt: "x sim:slow=100000" },
    status: 200
  },
  "a video of the openai package": {
    path: "/v1/videos",
    scope: "videos",
    json: { model: "film-1", prompt: "x sim:slow=100000" },
    status: 200
  },
  "a text": { path: "/v1/chat/completions", scope: "chat", json: chat, status: 200 },
  "a streamed text": {
    path: "/v1/chat/completions",
    scope: "chat",
    json: { ...chat, stream: true },
    status: 200,
    repeat: 409
  },
  vectors: {
    path: "/v1/embeddings",
    scope: "embeddings",
    json: { model: "vector-1", input: "x" },
    status: 200
  }
}

const MODELS = ["paint-1", "film-1", "talk-1", "vector-1"]

/** Keys as operators make them, and whether one may order what the case orders. */
const keys: Readonly<
  Record<string, { readonly may: boolean; readonly options: (order: Order) => Json }>
> = {
  "any model": { may: true, options: () => ({}) },
  "this model among others": { may: true, options: () => ({ models: MODELS }) },
  "this scope alone": { may: true, options: ({ scope }) => ({ scopes: [scope] }) },
  "other models": {
    may: false,
    options: ({ json }) => ({ models: ["clip-1", ...MODELS.filter((id) => id !== json.model)] })
  },
  "no model": { may: false, options: () => ({ models: [] }) },
  "other scopes": {
    may: false,
    options: ({ scope }) => ({
      scopes: ["models", "videos", "images", "chat"].filter((one) => one !== scope)
    })
  },
  "neither the scope nor the model": {
    may: false,
    options: () => ({ scopes: ["usage"], models: ["clip-1"] })
  }
}

const Created = Schema.Struct({ id: Schema.String })
const CreatedKey = Schema.Struct({ key: Schema.String })

const makeKey = Effect.fnUntraced(function* (memberId: string, options: Json) {
  const gateway = yield* Gateway
  const path = `/members/${memberId}/keys`
  const answer = yield* gateway.admin(path, { json: { name: "k", ...options } })
  return (yield* bodyAs(CreatedKey, answer)).key
})

const makeColleague = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const path = `/organizations/${organizationId}/members`
  return (yield* bodyAs(Created, yield* gateway.admin(path, { json: { name: "colleague" } }))).id
})

let count = 0
/** Long enough that none is a part of an answer by chance. */
const freshKey = () => `replay-${++count}`

const send = (
  key: string,
  idempotencyKey: string,
  { path, json, headers = {} }: Order,
  more: Json = {}
) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(path, {
      key,
      json: { ...json, ...more },
      headers: { ...headers, "idempotency-key": idempotencyKey }
    })
  )

/** Another order under the same key. */
const otherOf = ({ scope }: Order): Json => {
  if (scope === "chat") return { max_tokens: 5 }
  return scope === "embeddings" ? { input: "y" } : { prompt: "y" }
}

/** An answer without what belongs to its request alone. */
const shapeOf = ({ status, headers, text }: HttpAnswer) => ({
  status,
  headers: [...headers]
    .map(([name]) => name)
    .filter((name) => !/^(?:x-)?ratelimit/.test(name))
    .toSorted(),
  text
})

/** The key is answered the first answer again, and refused another order under its name. */
const assertReplayed = Effect.fnUntraced(function* (
  key: string,
  idempotencyKey: string,
  order: Order,
  label: string
) {
  const again = yield* send(key, idempotencyKey, order)
  const other = yield* send(key, idempotencyKey, order, otherOf(order))
  assert.strictEqual(again.status, order.repeat ?? order.status, label)
  if (order.repeat === undefined) {
    assert.strictEqual(again.headers.get("idempotency-replayed"), "true", label)
  }
  assert.strictEqual(other.status, 422, label)
})

/** The key is refused as for a fresh order, so that it learns nothing of the first one. */
const assertForbidden = Effect.fnUntraced(function* (
  key: string,
  idempotencyKey: string,
  order: Order,
  label: string
) {
  const again = yield* send(key, idempotencyKey, order)
  const other = yield* send(key, idempotencyKey, order, otherOf(order))
  const fresh = yield* send(key, freshKey(), order)
  assert.strictEqual(fresh.status, 403, label)
  assert.deepStrictEqual(shapeOf(again), shapeOf(fresh), label)
  assert.deepStrictEqual(shapeOf(other), shapeOf(fresh), label)
})

for (const kind of ["embedded", "postgres"] as const) {
  layer(layerTestGateway(kind, undefined, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a colleague's order and its Idempotency-Key (${kind})`, (it) => {
    // Who may is decided before the database is asked; one of each kind shows that both keep to it.
    it.effect.each(kind === "postgres" ? Object.keys(orders) : ["images", "a video"])(
      "%s: answered again to keys that might order it, and to no other",
      (name) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const order = orders[name]
          assert.isDefined(order)
          const who = yield* gateway.customer("100")
          const colleague = yield* makeColleague(who)
          const used = freshKey()
          const first = yield* send(who.key, used, order)
          assert.strictEqual(first.status, order.status, first.text)
          const { available } = yield* gateway.balance(who)
          const colleagues = Object.keys(keys).map(
            (name) => ["colleague's", colleague, name] as const
          )
          // A member's own keys differ from each other as a colleague's do.
          const own = ["own", who.memberId, "other models"] as const
          for (const [whose, memberId, name] of [own, ...colleagues]) {
            const { may, options } = keys[name] ?? assert.fail(name)
            const key = yield* makeKey(memberId, options(order))
            yield* (may ? assertReplayed : assertForbidden)(
              key,
              used,
              order,
              `${whose} key: ${name}`
            )
          }
          assert.strictEqual((yield* gateway.balance(who)).available, available)
          // Another organisation's key of that name stands for nothing.
          const stranger = yield* gateway.customer("100")
          const elsewhere = yield* send(stranger.key, used, order)
          assert.isNull(elsewhere.headers.get("idempotency-replayed"))
          // Who is disabled gets nothing at all.
          yield* gateway.admin(`/members/${colleague}`, {
            method: "PATCH",
            json: { enabled: false }
          })
          const key = yield* makeKey(colleague, {})
          assert.strictEqual((yield* send(key, used, order)).status, 403)
          yield* gateway.verify
        })
    )
  })
}
