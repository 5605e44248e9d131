/** Redacts the texts of clients that vendors repeat, before a vendor's message is stored. */
import { Predicate } from "effect"
import { UpstreamError } from "../domain/Errors.ts"
import { storable } from "../domain/plainText.ts"
import { holdsLongText, maskOpaqueText, spellingsOf, startsWithMedium } from "./patterns.ts"

/** Shorter matches are words that anybody may use. */
const MATCH_LENGTH = 12
const MIN_TEXT_LENGTH = 6
const MAX_STORED_LENGTH = 300
const MAX_SEARCHED_LENGTH = 20_000
const ECHO = "[…]"

/** Length of the longest part of `sent` that `text` repeats at `at`; 0 when none is long enough. */
const echoLengthAt = (text: string, at: number, sent: string): number => {
  let length = Math.min(MATCH_LENGTH, sent.length)
  if (length < MIN_TEXT_LENGTH || at + length > text.length) return 0
  if (!sent.includes(text.slice(at, at + length))) return 0
  while (at + length < text.length && sent.includes(text.slice(at, at + length + 1))) length += 1
  return length
}

/**
 * The first 300 characters of a vendor's message, with every part masked that repeats a text that was
 * sent, also JSON-quoted or percent-encoded, and with addresses and encoded data masked.
 */
export const withoutEchoes = (message: string, sent: ReadonlyArray<string>): string => {
  const text = maskOpaqueText(storable(message), ECHO).slice(0, MAX_STORED_LENGTH)
  const spellings = sent.flatMap((one) =>
    spellingsOf(one.slice(0, MAX_SEARCHED_LENGTH).toWellFormed())
  )
  let masked = ""
  for (let at = 0; at < text.length; ) {
    const echoLength = Math.max(0, ...spellings.map((one) => echoLengthAt(text, at, one)))
    if (echoLength === 0) {
      masked += text[at]
      at += 1
    } else {
      masked += masked.endsWith(ECHO) ? "" : ECHO
      at += echoLength
    }
  }
  return masked.toWellFormed()
}

// A refusal that is kept for repeats of the request that was refused

/** UTF-16 units; to look for the texts of longer requests would hold everybody up. */
const MAX_SENT = 100_000
const MAX_SHORT_TEXTS = 200
/** Shorter texts are only looked for as a whole, and one by one. */
const SHORT = 12
/** Characters of JSON. */
const MAX_BODY = 2000
/** Texts are looked for in pieces, which overlap so that none is cut where it is repeated. */
const PIECE = 16_000
const OVERLAP = 400

/** Fields with names of models, roles and kinds, which are no texts of a client. */
const kinds: ReadonlySet<string> = new Set(["model", "role", "type"])

const textsOf = (value: unknown): ReadonlyArray<string> => {
  // Media is masked as such wherever it is repeated.
  if (typeof value === "string") return startsWithMedium(value) ? [] : [value]
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => (kinds.has(name) ? [] : textsOf(inner)))
}

const piecesOf = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / PIECE) }, (_, index) =>
    text.slice(index * PIECE, (index + 1) * PIECE + OVERLAP)
  )

/** The texts of a request in pieces; null when they are too many or too long. */
const sentIn = (request: unknown): ReadonlyArray<string> | null => {
  const texts = [...new Set(textsOf(request))]
  const short = texts.filter((text) => text.length < SHORT)
  const long = texts.filter((text) => text.length >= SHORT).join("\n")
  return short.length > MAX_SHORT_TEXTS || long.length > MAX_SENT
    ? null
    : [...short, ...piecesOf(long)]
}

/** Every text in a body, and the names of its fields. */
const stringsOf = (body: unknown): ReadonlyArray<string> => {
  if (typeof body === "string") return [body]
  if (Array.isArray(body)) return body.flatMap(stringsOf)
  if (!Predicate.isObject(body)) return []
  return Object.entries(body).flatMap(([name, inner]) => [name, ...stringsOf(inner)])
}

const repeatsNothing = (body: unknown, sent: ReadonlyArray<string>): boolean =>
  JSON.stringify(body ?? null).length <= MAX_BODY &&
  stringsOf(body).every((text) => withoutEchoes(text, sent) === text)

/** The same error with another message and body. */
const replaceMessage = (error: UpstreamError, message: string, body: unknown): UpstreamError =>
  new UpstreamError({
    message,
    status: error.status,
    upstream: { status: error.upstream.status, body },
    retryable: error.retryable,
    retryAfterSeconds: error.retryAfterSeconds
  })

/** A vendor may answer with what it was sent; images are not kept, also not in an error. */
export const withoutMedia = (error: UpstreamError): UpstreamError => {
  const { message, upstream } = error
  if (!holdsLongText([upstream.body, message])) return error
  return replaceMessage(error, holdsLongText(message) ? withoutEchoes(message, []) : message, null)
}

/**
 * The refusal without what it repeats of the texts of a request: pieces of its message are masked,
 * and a body that has any is left out, as is one that may be an answer that could not be read.
 */
export const storableRefusal = (
  error: UpstreamError,
  request: unknown,
  mayBeAnswer = false
): UpstreamError => {
  const { message, status, upstream } = error
  const sent = sentIn(request)
  if (sent === null)
    return replaceMessage(error, `The vendor answered HTTP ${upstream.status ?? status}`, null)
  const isStorable = !mayBeAnswer && repeatsNothing(upstream.body, sent)
  return replaceMessage(error, withoutEchoes(message, sent), isStorable ? upstream.body : null)
}
