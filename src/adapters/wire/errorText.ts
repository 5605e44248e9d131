/** Reads the words of a vendor's error, whichever of the usual shapes it has. */
import { Predicate, Schema } from "effect"

const isSaid = Schema.is(
  Schema.Struct({
    code: Schema.optional(Schema.Unknown),
    message: Schema.optional(Schema.Unknown)
  })
)
const isHolder = Schema.is(Schema.Struct({ error: Schema.Unknown }))

/** A text that says something, or a number as text; null for everything else. */
const wordOf = (value: unknown): string | null => {
  if (typeof value === "string") return value === "" ? null : value
  return typeof value === "number" ? String(value) : null
}

interface ErrorText {
  readonly code: string | null
  readonly message: string | null
}

/** Code and message of an error object, or of an error that is a bare text. */
export const errorText = (error: unknown): ErrorText => {
  if (typeof error === "string") return { code: null, message: wordOf(error) }
  return isSaid(error)
    ? { code: wordOf(error.code), message: wordOf(error.message) }
    : { code: null, message: null }
}

/** True when `error` says something; null, an empty text, an empty object and a code 0 say nothing. */
export const saysError = (body: unknown): boolean => {
  if (!isHolder(body)) return false
  const { code, message } = errorText(body.error)
  return (code !== null && code !== "0") || message !== null
}

/** Where vendors explain a refusal, in the usual places and in those that frameworks have of their own. */
const explanation =
  /^(?:code|details?|err_code|errors?|error_(?:code|message|msg)|message|msg|reason|title)$/i

/** Characters of an explanation under a name of the vendor's own. */
const SHORT = 300

/** True for JSON that explains itself in one of its fields or in few words, and for what is no object. */
export const isExplained = (body: unknown): boolean => {
  if (Array.isArray(body)) return body.every(isExplained)
  if (!Predicate.isObject(body)) return true
  const isFlat = Object.values(body).every((value) => typeof value !== "object" || value === null)
  return (
    (isFlat && JSON.stringify(body).length <= SHORT) ||
    Object.keys(body).some((name) => explanation.test(name))
  )
}

/** The words of `{error: {code, message}}`, `{error: "text"}` or `{code, message}`. */
export const errorOf = (body: unknown): ErrorText => {
  const inner = errorText(isHolder(body) ? body.error : null)
  const outer = isSaid(body) ? errorText(body) : inner
  return { code: inner.code ?? outer.code, message: inner.message ?? outer.message }
}
