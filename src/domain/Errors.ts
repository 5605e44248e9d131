/**
 * The errors of the API as values, one class per row of the error table. The tag of a class is the
 * error code. Messages are written for the client: they contain no vendor address, key or stack
 * trace.
 */
import { Effect, Predicate, Schema } from "effect"
import { type ErrorCode, errorTable } from "./errorTable.ts"

export { type ErrorCode, type ErrorType, errorTable } from "./errorTable.ts"

/**
 * The fields of every error; `param` is the path of the offending field, or null if no field is at
 * fault.
 */
const answerFields = {
  message: Schema.String,
  param: Schema.NullOr(Schema.String).pipe(Schema.withConstructorDefault(Effect.succeed(null)))
}

type Fields = { readonly [C in ErrorCode]: (typeof errorTable)[C]["fields"] }
/** The error table, typed so that each code has the fields of its own row. */
const rows: { readonly [C in ErrorCode]: { status: number; fields: Fields[C] } } = errorTable

/** Builds the error class of a code from its row of the error table. */
const errorOf =
  <Self>() =>
  <C extends ErrorCode>(code: C) => {
    const { fields, status } = rows[code]
    const schemaFields = { ...answerFields, ...fields }
    return Schema.TaggedError<Self>()<C, typeof schemaFields>(code, schemaFields, {
      httpApiStatus: status
    })
  }

export class ModalityMismatch extends errorOf<ModalityMismatch>()("modality_mismatch") {}
export class ModalityNotReady extends errorOf<ModalityNotReady>()("modality_not_ready") {}
export class VideoUnsupportedProtocol extends errorOf<VideoUnsupportedProtocol>()(
  "video_unsupported_protocol"
) {}
export class ImageUnsupportedProtocol extends errorOf<ImageUnsupportedProtocol>()(
  "image_unsupported_protocol"
) {}
export class VideoSkuInvalid extends errorOf<VideoSkuInvalid>()("video_sku_invalid") {}
export class BillingUnavailable extends errorOf<BillingUnavailable>()("billing_unavailable") {}

/**
 * The vendor refused, failed or could not be reached. `status` is the HTTP status of the gateway's
 * answer to the client, and `upstream` holds the vendor's status and body. Without `unpaid`, as
 * earlier versions stored errors for repeated requests, a paid job may exist.
 */
export class UpstreamError extends Schema.TaggedError<UpstreamError>()(
  "upstream_error",
  {
    ...answerFields,
    ...errorTable.upstream_error.fields,
    unpaid: errorTable.upstream_error.fields.unpaid.pipe(
      Schema.withDecodingDefaultKey(Effect.succeed(false))
    ),
    status: Schema.Int
  },
  { httpApiStatus: errorTable.upstream_error.status }
) {}

export class InsufficientBalance extends errorOf<InsufficientBalance>()("insufficient_balance") {}
export class MemberCapExceeded extends errorOf<MemberCapExceeded>()("member_cap_exceeded") {}
export class BudgetExceeded extends errorOf<BudgetExceeded>()("budget_exceeded") {}
export class InvalidApiKey extends errorOf<InvalidApiKey>()("invalid_api_key") {}
export class PermissionDenied extends errorOf<PermissionDenied>()("permission_denied") {}
export class ModelNotFound extends errorOf<ModelNotFound>()("model_not_found") {}
export class TaskNotFound extends errorOf<TaskNotFound>()("task_not_found") {}
export class TaskProcessing extends errorOf<TaskProcessing>()("task_processing") {}
export class PriceListInUse extends errorOf<PriceListInUse>()("price_list_in_use") {}
export class NotFound extends errorOf<NotFound>()("not_found") {}
export class MethodNotAllowed extends errorOf<MethodNotAllowed>()("method_not_allowed") {}
export class PayloadTooLarge extends errorOf<PayloadTooLarge>()("payload_too_large") {}
export class UnsupportedMediaType extends errorOf<UnsupportedMediaType>()(
  "unsupported_media_type"
) {}
export class InvalidRequest extends errorOf<InvalidRequest>()("invalid_request") {}
export class IdempotencyConflict extends errorOf<IdempotencyConflict>()("idempotency_conflict") {}
export class IdempotencyMismatch extends errorOf<IdempotencyMismatch>()("idempotency_mismatch") {}
export class PreconditionFailed extends errorOf<PreconditionFailed>()("precondition_failed") {}
export class ChannelUnavailable extends errorOf<ChannelUnavailable>()("channel_unavailable") {}

/**
 * The client exceeded a limit of its key, its organisation or a channel. `retryAfterMillis` is set
 * if the delay is known more exactly than in whole seconds.
 */
export class RateLimited extends Schema.TaggedError<RateLimited>()(
  "rate_limited",
  {
    ...answerFields,
    ...errorTable.rate_limited.fields,
    retryAfterMillis: Schema.optionalKey(Schema.Int)
  },
  { httpApiStatus: errorTable.rate_limited.status }
) {}

export class Overloaded extends errorOf<Overloaded>()("overloaded") {}
export class InternalError extends errorOf<InternalError>()("internal_error") {}

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
  | BudgetExceeded
  | InvalidApiKey
  | PermissionDenied
  | ModelNotFound
  | TaskNotFound
  | TaskProcessing
  | NotFound
  | MethodNotAllowed
  | PayloadTooLarge
  | UnsupportedMediaType
  | InvalidRequest
  | IdempotencyConflict
  | IdempotencyMismatch
  | PreconditionFailed
  | ChannelUnavailable
  | RateLimited
  | Overloaded
  | InternalError

export const isGatewayError = (error: unknown): error is GatewayError =>
  Predicate.hasProperty(error, "_tag") &&
  typeof error._tag === "string" &&
  Object.hasOwn(errorTable, error._tag)
