/** What is kept of a vendor's refusal of a text, for repeats of the request that was refused. */
import { UpstreamError } from "./Errors.ts"
import { withoutEchoes } from "./echoes.ts"

/** In UTF-16 units; to look for longer requests in a vendor's words would hold everybody up. */
const MAX_SENT = 100_000
const MAX_SHORT_TEXTS = 200
/** Shorter texts are only looked for as a whole, and one by one. */
const SHORT = 12
/** Of JSON. */
const MAX_BODY = 2000
/** Texts are looked for in pieces, which overlap so that none is cut where it is repeated. */
const PIECE = 16_000
const OVERLAP = 400

/** What a model, a message or a part of one is called is no text. */
const kinds: ReadonlySet<string> = new Set(["model", "role", "type"])

/** Media is masked as such wherever it is repeated. */
const media = /^data:|^[A-Za-z0-9+/_=-]{1024}/i

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return media.test(value) ? [] : [value]
  if (typeof value !== "object" || value === null) return []
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
  if (typeof body !== "object" || body === null) return []
  if (Array.isArray(body)) return body.flatMap(wordsOf)
  return Object.entries(body).flatMap(([name, inner]) => [name, ...wordsOf(inner)])
}

const repeatsNothing = (body: unknown, sent: ReadonlyArray<string>): boolean =>
  JSON.stringify(body ?? null).length <= MAX_BODY &&
  wordsOf(body).every((word) => withoutEchoes(word, sent) === word)

/**
 * The refusal without what it repeats of the texts of a request: pieces of its message are masked,
 * and a body that has any is left out.
 */
export const keptRefusal = (error: UpstreamError, request: unknown): UpstreamError => {
  const { message, status, upstream, retryable, retryAfterSeconds } = error
  const sent = sentIn(request)
  return new UpstreamError({
    message:
      sent === null
        ? `The vendor answered HTTP ${upstream.status ?? status}`
        : withoutEchoes(message, sent),
    status,
    upstream: {
      status: upstream.status,
      body: sent !== null && repeatsNothing(upstream.body, sent) ? upstream.body : null
    },
    retryable,
    retryAfterSeconds
  })
}
