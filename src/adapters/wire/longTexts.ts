/**
 * Looking at JSON with long texts in it, such as images in base64, without decoding those: a short
 * mark stands in the place of each.
 */
import { markOf } from "../../hiding/patterns.ts"
import { cutMedia, type JsonBounds, walkJson } from "../../runtime/jsonWalk.ts"

/** A backslash, and the control characters that a broken writer leaves in a text. */
const NOT_PLAIN = [0x5c, 0x00, 0x09, 0x0a, 0x0d]

/** There is no need to look at what is large for other reasons than its texts. */
const MAX_REST = 256 * 1024

/**
 * The JSON in the pieces, with a mark for each long text; null when it has none, is no JSON, or must be
 * decoded whole to be known.
 */
export const outlineOf = (chunks: ReadonlyArray<Uint8Array>, bounds: JsonBounds): unknown => {
  const pieces = chunks.map((chunk) =>
    Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  )
  const walk = walkJson({ ...bounds, otherBytes: MAX_REST })
  if (pieces.some((piece) => walk.push(piece) !== null)) return null
  if (walk.media.length === 0) return null
  const { kept, cut } = cutMedia(pieces, walk.media, ({ from, to }) => markOf(to - from))
  const isPlain = (part: Buffer) => NOT_PLAIN.every((code) => !part.includes(code))
  if (!cut.every((parts) => parts.every(isPlain))) return null
  try {
    return JSON.parse(Buffer.concat(kept).toString())
  } catch {
    return null
  }
}
