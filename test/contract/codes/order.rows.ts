/**
 * The order of checks: requests with two faults, of which the earlier one answers. Key, body shape,
 * model exists, reserved modality, modality, mount and protocol, duration and resolution, price,
 * cap, pool, upstream.
 */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { CustomerOptions } from "../../support/operator.ts"
import {
  type Asked,
  as,
  asRich,
  chat,
  image,
  type Json,
  rerank,
  row,
  type Said,
  succeeding,
  video,
  withHeaders
} from "./Row.ts"
import { Surface, smallSettings } from "./Surface.ts"
import { keepOpen, minuteUsed, overCap, waiting } from "./waiting.ts"

const MISTYPED = { duration: "8" }
const TOO_LONG = { duration: 99 }

const asCustomer = (amount: string, options: CustomerOptions, asked: Asked) =>
  Effect.flatMap(Surface, ({ customer }) =>
    Effect.map(customer(amount, options), (who) => as(who, asked))
  )

const limited = (options: Json, asked: Asked) => asCustomer("100", { key: options }, asked)

const badKey: Said = {
  message: "The API key is missing. Send it as: Authorization: Bearer <API_KEY>",
  headers: { "www-authenticate": 'Bearer realm="media-gateway"' }
}
const badShape: Said = {
  message: "duration: Expected a whole number of seconds, without quotes, or null",
  param: "duration"
}
const noModel: Said = {
  message: 'No model is called "nobody"; GET /v1/models lists those this key may order',
  param: "model"
}
const notListed = (model: string): Said => ({
  message: `This key may not call "${model}"; GET /v1/models lists the models it may`,
  param: "model"
})
const tooLong: Said = {
  message:
    "duration 99 is not offered: this model takes whole seconds from 5 to 15. The nearest is 15.",
  param: "duration",
  more: { allowed: { min: 5, max: 15, smart: false }, nearest: 15 }
}
const noPrice: Said = {
  message: "No price is configured for this model, so this order cannot be billed",
  param: "resolution",
  more: { priced: [] }
}
const notMounted = (model: string): Said => ({
  message: `"${model}" is not mounted on an enabled channel at the moment`,
  param: "model"
})

const doors = [
  row(
    "method_not_allowed",
    "method before key",
    Effect.succeed({ path: "/v1/models", method: "POST", body: "{" }),
    {
      message: "POST is not served at /v1/models; GET is",
      more: { allow: ["GET"] },
      headers: { allow: "GET" }
    }
  ),
  row("invalid_api_key", "key before body shape", Effect.succeed(video(MISTYPED)), badKey),
  row(
    "invalid_api_key",
    "key before the body's size",
    Effect.succeed(video({ prompt: "x".repeat(smallSettings.maxMediaBodyBytes) })),
    badKey
  ),
  row(
    "rate_limited",
    "rate before scope",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const key = { requests_per_minute: 1, scopes: ["models"] }
      const who = yield* customer("100", { key })
      yield* succeeding(as(who, { path: "/v1/models" }))
      return as(who, video())
    }),
    minuteUsed
  ),
  row(
    "permission_denied",
    "scope before body shape",
    limited({ scopes: ["usage"] }, video(MISTYPED)),
    {
      message: "This key does not have the scope videos; it has usage"
    }
  ),
  row(
    "unsupported_media_type",
    "media type before body shape",
    asRich(withHeaders(video(MISTYPED), { "content-type": "text/plain" })),
    { message: 'Send the body as application/json, not "text/plain"' }
  )
]

const models = [
  row(
    "invalid_request",
    "body shape before the model's existence",
    asRich(video({ model: "nobody", ...MISTYPED })),
    badShape
  ),
  row(
    "invalid_request",
    "something to make a video from before the model's existence",
    asRich(video({ model: "nobody", prompt: " " })),
    {
      message: "Give a prompt, a content block or some media to make the video from",
      param: "prompt"
    }
  ),
  row("invalid_request", "body shape before modality", asRich(image({ model: "film-1", n: 11 })), {
    message: "n: Expected a whole number from 1 to 10",
    param: "n"
  }),
  row(
    "model_not_found",
    "the model's existence before the key's list",
    limited({ models: ["clip-1"] }, video({ model: "nobody" })),
    noModel
  ),
  row(
    "model_not_found",
    "the model's existence before duration",
    asRich(video({ model: "nobody", ...TOO_LONG })),
    noModel
  ),
  row(
    "permission_denied",
    "the key's list before the reserved modality",
    limited({ models: ["clip-1"] }, rerank()),
    notListed("rank-1")
  ),
  row(
    "modality_not_ready",
    "the reserved modality before modality",
    asRich(video({ model: "omni-1", ...TOO_LONG })),
    {
      message:
        '"omni-1" is a model of modality omni, which is not open yet; GET /v1/models tells which are',
      param: "model"
    }
  ),
  row(
    "modality_mismatch",
    "modality before mount",
    asRich(video({ model: "talk-unmounted", ...TOO_LONG })),
    {
      message:
        '"talk-unmounted" is a model of modality chat, which POST /v1/chat/completions takes; this endpoint takes models of modality video',
      param: "model"
    }
  )
]

const offers = [
  row(
    "video_unsupported_protocol",
    "protocol before the want of a mount",
    asRich(video({ model: "film-strange-off", ...TOO_LONG })),
    {
      message:
        '"film-strange-off" is called by vp_z, which is not a supported video protocol: vp_a, vp_b, vp_c, vp_d, vp_e, vp_f, veo, minimax, fal, replicate are',
      param: "model"
    }
  ),
  row(
    "channel_unavailable",
    "mount before duration",
    asRich(video({ model: "film-unmounted", ...TOO_LONG })),
    notMounted("film-unmounted")
  ),
  row(
    "channel_unavailable",
    "mount before price",
    asRich(video({ model: "film-unpriced-off" })),
    notMounted("film-unpriced-off")
  ),
  row(
    "channel_unavailable",
    "the channel's application id before duration",
    asRich(video({ model: "film-appless", duration: 1 })),
    {
      message: 'The channel of "film-appless" has no application id, which vp_b needs',
      param: "model"
    }
  ),
  row(
    "video_sku_invalid",
    "duration before resolution",
    asRich(video({ ...TOO_LONG, resolution: "8K" })),
    tooLong
  ),
  row(
    "video_sku_invalid",
    "duration before price",
    asRich(video({ model: "film-unpriced", ...TOO_LONG })),
    tooLong
  ),
  row(
    "video_sku_invalid",
    "resolution before cap and pool",
    asCustomer("0", { monthlyCap: "0" }, video({ resolution: "8K" })),
    {
      message:
        'resolution "8K" is not offered: this model takes 480p, 720p, 1080p, 4K. The nearest is 4K.',
      param: "resolution",
      more: { allowed: ["480p", "720p", "1080p", "4K"], nearest: "4K" }
    }
  )
]

const money = [
  row(
    "billing_unavailable",
    "price before cap",
    asCustomer("100", { monthlyCap: "0" }, video({ model: "film-unpriced" })),
    noPrice
  ),
  row(
    "billing_unavailable",
    "price before pool",
    asCustomer("0", {}, image({ model: "paint-unpriced" })),
    {
      message: 'No price is configured for "paint-unpriced", so it cannot be billed',
      param: "model"
    }
  ),
  row(
    "rate_limited",
    "the channel's bound before pool",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      yield* keepOpen([as(yield* customer("100"), image({ model: "paint-told" }))])
      return as(yield* customer("0"), image({ model: "paint-told" }))
    }),
    {
      message:
        "The channel of this model is busy with as many orders as it may have at a time; send this one again when another is answered",
      param: "model",
      ...waiting(1)
    }
  ),
  row(
    "member_cap_exceeded",
    "cap before pool",
    asCustomer("0", { monthlyCap: "0" }, chat({ max_tokens: 100 })),
    overCap("0", "0", "0.000812")
  ),
  row(
    "insufficient_balance",
    "pool before upstream",
    asCustomer("0", {}, video({ model: "film-nowhere" })),
    {
      message: "This request needs 4.968 CNY, and 0 is available",
      more: { required: "4.968", available: "0" }
    }
  ),
  row(
    "idempotency_mismatch",
    "the Idempotency-Key before the model's existence",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      const headers = { "idempotency-key": randomUUID() }
      yield* succeeding(as(who, withHeaders(image(), headers)))
      return as(who, withHeaders(image({ model: "nobody" }), headers))
    }),
    {
      message: "This Idempotency-Key was used for another request; take a fresh one",
      param: "idempotency-key"
    }
  )
]

export const orderRows = [...doors, ...models, ...offers, ...money]
