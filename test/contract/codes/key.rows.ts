/** Who may call what: keys that open nothing, and keys that do not open this. */
import { Effect, Schema } from "effect"
import { bodyAs } from "../../support/operator.ts"
import {
  type Asked,
  as,
  chat,
  embed,
  image,
  type Json,
  quote,
  rerank,
  row,
  type Said,
  video,
  withHeaders
} from "./Row.ts"
import { Surface } from "./Surface.ts"

const challenge = { "www-authenticate": 'Bearer realm="media-gateway"' }

const missing: Said = {
  message: "The API key is missing. Send it as: Authorization: Bearer <API_KEY>",
  headers: challenge
}

const otherScheme: Said = {
  message: "The Authorization header is not of the scheme Bearer. Send it as: Bearer <API_KEY>",
  headers: challenge
}

/** One message for every key that opens nothing, so that it does not tell which keys exist. */
const refused: Said = {
  message: "The API key is not valid: it is mistyped, unknown, revoked or expired",
  headers: challenge
}

const refusedOperator: Said = {
  ...refused,
  message: "The admin token is missing or wrong"
}

const models: Asked = { path: "/v1/models" }
const withHeader = (authorization: string, asked = models) =>
  Effect.succeed(withHeaders(asked, { authorization }))

const CreatedKey = Schema.Struct({ id: Schema.String, key: Schema.String })

/** A further key of the rich customer's. */
const furtherKey = Effect.fnUntraced(function* (options: Json) {
  const { admin, rich } = yield* Surface
  const made = yield* admin(`/members/${rich.memberId}/keys`, { json: { name: "k", ...options } })
  return yield* bodyAs(CreatedKey, made)
})

const unknown = `mg_${"A".repeat(43)}`

const keys = [
  row("invalid_api_key", "no key", Effect.succeed(models), missing),
  row("invalid_api_key", "no key on an order", Effect.succeed(video()), missing),
  row("invalid_api_key", "an empty key", withHeader("Bearer "), missing),
  row("invalid_api_key", "a word that is no key", withHeader("Bearer hello"), refused),
  row(
    "invalid_api_key",
    "a key of the right length",
    withHeader(`Bearer ${unknown}00000000`),
    refused
  ),
  row("invalid_api_key", "a key nobody has", withHeader(`Bearer ${unknown}0c2b5986`), refused),
  row("invalid_api_key", "a key of another gateway", withHeader("Bearer sk-1234567890"), refused),
  row("invalid_api_key", "two keys", withHeader("Bearer mg_a mg_b"), refused),
  row(
    "invalid_api_key",
    "a good key by another scheme",
    Effect.flatMap(Surface, ({ rich }) => withHeader(`Basic ${rich.key}`)),
    otherScheme
  ),
  row(
    "invalid_api_key",
    "a good key without the scheme",
    Effect.flatMap(Surface, ({ rich }) => withHeader(rich.key)),
    otherScheme
  ),
  row(
    "invalid_api_key",
    "a good key with its last letter changed",
    Effect.flatMap(Surface, ({ rich: { key } }) =>
      withHeader(`Bearer ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`)
    ),
    refused
  ),
  row(
    "invalid_api_key",
    "a revoked key",
    Effect.gen(function* () {
      const { admin } = yield* Surface
      const { id, key } = yield* furtherKey({})
      yield* admin(`/keys/${id}`, { method: "DELETE" })
      return { ...models, key }
    }),
    refused
  ),
  row(
    "invalid_api_key",
    "an expired key",
    Effect.map(furtherKey({ expires_at: "2020-01-01T00:00:00Z" }), ({ key }) => ({
      ...models,
      key
    })),
    refused
  ),
  row(
    "invalid_api_key",
    "the operator's token",
    Effect.map(Surface, ({ adminToken }) => ({ ...models, key: adminToken })),
    refused
  ),
  row(
    "invalid_api_key",
    "no token of the operator",
    Effect.succeed({ path: "/admin/v1/catalog" }),
    refusedOperator
  ),
  row(
    "invalid_api_key",
    "a customer's key at the operator's door",
    Effect.map(Surface, ({ rich }) => ({ path: "/admin/v1/ledger/verify", key: rich.key })),
    refusedOperator
  )
]

const limitedTo = (options: Json, asked: Asked) =>
  Effect.flatMap(Surface, ({ customer }) =>
    Effect.map(customer("100", { key: options }), (who) => as(who, asked))
  )

const scope = (when: string, has: ReadonlyArray<string>, asked: Asked, lacks: string) =>
  row("permission_denied", when, limitedTo({ scopes: has }, asked), {
    message: `This key does not have the scope ${lacks}; it has ${has.join(", ")}`
  })

const model = (when: string, asked: Asked, name: string) =>
  row("permission_denied", when, limitedTo({ models: ["clip-1"] }, asked), {
    message: `This key may not call "${name}"; GET /v1/models lists the models it may`,
    param: "model"
  })

const permissions = [
  scope("a video with a key for images", ["images", "usage"], video(), "videos"),
  scope("images with a key for videos", ["videos"], image(), "images"),
  scope("a chat with a key for embeddings", ["embeddings"], chat(), "chat"),
  scope("embeddings with a key for chat", ["chat"], embed(), "embeddings"),
  scope("the balance with a key for videos", ["videos"], { path: "/v1/balance" }, "usage"),
  scope("the models with a key for videos", ["videos"], models, "models"),
  scope("a reserved endpoint with a key for videos", ["videos"], rerank(), "rerank"),
  scope("a task with a key for images", ["images"], { path: "/v1/videos/vt_x" }, "videos"),
  scope(
    "a quote with a key that orders nothing",
    ["models", "usage"],
    quote(),
    "videos or images or chat or embeddings or rerank or audio"
  ),
  scope("a quote of a video with a key for images", ["images"], quote(), "videos"),
  model("a video of a model that is not on the key's list", video(), "film-1"),
  model("images of a model that is not on the key's list", image(), "paint-1"),
  model("a chat with a model that is not on the key's list", chat(), "talk-1"),
  model("a quote of a model that is not on the key's list", quote(), "film-1"),
  model("a reserved model that is not on the key's list", rerank(), "rank-1")
]

export const keyRows = [...keys, ...permissions]
