/** The body of an error, whatever its code, and the way between it and the error's own fields. */
import { Schema } from "effect"
import { type ErrorCode, type ErrorType, errorTable } from "../../domain/Errors.ts"

const WRONG = "What went wrong"

/** What every error says, and what one of this code adds. */
export const saying = <C extends ErrorCode, F extends Schema.Struct.Fields>(code: C, more: F) => {
  const type: ErrorType = errorTable[code].type
  return Schema.Struct({
    message: Schema.String.annotate({ description: "What is wrong, for a person to read" }),
    type: Schema.Literal(type).annotate({ description: "The kind of error" }),
    param: Schema.NullOr(Schema.String).annotate({
      description: "Path of the offending field, such as `content[0].image_url`; null when none is"
    }),
    code: Schema.Literal(code).annotate({ description: "The error, for a program to read" }),
    ...more
  }).annotate({ description: WRONG })
}

export const body = <S extends Schema.Top>(name: ErrorCode, description: string, error: S) =>
  Schema.Struct({ error }).annotate({
    description,
    identifier: `error_${name}`
  })

/** The fields of an error, out of its body. */
export const fromBody = <S extends { readonly code: ErrorCode; readonly type: ErrorType }>(body: {
  readonly error: S
}): { readonly _tag: S["code"] } & Omit<S, "code" | "type"> => {
  const { code, type: _, ...said } = body.error
  return { _tag: code, ...said }
}

/** The body of an error, its type read off the table. */
export const toBody = <T extends { readonly _tag: ErrorCode }>(
  fields: T
): { readonly error: Omit<T, "_tag"> & { readonly type: ErrorType; readonly code: T["_tag"] } } => {
  const { _tag: code, ...said } = fields
  return { error: { ...said, type: errorTable[code].type, code } }
}

/** The same where the error says when to come again. */
export const fromWaiting = <
  S extends { readonly code: ErrorCode; readonly type: ErrorType; readonly retry_after: unknown }
>(body: {
  readonly error: S
}): { readonly _tag: S["code"]; readonly retryAfterSeconds: S["retry_after"] } & Omit<
  S,
  "code" | "type" | "retry_after"
> => {
  const { code, type: _, retry_after, ...said } = body.error
  return { _tag: code, retryAfterSeconds: retry_after, ...said }
}

export const toWaiting = <
  T extends { readonly _tag: ErrorCode; readonly retryAfterSeconds: unknown }
>(
  fields: T
): {
  readonly error: Omit<T, "_tag" | "retryAfterSeconds"> & {
    readonly type: ErrorType
    readonly code: T["_tag"]
    readonly retry_after: T["retryAfterSeconds"]
  }
} => {
  const { _tag: code, retryAfterSeconds: retry_after, ...said } = fields
  return { error: { ...said, type: errorTable[code].type, code, retry_after } }
}
