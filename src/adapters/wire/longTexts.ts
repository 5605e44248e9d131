/**
 * Looking at JSON with long texts in it, such as images in base64, without decoding those: each is
 * told apart from its ends alone, and a short mark stands in its place.
 */
import { isAscii } from "node:buffer"
import { markOf } from "../../hiding/patterns.ts"
import { isWithin, type JsonBounds } from "../../runtime/jsonWalk.ts"

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Of those that no text of JSON may hold as they are, the ones a broken writer leaves in. */
const FORBIDDEN = [0x00, 0x09, 0x0a, 0x0d]

/** Longer texts get a mark. */
const SHORT_BYTES = 1024
/** There is no need to look at what is large for other reasons than its texts. */
const MAX_REST = 256 * 1024

interface Segment {
  readonly chunk: Buffer
  readonly from: number
  readonly to: number
}

/** Where the text that begins at `from` ends in this piece: at its quote, or -1 where it goes on. */
const closingQuote = ({ chunk, from }: Omit<Segment, "to">, isEscaped: boolean): number => {
  let skip = isEscaped ? from : -1
  let quote = chunk.indexOf(QUOTE, from)
  let backslash = chunk.indexOf(BACKSLASH, from)
  for (;;) {
    if (skip >= 0) {
      if (quote === skip) quote = chunk.indexOf(QUOTE, skip + 1)
      if (backslash === skip) backslash = chunk.indexOf(BACKSLASH, skip + 1)
    }
    if (quote < 0 || backslash < 0 || quote < backslash) return quote
    skip = backslash + 1
    backslash = chunk.indexOf(BACKSLASH, backslash + 1)
  }
}

/** Whether the piece ends with a backslash that is not escaped itself. */
const endsEscaping = ({ chunk, from }: Omit<Segment, "to">, isEscaped: boolean): boolean => {
  let count = 0
  while (chunk.length - 1 - count >= from && chunk[chunk.length - 1 - count] === BACKSLASH) count++
  const isWhole = count === chunk.length - from
  return (count - (isWhole && isEscaped ? 1 : 0)) % 2 === 1
}

/** A text that is as it stands: nothing escaped, nothing that needs decoding. */
const isPlain = ({ chunk, from, to }: Segment): boolean => {
  const bytes = chunk.subarray(from, to)
  return (
    isAscii(bytes) && !bytes.includes(BACKSLASH) && FORBIDDEN.every((code) => !bytes.includes(code))
  )
}

export interface Outline {
  /** The decoded JSON with marks. */
  readonly value: unknown
  /** Whether there is any mark in it. */
  readonly isShortened: boolean
}

/**
 * The JSON in the pieces, with a mark for each long text; null when it is no JSON, or must be decoded
 * whole to be known.
 */
export const outlineOf = (
  chunks: ReadonlyArray<Uint8Array>,
  bounds: JsonBounds
): Outline | null => {
  const kept: Array<Buffer> = []
  let keptBytes = 0
  let isShortened = false
  const keep = ({ chunk, from, to }: Segment): void => {
    kept.push(chunk.subarray(from, to))
    keptBytes += to - from
  }

  /** The text that is being read; null between texts. */
  let text: Array<Segment> | null = null
  let textBytes = 0
  let isEscaped = false

  for (const piece of chunks) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let from = 0
    while (from < chunk.length) {
      if (text === null) {
        const quote = chunk.indexOf(QUOTE, from)
        const to = quote < 0 ? chunk.length : quote + 1
        keep({ chunk, from, to })
        from = to
        if (quote >= 0) {
          text = []
          textBytes = 0
          isEscaped = false
        }
      } else {
        const start = { chunk, from }
        const quote = closingQuote(start, isEscaped)
        const to = quote < 0 ? chunk.length : quote
        text.push({ chunk, from, to })
        textBytes += to - from
        if (quote < 0) isEscaped = endsEscaping(start, isEscaped)
        else {
          if (textBytes <= SHORT_BYTES) text.forEach(keep)
          else {
            if (!text.every(isPlain)) return null
            const mark = Buffer.from(markOf(textBytes))
            keep({ chunk: mark, from: 0, to: mark.length })
            isShortened = true
          }
          text = null
        }
        from = to
        if (text === null) {
          keep({ chunk, from, to: from + 1 })
          from += 1
        }
      }
      if (keptBytes > MAX_REST) return null
    }
  }
  const rest = Buffer.concat(kept)
  if (!isWithin(rest, bounds)) return null
  try {
    const value: unknown = JSON.parse(rest.toString())
    return { value, isShortened }
  } catch {
    return null
  }
}
