/** What went wrong with a call, as the console shows it. */
import { Option, Predicate, Schema } from "effect"
import * as Errors from "../../domain/Errors.ts"

export interface Failure {
  /** One of the interface's codes, `unreachable` without an answer, or `unreadable`. */
  readonly code: Errors.ErrorCode | "unreachable" | "unreadable"
  /** In the gateway's own words. */
  readonly message: string
  readonly param: string | null
  /** Fields that the code has beside those. */
  readonly more: Readonly<Record<string, unknown>>
}

const isCode = (tag: string): tag is Errors.ErrorCode => tag in Errors.errorTable
const Said = Schema.Struct({
  _tag: Schema.String,
  message: Schema.String,
  param: Schema.NullOr(Schema.String)
})
const isSaid = Schema.is(Said)

/** What browsers say of a request that never came to an answer. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof TypeError && /fetch|network|load failed/i.test(error.message)

export const failureOf = (error: unknown): Failure => {
  if (isSaid(error) && isCode(error._tag)) {
    const { _tag: code, message, param, ...more } = error
    return { code, message, param, more }
  }
  const message = error instanceof Error ? error.message : String(error)
  // A transport that failed, or an answer of somebody who stands between.
  const unreachable = Predicate.isTagged(error, "HttpClientError") || isUnanswered(error)
  return { code: unreachable ? "unreachable" : "unreadable", message, param: null, more: {} }
}

/** What an error's own fields say, where they are of this shape. */
export const told = <A>({ more }: Failure, schema: Schema.ConstraintDecoder<A>): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(more))
