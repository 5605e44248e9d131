/** Hides what clients sent from all that is kept, in the words that vendors repeat of it. */
import { Predicate } from "effect"
import { UpstreamError } from "../domain/Errors.ts"
import { storable } from "../domain/plainText.ts"
import { holdsLongText, maskOpaqueText, spellingsOf, startsWithMedium } from "./patterns.ts"

/** Shorter runs of characters are words that anybody may use. */
const RUN = 12
const SHORTEST = 6
const MAX_KEPT = 300
const MAX_LOOKED_FOR = 20_000
const ECHO = "[…]"

/** Length of the longest piece of `ours` that stands at `at`; 0 when none is long enough. */
const echoAt = (said: string, at: number, ours: string): number => {
  let length = Math.min(RUN, ours.length)
  if (length < SHORTEST || at + length > said.length) return 0
  if (!ours.includes(said.slice(at, at + length))) return 0
  while (at + length < said.length && ours.includes(said.slice(at, at + length + 1))) length += 1
  return length
}

/**
 * The first 300 characters of a vendor's words, with every piece masked that repeats a text of
 * ours, also JSON-quoted or percent-encoded, and with addresses and encoded data masked.
 */
export const withoutEchoes = (said: string, sent: ReadonlyArray<string>): string => {
  const text = maskOpaqueText(storable(said), ECHO).slice(0, MAX_KEPT)
  const ours = sent.flatMap((one) => spellingsOf(one.slice(0, MAX_LOOKED_FOR).toWellFormed()))
  let kept = ""
  for (let at = 0; at < text.length; ) {
    const echoed = Math.max(0, ...ours.map((one) => echoAt(text, at, one)))
    if (echoed === 0) {
      kept += text[at]
      at += 1
    } else {
      kept += kept.endsWith(ECHO) ? "" : ECHO
      at += echoed
    }
  }
  return kept.toWellFormed()
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
const wordsOf = (body: unknown): ReadonlyArray<string> => {
  if (typeof body === "string") return [body]
  if (Array.isArray(body)) return body.flatMap(wordsOf)
  if (!Predicate.isObject(body)) return []
  return Object.entries(body).flatMap(([name, inner]) => [name, ...wordsOf(inner)])
}

const repeatsNothing = (body: unknown, sent: ReadonlyArray<string>): boolean =>
  JSON.stringify(body ?? null).length <= MAX_BODY &&
  wordsOf(body).every((word) => withoutEchoes(word, sent) === word)

/** The same error in other words. */
const saying = (error: UpstreamError, message: string, body: unknown): UpstreamError =>
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
  return saying(error, holdsLongText(message) ? withoutEchoes(message, []) : message, null)
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
    return saying(error, `The vendor answered HTTP ${upstream.status ?? status}`, null)
  const isKept = !mayBeAnswer && repeatsNothing(upstream.body, sent)
  return saying(error, withoutEchoes(message, sent), isKept ? upstream.body : null)
}
