/**
 * The errors of the API as values, one class per row of the table. The tag is the code. What an error
 * says is meant for the client: no vendor address, key or stack.
 */
import { Effect, Predicate, Schema } from "effect"
import { type ErrorCode, errorTable } from "./errorTable.ts"

export { type ErrorCode, type ErrorType, errorTable } from "./errorTable.ts"

/** What every error says; `param` is the path of the offending field, null when none is. */
const said = {
  message: Schema.String,
  param: Schema.NullOr(Schema.String).pipe(Schema.withConstructorDefault(Effect.succeed(null)))
}

/** Tag, fields and annotations of a code's class. */
const contractOf = <C extends ErrorCode>(code: C) => {
  const fields: (typeof errorTable)[C]["fields"] = errorTable[code].fields
  return [code, { ...said, ...fields }, { httpApiStatus: errorTable[code].status }] as const
}

export class ModalityMismatch extends Schema.TaggedError<ModalityMismatch>()(
  ...contractOf("modality_mismatch")
) {}

export class ModalityNotReady extends Schema.TaggedError<ModalityNotReady>()(
  ...contractOf("modality_not_ready")
) {}

export class VideoUnsupportedProtocol extends Schema.TaggedError<VideoUnsupportedProtocol>()(
  ...contractOf("video_unsupported_protocol")
) {}

export class ImageUnsupportedProtocol extends Schema.TaggedError<ImageUnsupportedProtocol>()(
  ...contractOf("image_unsupported_protocol")
) {}

export class VideoSkuInvalid extends Schema.TaggedError<VideoSkuInvalid>()(
  ...contractOf("video_sku_invalid")
) {}

export class BillingUnavailable extends Schema.TaggedError<BillingUnavailable>()(
  ...contractOf("billing_unavailable")
) {}

const upstream = contractOf("upstream_error")

/**
 * The vendor refused, failed or could not be reached. `status` is what the client gets, and `upstream`
 * what the vendor said.
 */
export class UpstreamError extends Schema.TaggedError<UpstreamError>()(
  upstream[0],
  { ...upstream[1], status: Schema.Int },
  upstream[2]
) {}

export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()(
  ...contractOf("insufficient_balance")
) {}

export class MemberCapExceeded extends Schema.TaggedError<MemberCapExceeded>()(
  ...contractOf("member_cap_exceeded")
) {}

export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()(
  ...contractOf("invalid_api_key")
) {}

export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()(
  ...contractOf("permission_denied")
) {}

export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()(
  ...contractOf("model_not_found")
) {}

export class TaskNotFound extends Schema.TaggedError<TaskNotFound>()(
  ...contractOf("task_not_found")
) {}

export class NotFound extends Schema.TaggedError<NotFound>()(...contractOf("not_found")) {}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()(
  ...contractOf("method_not_allowed")
) {}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()(
  ...contractOf("payload_too_large")
) {}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()(
  ...contractOf("unsupported_media_type")
) {}

export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()(
  ...contractOf("invalid_request")
) {}

export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()(
  ...contractOf("idempotency_conflict")
) {}

export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()(
  ...contractOf("idempotency_mismatch")
) {}

export class ChannelUnavailable extends Schema.TaggedError<ChannelUnavailable>()(
  ...contractOf("channel_unavailable")
) {}

const limited = contractOf("rate_limited")

/** `retryAfterMillis` where it is known more exactly than in whole seconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()(
  limited[0],
  { ...limited[1], retryAfterMillis: Schema.optionalKey(Schema.Int) },
  limited[2]
) {}

export class Overloaded extends Schema.TaggedError<Overloaded>()(...contractOf("overloaded")) {}

export class InternalError extends Schema.TaggedError<InternalError>()(
  ...contractOf("internal_error")
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

export const isGatewayError = (error: unknown): error is GatewayError =>
  Predicate.hasProperty(error, "_tag") &&
  typeof error._tag === "string" &&
  Object.hasOwn(errorTable, error._tag)
