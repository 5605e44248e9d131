/**
 * The schemas of errors. On the wire an error has the form
 * `{"error":{"message","type","param","code","doc_url",...}}`; in a program it is an instance of the
 * error class of that code. The server encodes errors with these schemas, and the typed client decodes
 * them.
 */
import { Schema, SchemaTransformation } from "effect"
import * as Errors from "../../domain/Errors.ts"
import { type ErrorCode, type ErrorRow, errorTable } from "../../domain/errorTable.ts"
import { text, textOrNull } from "./shared.ts"

const { passthrough, transform } = SchemaTransformation

type FieldsOf<A> = Readonly<Record<string, A>>

const renameFields =
  (names: ReadonlyMap<string, string>) =>
  <A>(fields: FieldsOf<A>): FieldsOf<A> =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value])
    )

/** The error fields whose names on the wire differ from their names in a program. */
const wireNames: ReadonlyArray<readonly [string, string]> = [
  ["_tag", "code"],
  ["retryAfterSeconds", "retry_after"]
]
const toWireFields = renameFields(new Map(wireNames))
const toProgramFields = renameFields(
  new Map(wireNames.map(([programName, wireName]) => [wireName, programName]))
)

/**
 * The entry of an error in the API reference, relative to the gateway's address. Scalar makes the
 * fragment from the entry's heading, which is the code.
 */
const docUrlOf = (code: ErrorCode): string => `/docs#description/${code}`

/** The schema of an error's body, from its row in the error table. */
const bodyOf = (code: ErrorCode): Schema.Codec<{ readonly error: FieldsOf<unknown> }> => {
  const { type, fields, meaning }: ErrorRow = errorTable[code]
  return Schema.Struct({
    error: Schema.Struct({
      message: text("What is wrong, for a person to read"),
      type: Schema.Literal(type).annotate({ description: "The kind of error" }),
      param: textOrNull(
        "Path of the offending field, such as `content[0].image_url`; null when none is"
      ),
      code: Schema.Literal(code).annotate({ description: "The error, for a program to read" }),
      // Clients take errors without it, which a proxy in front of the gateway may write.
      doc_url: Schema.optionalKey(
        text("The entry of the code in the API reference, relative to this gateway", docUrlOf(code))
      ),
      ...toWireFields(fields)
    }).annotate({ description: "What went wrong" })
  }).annotate({ description: meaning, identifier: `error_${code}` })
}

interface ErrorClass extends Schema.Top {
  readonly fields: { readonly _tag: { readonly schema: { readonly literal: ErrorCode } } }
}

/**
 * The codec between an error and the body of its code. A received body is decoded a second time by
 * the error's own schema, so that every one of its fields is checked.
 */
const wireError = <S extends ErrorClass>(
  error: S,
  body?: ReturnType<typeof bodyOf>,
  fixedFields: FieldsOf<unknown> = {}
) => {
  const code = error.fields._tag.schema.literal
  return (body ?? bodyOf(code)).pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.Unknown),
      transform({
        decode: ({ error: { type: _type, doc_url: _docUrl, ...fields } }) => ({
          ...toProgramFields(fields),
          ...fixedFields
        }),
        encode: (fields) => ({
          error: { ...toWireFields(fields), type: errorTable[code].type, doc_url: docUrlOf(code) }
        })
      })
    ),
    Schema.decodeTo(error, passthrough({ strict: false }))
  )
}

/**
 * The body of a vendor's error. All statuses share this schema, so that the OpenAPI document has
 * one component for it.
 */
const upstreamBody = bodyOf("upstream_error")

/**
 * The error of a vendor, answered with `status`. This is the vendor's own status where that status
 * is about the client's request, and 502 or 504 otherwise.
 */
export const upstreamErrorAt = (status: number) =>
  wireError(Errors.UpstreamError, upstreamBody, { status }).annotate({ httpApiStatus: status })

/** The codec of every error. */
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
  PriceListInUse: wireError(Errors.PriceListInUse),
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

/** Errors of routes with a body. */
export const bodyErrors = [errors.PayloadTooLarge, errors.UnsupportedMediaType] as const

/** Errors of ordering routes. */
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
