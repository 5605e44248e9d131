/**
 * The order in a form for its quote: quotes have a smaller size limit than orders, and files are
 * the largest part.
 */
import { isTextKind, type Order } from "./draft.ts"

const MAX_BYTES = 900_000
const PLACEHOLDER_TEXT = "…"
/**
 * Addresses that replace files. The gateway never fetches these addresses, and the name does not
 * resolve.
 */
const placeholderUrls = {
  image: "https://file.invalid/picture.png",
  audio: "https://file.invalid/sound.mp3",
  video: "https://file.invalid/film.mp4"
} as const

const placeholderUrlOf = (url: string): string => {
  const kind = /^data:(audio|video)\//.exec(url)?.[1]
  return kind === "audio" || kind === "video" ? placeholderUrls[kind] : placeholderUrls.image
}

const withoutFiles = (value: unknown): unknown => {
  if (typeof value === "string") return value.startsWith("data:") ? placeholderUrlOf(value) : value
  if (Array.isArray(value)) return value.map(withoutFiles)
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutFiles(part)]))
  }
  return value
}

const withPlaceholders = (
  body: Order["body"],
  placeholders: Readonly<Record<string, unknown>>
): Order["body"] => ({
  ...body,
  ...Object.fromEntries(
    Object.entries(placeholders).filter(([name]) => {
      const value = body[name]
      return value === "" || (Array.isArray(value) && value.length === 0)
    })
  )
})

/**
 * The body with a placeholder for a missing text, so that the price can be quoted before the text
 * is written.
 */
const withWords = ({ kind, body }: Order): Order["body"] => {
  switch (kind) {
    case "video":
      return "prompt" in body || "content" in body ? body : { ...body, prompt: PLACEHOLDER_TEXT }
    case "image":
      return withPlaceholders(body, { prompt: PLACEHOLDER_TEXT })
    case "embedding":
    case "response":
    case "tts":
      return withPlaceholders(body, { input: PLACEHOLDER_TEXT })
    case "rerank":
      return withPlaceholders(body, { query: PLACEHOLDER_TEXT, documents: [PLACEHOLDER_TEXT] })
    case "chat":
    case "asr":
      return body
  }
}

export interface Quotable {
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string }
  /**
   * Whether the hold of the order may be higher, because its files were not sent with the quote.
   */
  readonly isRough: boolean
}

/** The length for which a price is quoted as long as there is no recording. */
const PLACEHOLDER_SECONDS = 1

/** A large recording is quoted by its length, which the gateway measures itself for the hold. */
const quotableRecording = (model: string, { body, recording }: Order): Quotable => {
  const { file, ...fields } = body
  if (recording !== null && recording.url.length <= MAX_BYTES) {
    return { body: { ...body, model }, isRough: false }
  }
  const seconds = recording?.seconds ?? PLACEHOLDER_SECONDS
  return { body: { ...fields, model, seconds }, isRough: true }
}

export const quotableOrder = (model: string, order: Order): Quotable => {
  if (order.kind === "asr") return quotableRecording(model, order)
  const body = { ...withWords(order), model }
  const text = JSON.stringify(body)
  if (text.length <= MAX_BYTES) return { body, isRough: false }
  const light = JSON.stringify(withoutFiles(body))
  const isRough = isTextKind(order.kind) || text.includes('"data:video/')
  return { body: { ...JSON.parse(light), model }, isRough }
}
