/** Redacts clients' texts that a vendor repeats in a message, before the message is stored. */
import { Predicate } from "effect"
import { UpstreamError } from "../domain/Errors.ts"
import { storable } from "../domain/plainText.ts"
import { holdsLongText, maskOpaqueText, spellingsOf, startsWithMedium } from "./patterns.ts"

/** The minimum length of a match in a longer text; shorter matches may be common words. */
const MATCH_LENGTH = 12
const MIN_TEXT_LENGTH = 6
const MAX_STORED_LENGTH = 300
const MAX_SEARCHED_LENGTH = 20_000
const ECHO = "[…]"

/**
 * The length of the longest part of `requestText` that `text` repeats at offset `at`; 0 if no part
 * is long enough.
 */
const echoLengthAt = (text: string, at: number, requestText: string): number => {
  let length = Math.min(MATCH_LENGTH, requestText.length)
  if (length < MIN_TEXT_LENGTH || at + length > text.length) return 0
  if (!requestText.includes(text.slice(at, at + length))) return 0
  while (at + length < text.length && requestText.includes(text.slice(at, at + length + 1)))
    length += 1
  return length
}

/**
 * The first 300 characters of a vendor's message. Parts that repeat a text of the request (plain,
 * JSON-quoted or percent-encoded), addresses and encoded data are masked.
 */
export const withoutEchoes = (message: string, requestTexts: ReadonlyArray<string>): string => {
  const text = maskOpaqueText(storable(message), ECHO).slice(0, MAX_STORED_LENGTH)
  const spellings = requestTexts.flatMap((requestText) =>
    spellingsOf(requestText.slice(0, MAX_SEARCHED_LENGTH).toWellFormed())
  )
  let maskedText = ""
  for (let at = 0; at < text.length; ) {
    const echoLength = Math.max(0, ...spellings.map((spelling) => echoLengthAt(text, at, spelling)))
    if (echoLength === 0) {
      maskedText += text[at]
      at += 1
    } else {
      maskedText += maskedText.endsWith(ECHO) ? "" : ECHO
      at += echoLength
    }
  }
  return maskedText.toWellFormed()
}

// Refusals that are stored, so that a repetition of the request gets the same answer

/**
 * The maximum total length of a request's texts, in UTF-16 units. Searching for longer texts would
 * block the event loop.
 */
const MAX_REQUEST_TEXT = 100_000
const MAX_SHORT_TEXTS = 200
/** The length below which texts are compared as a whole, one by one. */
const SHORT_LENGTH = 12
/** The maximum length of a stored body, in characters of JSON. */
const MAX_BODY = 2000
/**
 * The length of the pieces into which long texts are cut for the search. Neighbouring pieces
 * overlap, so that a repeated part at a cut is still found.
 */
const PIECE_LENGTH = 16_000
const OVERLAP_LENGTH = 400

/** Fields with names of models, roles and types, which are not texts of a client. */
const vocabularyFields: ReadonlySet<string> = new Set(["model", "role", "type"])

const textsOf = (value: unknown): ReadonlyArray<string> => {
  // Media need no search: `maskOpaqueText` masks every medium, repeated or not.
  if (typeof value === "string") return startsWithMedium(value) ? [] : [value]
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    vocabularyFields.has(name) ? [] : textsOf(inner)
  )
}

const piecesOf = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / PIECE_LENGTH) }, (_, index) =>
    text.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH + OVERLAP_LENGTH)
  )

/** The texts of a request in pieces; null if there are too many or they are too long. */
const requestTextsIn = (request: unknown): ReadonlyArray<string> | null => {
  const texts = [...new Set(textsOf(request))]
  const shortTexts = texts.filter((text) => text.length < SHORT_LENGTH)
  const long = texts.filter((text) => text.length >= SHORT_LENGTH).join("\n")
  return shortTexts.length > MAX_SHORT_TEXTS || long.length > MAX_REQUEST_TEXT
    ? null
    : [...shortTexts, ...piecesOf(long)]
}

/**
 * A vendor's message without the parts that repeat a text of the request; null if the request
 * contains too much text to search.
 */
export const withoutRequestTexts = (message: string, request: unknown): string | null => {
  const requestTexts = requestTextsIn(request)
  return requestTexts === null ? null : withoutEchoes(message, requestTexts)
}

/** Every string in a body, and the names of its fields. */
const stringsOf = (body: unknown): ReadonlyArray<string> => {
  if (typeof body === "string") return [body]
  if (Array.isArray(body)) return body.flatMap(stringsOf)
  if (!Predicate.isObject(body)) return []
  return Object.entries(body).flatMap(([name, inner]) => [name, ...stringsOf(inner)])
}

const hasNoEcho = (body: unknown, requestTexts: ReadonlyArray<string>): boolean =>
  JSON.stringify(body ?? null).length <= MAX_BODY &&
  stringsOf(body).every((text) => withoutEchoes(text, requestTexts) === text)

/** Copies an error with another message, body and field name. */
const replaceMessage = (
  error: UpstreamError,
  message: string,
  body: unknown,
  param = error.param
): UpstreamError =>
  new UpstreamError({
    ...error,
    message,
    param,
    upstream: { status: error.upstream.status, body }
  })

/**
 * Removes media from an error, because a vendor may repeat the images of the request, and images
 * are never stored.
 */
export const withoutMedia = (error: UpstreamError): UpstreamError => {
  const { message, upstream } = error
  if (!holdsLongText([upstream.body, message])) return error
  return replaceMessage(error, holdsLongText(message) ? withoutEchoes(message, []) : message, null)
}

/**
 * Removes from a refusal everything that repeats the request. Repeated parts of the message are
 * masked. The body is removed if it repeats any text of the request, or if `mayBeAnswer` states
 * that it may be an unreadable answer. If the request contains too much text to search, the message
 * is replaced and the body is removed.
 */
export const storableRefusal = (
  error: UpstreamError,
  request: unknown,
  mayBeAnswer = false
): UpstreamError => {
  const { message, param, status, upstream } = error
  const requestTexts = requestTextsIn(request)
  if (requestTexts === null)
    return replaceMessage(
      error,
      `The vendor answered HTTP ${upstream.status ?? status}`,
      null,
      null
    )
  const isStorable = !mayBeAnswer && hasNoEcho(upstream.body, requestTexts)
  return replaceMessage(
    error,
    withoutEchoes(message, requestTexts),
    isStorable ? upstream.body : null,
    hasNoEcho(param, requestTexts) ? param : null
  )
}
