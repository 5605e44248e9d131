/**
 * How errors travel: `{"error":{"message","type","param","code", ...}}` on the wire, the error of
 * that code in a program. One schema a code writes the answer and lets the typed client read it.
 */
import { Schema, SchemaTransformation } from "effect"
import * as Errors from "../../domain/Errors.ts"
import { body, fromBody, fromWaiting, saying, toBody, toWaiting } from "./errorBody.ts"

const { transform } = SchemaTransformation

const retryAfter = "Whole seconds until a repeat makes sense, as `Retry-After` says"
const decimal = (description: string) =>
  Schema.String.annotate({ description: `${description}, a decimal string of currency units` })

export const ModalityMismatch = body(
  "modality_mismatch",
  "The model is not of the modality this endpoint serves",
  saying("modality_mismatch", {})
).pipe(Schema.decodeTo(Errors.ModalityMismatch, transform({ decode: fromBody, encode: toBody })))

export const ModalityNotReady = body(
  "modality_not_ready",
  "The model's modality is reserved and not open yet",
  saying("modality_not_ready", {})
).pipe(Schema.decodeTo(Errors.ModalityNotReady, transform({ decode: fromBody, encode: toBody })))

export const VideoUnsupportedProtocol = body(
  "video_unsupported_protocol",
  "The model is called by a protocol that is not a supported video protocol",
  saying("video_unsupported_protocol", {})
).pipe(
  Schema.decodeTo(Errors.VideoUnsupportedProtocol, transform({ decode: fromBody, encode: toBody }))
)

export const ImageUnsupportedProtocol = body(
  "image_unsupported_protocol",
  "The model is called by a protocol that is not one of the image protocols",
  saying("image_unsupported_protocol", {})
).pipe(
  Schema.decodeTo(Errors.ImageUnsupportedProtocol, transform({ decode: fromBody, encode: toBody }))
)

export const BillingUnavailable = body(
  "billing_unavailable",
  "No price is configured for this order, so it cannot be billed",
  saying("billing_unavailable", {
    priced: Schema.optionalKey(
      Schema.Array(Schema.String).annotate({
        description: "The resolutions that do have a price, where the resolution is what lacks one"
      })
    )
  })
).pipe(Schema.decodeTo(Errors.BillingUnavailable, transform({ decode: fromBody, encode: toBody })))

export const InvalidApiKey = body(
  "invalid_api_key",
  "The key is missing, malformed, unknown, revoked or expired: one answer for all",
  saying("invalid_api_key", {})
).pipe(Schema.decodeTo(Errors.InvalidApiKey, transform({ decode: fromBody, encode: toBody })))

export const PermissionDenied = body(
  "permission_denied",
  "The key lacks the scope of this route, or may not call this model",
  saying("permission_denied", {})
).pipe(Schema.decodeTo(Errors.PermissionDenied, transform({ decode: fromBody, encode: toBody })))

export const ModelNotFound = body(
  "model_not_found",
  "No model has this name",
  saying("model_not_found", {})
).pipe(Schema.decodeTo(Errors.ModelNotFound, transform({ decode: fromBody, encode: toBody })))

export const TaskNotFound = body(
  "task_not_found",
  "The organisation has no task with this id",
  saying("task_not_found", {})
).pipe(Schema.decodeTo(Errors.TaskNotFound, transform({ decode: fromBody, encode: toBody })))

export const NotFound = body("not_found", "There is no such thing", saying("not_found", {})).pipe(
  Schema.decodeTo(Errors.NotFound, transform({ decode: fromBody, encode: toBody }))
)

export const PayloadTooLarge = body(
  "payload_too_large",
  "The body has more bytes than this route takes",
  saying("payload_too_large", {})
).pipe(Schema.decodeTo(Errors.PayloadTooLarge, transform({ decode: fromBody, encode: toBody })))

export const UnsupportedMediaType = body(
  "unsupported_media_type",
  "The body is of another media type, or has a content encoding",
  saying("unsupported_media_type", {})
).pipe(
  Schema.decodeTo(Errors.UnsupportedMediaType, transform({ decode: fromBody, encode: toBody }))
)

export const IdempotencyMismatch = body(
  "idempotency_mismatch",
  "The Idempotency-Key was used for another request, or a deposit's reference for another amount",
  saying("idempotency_mismatch", {})
).pipe(Schema.decodeTo(Errors.IdempotencyMismatch, transform({ decode: fromBody, encode: toBody })))

export const ChannelUnavailable = body(
  "channel_unavailable",
  "The model has no enabled mount, or its channel lacks what it needs",
  saying("channel_unavailable", {})
).pipe(Schema.decodeTo(Errors.ChannelUnavailable, transform({ decode: fromBody, encode: toBody })))

export const InternalError = body(
  "internal_error",
  "A fault of the gateway; an order may have come through, so it is not repeated by itself",
  saying("internal_error", {})
).pipe(Schema.decodeTo(Errors.InternalError, transform({ decode: fromBody, encode: toBody })))

export const VideoSkuInvalid = body(
  "video_sku_invalid",
  "The duration or the resolution is not offered",
  saying("video_sku_invalid", {
    allowed: Schema.Union([
      Schema.Struct({
        min: Schema.Int.annotate({ description: "Least seconds" }),
        max: Schema.Int.annotate({ description: "Most seconds" }),
        smart: Schema.Boolean.annotate({ description: "Whether -1 lets the model choose" })
      }),
      Schema.Array(Schema.String)
    ]).annotate({ description: "The seconds, or the resolutions, that are offered" }),
    nearest: Schema.Union([Schema.Int, Schema.String]).annotate({
      description: "The offered value nearest to the one that was asked for"
    })
  })
).pipe(Schema.decodeTo(Errors.VideoSkuInvalid, transform({ decode: fromBody, encode: toBody })))

export const InsufficientBalance = body(
  "insufficient_balance",
  "The organisation's pool has less than the order holds",
  saying("insufficient_balance", {
    required: decimal("What the order holds"),
    available: decimal("What the pool has that is not held")
  })
).pipe(Schema.decodeTo(Errors.InsufficientBalance, transform({ decode: fromBody, encode: toBody })))

export const MemberCapExceeded = body(
  "member_cap_exceeded",
  "The order would take the member above its cap of this month",
  saying("member_cap_exceeded", {
    cap: decimal("The member's cap"),
    used: decimal("What the member's month has held and charged"),
    required: decimal("What the order holds"),
    retry_after: Schema.Int.annotate({ description: retryAfter })
  })
).pipe(
  Schema.decodeTo(Errors.MemberCapExceeded, transform({ decode: fromWaiting, encode: toWaiting }))
)

export const InvalidRequest = body(
  "invalid_request",
  "A field has the wrong shape",
  saying("invalid_request", {
    faults: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          path: Schema.String.annotate({ description: "Path of the field" }),
          message: Schema.String.annotate({ description: "What was expected of it" })
        })
      ).annotate({ description: "Every fault, where there are several" })
    )
  })
).pipe(Schema.decodeTo(Errors.InvalidRequest, transform({ decode: fromBody, encode: toBody })))

export const MethodNotAllowed = body(
  "method_not_allowed",
  "The path is served, but not by this method",
  saying("method_not_allowed", {
    allow: Schema.Array(Schema.String).annotate({ description: "The methods that are served" })
  })
).pipe(Schema.decodeTo(Errors.MethodNotAllowed, transform({ decode: fromBody, encode: toBody })))

export const IdempotencyConflict = body(
  "idempotency_conflict",
  "The first request with this Idempotency-Key is still running, or its answer is not kept",
  saying("idempotency_conflict", {
    retry_after: Schema.NullOr(Schema.Int).annotate({
      description: `${retryAfter}; null where waiting does not help`
    })
  })
).pipe(
  Schema.decodeTo(Errors.IdempotencyConflict, transform({ decode: fromWaiting, encode: toWaiting }))
)

export const RateLimited = body(
  "rate_limited",
  "More requests than this key, its organisation or the model's channel may have at a time",
  saying("rate_limited", {
    retry_after: Schema.Int.annotate({ description: retryAfter })
  })
).pipe(Schema.decodeTo(Errors.RateLimited, transform({ decode: fromWaiting, encode: toWaiting })))

export const Overloaded = body(
  "overloaded",
  "The gateway cannot take the request at the moment; nothing was ordered",
  saying("overloaded", {
    retry_after: Schema.Int.annotate({ description: retryAfter })
  })
).pipe(Schema.decodeTo(Errors.Overloaded, transform({ decode: fromWaiting, encode: toWaiting })))

const upstreamBody = body(
  "upstream_error",
  "The vendor refused, failed or could not be reached; nothing is charged but what a stream that broke off had delivered",
  saying("upstream_error", {
    upstream: Schema.Struct({
      status: Schema.NullOr(Schema.Int).annotate({
        description: "HTTP status of the vendor's answer; null when it gave none"
      }),
      body: Schema.Unknown.annotateKey({ description: "The vendor's own body, unchanged" })
    }).annotate({ description: "What the vendor said" }),
    retryable: Schema.Boolean.annotate({
      description: "False when a repeat could be a second paid job, as `x-should-retry` says"
    }),
    retry_after: Schema.NullOr(Schema.Int).annotate({
      description: `${retryAfter}; null when the vendor named no time`
    })
  })
)

const upstreamErrorAt = (status: number) =>
  upstreamBody
    .pipe(
      Schema.decodeTo(
        Errors.UpstreamError,
        transform({
          decode: (answer) => ({ ...fromWaiting(answer), status }),
          encode: ({ status: _, ...said }) => toWaiting(said)
        })
      )
    )
    .annotate({ httpApiStatus: status })

/** The vendor's own status where it says something about the request, a gateway's elsewhere. */
export const UpstreamErrors = [
  upstreamErrorAt(502),
  ...[400, 404, 413, 415, 422, 503, 504].map(upstreamErrorAt)
] as const

/** Of routes that take a body. */
export const bodyErrors = [PayloadTooLarge, UnsupportedMediaType] as const

/** Of routes that order something. */
export const orderErrors = [
  ...bodyErrors,
  ModelNotFound,
  ModalityNotReady,
  ModalityMismatch,
  BillingUnavailable,
  InsufficientBalance,
  MemberCapExceeded,
  IdempotencyConflict,
  IdempotencyMismatch,
  ChannelUnavailable,
  ...UpstreamErrors
] as const

/** Every error as it is answered; of the upstream's, the status is beside the body. */
export const AnsweredError = Schema.Union([
  ModalityMismatch,
  ModalityNotReady,
  VideoUnsupportedProtocol,
  ImageUnsupportedProtocol,
  VideoSkuInvalid,
  BillingUnavailable,
  UpstreamErrors[0],
  InsufficientBalance,
  MemberCapExceeded,
  InvalidApiKey,
  PermissionDenied,
  ModelNotFound,
  TaskNotFound,
  NotFound,
  MethodNotAllowed,
  PayloadTooLarge,
  UnsupportedMediaType,
  InvalidRequest,
  IdempotencyConflict,
  IdempotencyMismatch,
  ChannelUnavailable,
  RateLimited,
  Overloaded,
  InternalError
])
