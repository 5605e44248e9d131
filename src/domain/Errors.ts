/**
 * Every error the API can answer, one class per code. The tag is the code; status and type come
 * from one table. What an error says is meant for the client: no vendor address, key or stack.
 */
import { Effect, Schema } from "effect"

export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "billing_error"
  | "rate_limit_error"
  | "upstream_error"
  | "server_error"

/** HTTP status and error type of each code. `upstream_error` carries its own status. */
export const errorTable = {
  modality_mismatch: { status: 400, type: "invalid_request_error" },
  modality_not_ready: { status: 400, type: "invalid_request_error" },
  video_unsupported_protocol: { status: 400, type: "invalid_request_error" },
  image_unsupported_protocol: { status: 400, type: "invalid_request_error" },
  video_sku_invalid: { status: 400, type: "invalid_request_error" },
  billing_unavailable: { status: 400, type: "billing_error" },
  upstream_error: { status: 502, type: "upstream_error" },
  insufficient_balance: { status: 402, type: "billing_error" },
  member_cap_exceeded: { status: 429, type: "billing_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  permission_denied: { status: 403, type: "permission_error" },
  model_not_found: { status: 404, type: "invalid_request_error" },
  task_not_found: { status: 404, type: "invalid_request_error" },
  not_found: { status: 404, type: "invalid_request_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  payload_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  invalid_request: { status: 400, type: "invalid_request_error" },
  idempotency_conflict: { status: 409, type: "invalid_request_error" },
  idempotency_mismatch: { status: 422, type: "invalid_request_error" },
  channel_unavailable: { status: 503, type: "server_error" },
  rate_limited: { status: 429, type: "rate_limit_error" },
  overloaded: { status: 503, type: "server_error" },
  internal_error: { status: 500, type: "server_error" }
} as const satisfies Record<string, { readonly status: number; readonly type: ErrorType }>

export type ErrorCode = keyof typeof errorTable

const message = Schema.String
/** Path of the offending field, such as `model` or `content[0].image_url`; null when none is. */
const param = Schema.NullOr(Schema.String).pipe(Schema.withConstructorDefault(Effect.succeed(null)))
const plain = { message, param }
const at = (code: ErrorCode) => ({ httpApiStatus: errorTable[code].status })

export class ModalityMismatch extends Schema.TaggedError<ModalityMismatch>()(
  "modality_mismatch",
  plain,
  at("modality_mismatch")
) {}

export class ModalityNotReady extends Schema.TaggedError<ModalityNotReady>()(
  "modality_not_ready",
  plain,
  at("modality_not_ready")
) {}

export class VideoUnsupportedProtocol extends Schema.TaggedError<VideoUnsupportedProtocol>()(
  "video_unsupported_protocol",
  plain,
  at("video_unsupported_protocol")
) {}

export class ImageUnsupportedProtocol extends Schema.TaggedError<ImageUnsupportedProtocol>()(
  "image_unsupported_protocol",
  plain,
  at("image_unsupported_protocol")
) {}

/** `allowed` and `nearest` let a client correct the order without reading the message. */
export class VideoSkuInvalid extends Schema.TaggedError<VideoSkuInvalid>()(
  "video_sku_invalid",
  {
    ...plain,
    allowed: Schema.Union([
      Schema.Struct({ min: Schema.Int, max: Schema.Int, smart: Schema.Boolean }),
      Schema.Array(Schema.String)
    ]),
    nearest: Schema.Union([Schema.Int, Schema.String])
  },
  at("video_sku_invalid")
) {}

/** `priced` lists the resolutions that do have a price, where the resolution is what lacks one. */
export class BillingUnavailable extends Schema.TaggedError<BillingUnavailable>()(
  "billing_unavailable",
  { ...plain, priced: Schema.optionalKey(Schema.Array(Schema.String)) },
  at("billing_unavailable")
) {}

/**
 * The vendor refused, failed or could not be reached. `status` is what the client gets; `upstream`
 * is what the vendor said, its body unchanged (null when it said nothing). `retryable` is false
 * when the vendor may have accepted a paid job all the same.
 */
export class UpstreamError extends Schema.TaggedError<UpstreamError>()(
  "upstream_error",
  {
    ...plain,
    status: Schema.Int,
    upstream: Schema.Struct({ status: Schema.NullOr(Schema.Int), body: Schema.Unknown }),
    retryable: Schema.Boolean,
    retryAfterSeconds: Schema.NullOr(Schema.Int)
  },
  at("upstream_error")
) {}

/** Amounts are decimal strings of currency units. */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()(
  "insufficient_balance",
  { ...plain, required: Schema.String, available: Schema.String },
  at("insufficient_balance")
) {}

/** The member's month: `used` is what is held and charged already. Amounts are decimal strings. */
export class MemberCapExceeded extends Schema.TaggedError<MemberCapExceeded>()(
  "member_cap_exceeded",
  {
    ...plain,
    cap: Schema.String,
    used: Schema.String,
    required: Schema.String,
    retryAfterSeconds: Schema.Int
  },
  at("member_cap_exceeded")
) {}

export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()(
  "invalid_api_key",
  plain,
  at("invalid_api_key")
) {}

export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()(
  "permission_denied",
  plain,
  at("permission_denied")
) {}

export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()(
  "model_not_found",
  plain,
  at("model_not_found")
) {}

export class TaskNotFound extends Schema.TaggedError<TaskNotFound>()(
  "task_not_found",
  plain,
  at("task_not_found")
) {}

export class NotFound extends Schema.TaggedError<NotFound>()("not_found", plain, at("not_found")) {}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()(
  "method_not_allowed",
  { ...plain, allow: Schema.Array(Schema.String) },
  at("method_not_allowed")
) {}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()(
  "payload_too_large",
  plain,
  at("payload_too_large")
) {}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()(
  "unsupported_media_type",
  plain,
  at("unsupported_media_type")
) {}

/** `faults` lists every fault by path where a document is refused whole; `param` is the first. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()(
  "invalid_request",
  {
    ...plain,
    faults: Schema.optionalKey(
      Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
    )
  },
  at("invalid_request")
) {}

/** `retryAfterSeconds` is null where waiting does not help. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()(
  "idempotency_conflict",
  { ...plain, retryAfterSeconds: Schema.NullOr(Schema.Int) },
  at("idempotency_conflict")
) {}

export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()(
  "idempotency_mismatch",
  plain,
  at("idempotency_mismatch")
) {}

export class ChannelUnavailable extends Schema.TaggedError<ChannelUnavailable>()(
  "channel_unavailable",
  plain,
  at("channel_unavailable")
) {}

/** `retryAfterMillis` where it is known more exactly than in whole seconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()(
  "rate_limited",
  {
    ...plain,
    retryAfterSeconds: Schema.Int,
    retryAfterMillis: Schema.optionalKey(Schema.Int)
  },
  at("rate_limited")
) {}

export class Overloaded extends Schema.TaggedError<Overloaded>()(
  "overloaded",
  { ...plain, retryAfterSeconds: Schema.Int },
  at("overloaded")
) {}

export class InternalError extends Schema.TaggedError<InternalError>()(
  "internal_error",
  plain,
  at("internal_error")
) {}

export type GatewayError =
  | ModalityMismatch
  | ModalityNotReady
  | VideoUnsupportedProtocol
  | ImageUnsupportedProtocol
  | VideoSkuInvalid
  | BillingUnavailable
  | UpstreamError
  | InsufficientBalance
  | MemberCapExceeded
  | InvalidApiKey
  | PermissionDenied
  | ModelNotFound
  | TaskNotFound
  | NotFound
  | MethodNotAllowed
  | PayloadTooLarge
  | UnsupportedMediaType
  | InvalidRequest
  | IdempotencyConflict
  | IdempotencyMismatch
  | ChannelUnavailable
  | RateLimited
  | Overloaded
  | InternalError
