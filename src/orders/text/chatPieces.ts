/** A vendor's chat, whole or in pieces, whose client gets it in the form of another API. */
import { Clock, Effect, Predicate } from "effect"
import { Sse } from "effect/encoding"
import type { Fields } from "../../domain/responses/responseObject.ts"
import { isWithin, type JsonBounds } from "../../runtime/texts/jsonWalk.ts"
import type { TextAnswer, TextPiece } from "../../services/ProtocolAdapter.ts"

const utf8 = new TextEncoder()

/** Events as these APIs send them: each with its type as its name. */
export const encodeEvents = (
  events: ReadonlyArray<Fields & { readonly type: string }>
): Uint8Array | null =>
  events.length === 0
    ? null
    : utf8.encode(
        events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
      )

/** Deeper values could not be encoded again. */
const bounds: JsonBounds = {
  levels: 64,
  values: Number.POSITIVE_INFINITY,
  arrayNumbers: 0,
  otherBytes: Number.POSITIVE_INFINITY
}

/** The JSON in a vendor's text; null where it is none, or too deep. */
export const parseJson = (text: string): unknown => {
  if (!isWithin(Buffer.from(text), bounds)) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The data of an event; null for a comment. */
const dataIn = (event: Uint8Array): string | null => {
  let data: string | null = null
  const parser = Sse.makeParser((parsed) => {
    if (parsed._tag === "Event") data = parsed.data
  })
  parser.feed(Buffer.from(event).toString("utf8"))
  return data
}

/**
 * Writes the events of a stream from its vendor's pieces. Data of any other form cannot be sent to
 * the client, and are not charged.
 */
export const writeWith =
  (add: (chunk: Fields) => Parameters<typeof encodeEvents>[0]) =>
  (piece: TextPiece): TextPiece => {
    const data = piece.event === null ? null : dataIn(piece.event)
    if (data === null) return piece
    const fields = parseJson(data)
    return Predicate.isObject(fields)
      ? { ...piece, event: encodeEvents(add({ ...fields })) }
      : { ...piece, event: null, outputBytes: 0 }
  }

/** A whole chat, also one that was too large to be decoded at once. */
export const wholeChat = ({ raw, result }: TextAnswer): Fields => {
  if (raw === undefined) return result
  const chat = parseJson(Buffer.concat(raw.chunks).toString("utf8"))
  raw.release()
  return Predicate.isObject(chat) ? { ...chat } : result
}

export const currentSeconds = Effect.map(Clock.currentTimeMillis, (millis) =>
  Math.floor(millis / 1000)
)
