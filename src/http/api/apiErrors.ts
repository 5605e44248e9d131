/**
 * How errors travel: `{"error":{"message","type","param","code", ...}}` on the wire, the error of
 * that code in a program. One schema a code writes the answer and lets the typed client read it.
 */
import { Schema, SchemaTransformation } from "effect"
import * as Errors from "../../domain/Errors.ts"
import { type ErrorCode, type ErrorType, errorTable } from "../../domain/errorTable.ts"

const { passthrough, transform } = SchemaTransformation

type Named<A> = Readonly<Record<string, A>>

const renaming =
  (names: ReadonlyMap<string, string>) =>
  <A>(fields: Named<A>): Named<A> =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value])
    )

/** The fields of an error are named on the wire as the rest of the API is. */
const onWire = renaming(
  new Map([
    ["_tag", "code"],
    ["retryAfterSeconds", "retry_after"]
  ])
)
const inProgram = renaming(
  new Map([
    ["code", "_tag"],
    ["retry_after", "retryAfterSeconds"]
  ])
)

/** The body of an error, as the table describes it. */
const bodyOf = (code: ErrorCode): Schema.Codec<{ readonly error: Named<unknown> }> => {
  const row = errorTable[code]
  const type: ErrorType = row.type
  const fields: Named<Schema.Top> = row.fields
  return Schema.Struct({
    error: Schema.Struct({
      message: Schema.String.annotate({ description: "What is wrong, for a person to read" }),
      type: Schema.Literal(type).annotate({ description: "The kind of error" }),
      param: Schema.NullOr(Schema.String).annotate({
        description:
          "Path of the offending field, such as `content[0].image_url`; null when none is"
      }),
      code: Schema.Literal(code).annotate({ description: "The error, for a program to read" }),
      ...onWire(fields)
    }).annotate({ description: "What went wrong" })
  }).annotate({ description: row.meaning, identifier: `error_${code}` })
}

/**
 * The error of a code, written and read as its body. What the body says is decoded once more by the
 * error itself, so that nothing has to be believed of it.
 */
const answered = <S extends Schema.Top>(
  code: ErrorCode,
  error: S,
  body = bodyOf(code),
  own: Named<unknown> = {}
) =>
  body.pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.Unknown),
      transform({
        decode: ({ error: { type: _, ...said } }) => ({ ...inProgram(said), ...own }),
        encode: (said) => ({ error: { ...onWire(said), type: errorTable[code].type } })
      })
    ),
    Schema.decodeTo(error, passthrough({ strict: false }))
  )

export const ModalityMismatch = answered("modality_mismatch", Errors.ModalityMismatch)
export const ModalityNotReady = answered("modality_not_ready", Errors.ModalityNotReady)
export const VideoUnsupportedProtocol = answered(
  "video_unsupported_protocol",
  Errors.VideoUnsupportedProtocol
)
export const ImageUnsupportedProtocol = answered(
  "image_unsupported_protocol",
  Errors.ImageUnsupportedProtocol
)
export const VideoSkuInvalid = answered("video_sku_invalid", Errors.VideoSkuInvalid)
export const BillingUnavailable = answered("billing_unavailable", Errors.BillingUnavailable)
export const InsufficientBalance = answered("insufficient_balance", Errors.InsufficientBalance)
export const MemberCapExceeded = answered("member_cap_exceeded", Errors.MemberCapExceeded)
export const InvalidApiKey = answered("invalid_api_key", Errors.InvalidApiKey)
export const PermissionDenied = answered("permission_denied", Errors.PermissionDenied)
export const ModelNotFound = answered("model_not_found", Errors.ModelNotFound)
export const TaskNotFound = answered("task_not_found", Errors.TaskNotFound)
export const NotFound = answered("not_found", Errors.NotFound)
export const MethodNotAllowed = answered("method_not_allowed", Errors.MethodNotAllowed)
export const PayloadTooLarge = answered("payload_too_large", Errors.PayloadTooLarge)
export const UnsupportedMediaType = answered("unsupported_media_type", Errors.UnsupportedMediaType)
export const InvalidRequest = answered("invalid_request", Errors.InvalidRequest)
export const IdempotencyConflict = answered("idempotency_conflict", Errors.IdempotencyConflict)
export const IdempotencyMismatch = answered("idempotency_mismatch", Errors.IdempotencyMismatch)
export const ChannelUnavailable = answered("channel_unavailable", Errors.ChannelUnavailable)
export const RateLimited = answered("rate_limited", Errors.RateLimited)
export const Overloaded = answered("overloaded", Errors.Overloaded)
export const InternalError = answered("internal_error", Errors.InternalError)

const upstreamBody = bodyOf("upstream_error")

/** The vendor's own status where it says something about the request, a gateway's elsewhere. */
const upstreamErrorAt = (status: number) =>
  answered("upstream_error", Errors.UpstreamError, upstreamBody, { status }).annotate({
    httpApiStatus: status
  })

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
  InternalError,
  UpstreamErrors[0]
])
