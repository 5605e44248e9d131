/** Reads the code and message of a vendor's error in any of the usual shapes. */
import { Predicate, Schema } from "effect"

const isErrorFields = Schema.is(
  Schema.Struct({
    code: Schema.optional(Schema.Unknown),
    message: Schema.optional(Schema.Unknown),
    param: Schema.optional(Schema.Unknown)
  })
)

/** A non-empty string, or a number as a string; null for any other value. */
const nonEmptyText = (value: unknown): string | null => {
  if (typeof value === "string") return value === "" ? null : value
  return typeof value === "number" ? String(value) : null
}

interface ErrorText {
  readonly code: string | null
  readonly message: string | null
}

/** The code and message of an error object, or of an error that is a bare text. */
export const errorText = (error: unknown): ErrorText => {
  if (typeof error === "string") return { code: null, message: nonEmptyText(error) }
  return isErrorFields(error)
    ? { code: nonEmptyText(error.code), message: nonEmptyText(error.message) }
    : { code: null, message: null }
}

/**
 * Whether a body contains an error: `error` has a code or a message. Null, an empty text, an empty
 * object and code 0 are not errors.
 */
export const isErrorText = (body: unknown): boolean => {
  if (!Predicate.hasProperty(body, "error")) return false
  const { code, message } = errorText(body.error)
  return (code !== null && code !== "0") || message !== null
}

/** The names of fields in which vendors and their web frameworks explain a refusal. */
const explanationNames =
  /^(?:code|details?|err_code|errors?|error_(?:code|message|msg)|message|msg|reason|title)$/i

/**
 * JSON without nested values counts as an explanation up to this length, even if none of its fields
 * has a name in `explanationNames`.
 */
const MAX_SHORT_LENGTH = 300

/**
 * Whether a body explains an error. Short flat JSON and JSON with an explaining field do, and so
 * does anything that is neither an object nor a list. A list does if all its items do.
 */
export const isExplained = (body: unknown): boolean => {
  if (Array.isArray(body)) return body.every(isExplained)
  if (!Predicate.isObject(body)) return true
  const isFlat = Object.values(body).every((value) => typeof value !== "object" || value === null)
  return (
    (isFlat && JSON.stringify(body).length <= MAX_SHORT_LENGTH) ||
    Object.keys(body).some((name) => explanationNames.test(name))
  )
}

/** Matches the path of a field, such as `size` or `content[0].image_url`. */
const fieldPath = /^[A-Za-z_$][\w.[\]-]{0,99}$/

/** The path of the request's field that an error names in `param`; null if it names none. */
export const paramOf = (body: unknown): string | null => {
  const error = Predicate.hasProperty(body, "error") ? body.error : body
  const param = isErrorFields(error) ? error.param : null
  return typeof param === "string" && fieldPath.test(param) ? param : null
}

/** The code and message of `{error: {code, message}}`, `{error: "text"}` or `{code, message}`. */
export const errorOf = (body: unknown): ErrorText => {
  const inner = errorText(Predicate.hasProperty(body, "error") ? body.error : null)
  const outer = isErrorFields(body) ? errorText(body) : inner
  return { code: inner.code ?? outer.code, message: inner.message ?? outer.message }
}
