/**
 * How errors travel: `{"error":{"message","type","param","code", ...}}` on the wire, the error of
 * that code in a program. One schema a code writes the answer and lets the typed client read it.
 */
import { Schema, SchemaTransformation } from "effect"
import * as Errors from "../../domain/Errors.ts"
import { type ErrorCode, type ErrorRow, errorTable } from "../../domain/errorTable.ts"
import { text, textOrNull } from "./shared.ts"

const { passthrough, transform } = SchemaTransformation

type Named<A> = Readonly<Record<string, A>>

const renaming =
  (names: ReadonlyMap<string, string>) =>
  <A>(fields: Named<A>): Named<A> =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value])
    )

/** The fields of an error are named on the wire as the rest of the API is. */
const wireNames: ReadonlyArray<readonly [string, string]> = [
  ["_tag", "code"],
  ["retryAfterSeconds", "retry_after"]
]
const onWire = renaming(new Map(wireNames))
const inProgram = renaming(new Map(wireNames.map(([inside, outside]) => [outside, inside])))

/** The body of an error, as the table describes it. */
const bodyOf = (code: ErrorCode): Schema.Codec<{ readonly error: Named<unknown> }> => {
  const { type, fields, meaning }: ErrorRow = errorTable[code]
  return Schema.Struct({
    error: Schema.Struct({
      message: text("What is wrong, for a person to read"),
      type: Schema.Literal(type).annotate({ description: "The kind of error" }),
      param: textOrNull(
        "Path of the offending field, such as `content[0].image_url`; null when none is"
      ),
      code: Schema.Literal(code).annotate({ description: "The error, for a program to read" }),
      ...onWire(fields)
    }).annotate({ description: "What went wrong" })
  }).annotate({ description: meaning, identifier: `error_${code}` })
}

interface ErrorClass extends Schema.Top {
  readonly fields: { readonly _tag: { readonly schema: { readonly literal: ErrorCode } } }
}

/**
 * An error, written and read as the body of its code. What the body says is decoded once more by the
 * error itself, so that nothing has to be believed of it.
 */
const wireError = <S extends ErrorClass>(
  error: S,
  body?: ReturnType<typeof bodyOf>,
  fixedFields: Named<unknown> = {}
) => {
  const code = error.fields._tag.schema.literal
  return (body ?? bodyOf(code)).pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.Unknown),
      transform({
        decode: ({ error: { type: _, ...fields } }) => ({ ...inProgram(fields), ...fixedFields }),
        encode: (fields) => ({ error: { ...onWire(fields), type: errorTable[code].type } })
      })
    ),
    Schema.decodeTo(error, passthrough({ strict: false }))
  )
}

/** One component of the document for all statuses. */
const upstreamBody = bodyOf("upstream_error")

/** The vendor's own status where it says something about the request, a gateway's elsewhere. */
export const upstreamErrorAt = (status: number) =>
  wireError(Errors.UpstreamError, upstreamBody, { status }).annotate({ httpApiStatus: status })

/** Every error as it is answered; of the upstream's, the status is beside the body. */
export const errors = {
  ModalityMismatch: wireError(Errors.ModalityMismatch),
  ModalityNotReady: wireError(Errors.ModalityNotReady),
  VideoUnsupportedProtocol: wireError(Errors.VideoUnsupportedProtocol),
  ImageUnsupportedProtocol: wireError(Errors.ImageUnsupportedProtocol),
  VideoSkuInvalid: wireError(Errors.VideoSkuInvalid),
  BillingUnavailable: wireError(Errors.BillingUnavailable),
  InsufficientBalance: wireError(Errors.InsufficientBalance),
  MemberCapExceeded: wireError(Errors.MemberCapExceeded),
  BudgetExceeded: wireError(Errors.BudgetExceeded),
  InvalidApiKey: wireError(Errors.InvalidApiKey),
  PermissionDenied: wireError(Errors.PermissionDenied),
  ModelNotFound: wireError(Errors.ModelNotFound),
  TaskNotFound: wireError(Errors.TaskNotFound),
  TaskProcessing: wireError(Errors.TaskProcessing),
  NotFound: wireError(Errors.NotFound),
  MethodNotAllowed: wireError(Errors.MethodNotAllowed),
  PayloadTooLarge: wireError(Errors.PayloadTooLarge),
  UnsupportedMediaType: wireError(Errors.UnsupportedMediaType),
  InvalidRequest: wireError(Errors.InvalidRequest),
  IdempotencyConflict: wireError(Errors.IdempotencyConflict),
  IdempotencyMismatch: wireError(Errors.IdempotencyMismatch),
  PreconditionFailed: wireError(Errors.PreconditionFailed),
  ChannelUnavailable: wireError(Errors.ChannelUnavailable),
  RateLimited: wireError(Errors.RateLimited),
  Overloaded: wireError(Errors.Overloaded),
  InternalError: wireError(Errors.InternalError),
  UpstreamError: upstreamErrorAt(502)
}

export const AnsweredError = Schema.Union(Object.values(errors))

/** Of routes that take a body. */
export const bodyErrors = [errors.PayloadTooLarge, errors.UnsupportedMediaType] as const

/** Of routes that order something. */
export const orderErrors = [
  ...bodyErrors,
  errors.ModelNotFound,
  errors.ModalityNotReady,
  errors.ModalityMismatch,
  errors.BillingUnavailable,
  errors.InsufficientBalance,
  errors.MemberCapExceeded,
  errors.BudgetExceeded,
  errors.IdempotencyConflict,
  errors.IdempotencyMismatch,
  errors.ChannelUnavailable,
  errors.UpstreamError,
  ...[400, 404, 413, 415, 422, 503, 504].map(upstreamErrorAt)
] as const
