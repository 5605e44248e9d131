/** The failure of a call, in the form that the console shows. */
import { Option, Predicate, Schema } from "effect"
import * as Errors from "../../domain/Errors.ts"

export interface Failure {
  /**
   * An error code of the API, `offline` where the browser has no network, `unreachable` where no
   * response came, or `unreadable` where the response has no known form.
   */
  readonly code: Errors.ErrorCode | "offline" | "unreachable" | "unreadable"
  /** The gateway's own message; empty where it was not asked. */
  readonly message: string
  readonly param: string | null
  /** The additional fields of this error code. */
  readonly details: Readonly<Record<string, unknown>>
}

const isCode = (tag: string): tag is Errors.ErrorCode => tag in Errors.errorTable
const ApiError = Schema.Struct({
  _tag: Schema.String,
  message: Schema.String,
  param: Schema.NullOr(Schema.String)
})
const isApiError = Schema.is(ApiError)

/** Whether this is a browser's error for a request without a response. */
const isNetworkError = (error: unknown): boolean =>
  error instanceof TypeError && /fetch|network|load failed|import/i.test(error.message)

export const failureOf = (error: unknown): Failure => {
  if (isApiError(error) && isCode(error._tag)) {
    const { _tag: code, message, param, ...details } = error
    return { code, message, param, details }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (Predicate.isTagged(error, "Offline"))
    return { code: "offline", message, param: null, details: {} }
  // A network failure, or a response from a proxy in between.
  const isUnreachable = Predicate.isTagged(error, "HttpClientError") || isNetworkError(error)
  return { code: isUnreachable ? "unreachable" : "unreadable", message, param: null, details: {} }
}

/** The additional fields of an error, decoded with a schema; undefined where they do not match. */
export const decodeDetails = <A>(
  { details }: Failure,
  schema: Schema.ConstraintDecoder<A>
): A | undefined => Option.getOrUndefined(Schema.decodeUnknownOption(schema)(details))
