/**
 * Scans JSON as its bytes arrive, before it is parsed: the depth of nesting, the number of values,
 * and the positions of large media.
 */
import { isAscii } from "node:buffer"
import {
  backslashesBefore,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE
} from "./jsonBytes.ts"

const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** The maximum length of a string that is cheaper to scan byte by byte than by `indexOf`. */
const SHORT = 64
/** The default size in bytes above which a string may be a large medium. */
const LARGE_BYTES = 1024
/** A unicode escape, which a medium does not have. */
const UTF16_ESCAPE = "\\u"
const UTF16_LETTER = 0x75

export interface JsonBounds {
  /** The maximum depth of nested arrays and objects. */
  readonly levels: number
  /** The maximum number of values of every kind, including arrays and objects. */
  readonly values: number
  /**
   * The number of array items that are numbers and do not count as values; further numbers count.
   */
  readonly arrayNumbers: number
  /** The maximum number of bytes outside large media; field names are included. */
  readonly otherBytes: number
}

/** The limit that was exceeded. */
export type ExceededLimit = keyof Omit<JsonBounds, "arrayNumbers">

/**
 * A large string that may be a medium, such as an image in base64: only ASCII, without unicode
 * escapes. Offsets count from the start of the body and exclude the quotes.
 */
interface LargeMedium {
  readonly from: number
  readonly to: number
}

const nextQuote = (bytes: Buffer, from: number): number => {
  const searchEnd = Math.min(from + SHORT, bytes.length)
  for (let index = from; index < searchEnd; index++) {
    if (bytes[index] === QUOTE) return index
  }
  return bytes.indexOf(QUOTE, searchEnd)
}

/**
 * Makes a scanner. Strings of more than `largeBytes` may be media. Bytes that are not JSON yield an
 * arbitrary result. The time is linear, and long strings cost almost nothing.
 */
export const walkJson = (bounds: JsonBounds, largeBytes = LARGE_BYTES) => {
  const media: Array<LargeMedium> = []
  /** Offset of the current chunk in the body. */
  let chunkOffset = 0
  let depth = 0
  let values = 0
  let numbers = 0
  let mediaBytes = 0
  /** Offset of the open string; null between strings. */
  let textFrom: number | null = null
  /** Whether a backslash escapes the next byte of the open string. */
  let isEscaped = false
  /** Whether a value or a field name comes next. A field name is counted in place of its value. */
  let isValueNext = true
  /** Whether the open string may be a medium. */
  let maybeMedium = false
  /** Whether the last string is a large medium. */
  let wasMedium = false

  /** Checks the next bytes of the open string, the first of which may be escaped. */
  const checkMedium = (text: Buffer): void => {
    maybeMedium &&=
      isAscii(text) && !text.includes(UTF16_ESCAPE) && !(isEscaped && text[0] === UTF16_LETTER)
  }

  const endText = (from: number, to: number): void => {
    textFrom = null
    wasMedium = maybeMedium && to - from > largeBytes
    if (!wasMedium) return
    media.push({ from, to })
    mediaBytes += to - from
  }

  /**
   * The offset of the end of the string that is open at `from`; the end of the bytes if the string
   * continues.
   */
  const endOfText = (bytes: Buffer, from: number): number => {
    const start = isEscaped ? from + 1 : from
    let end = nextQuote(bytes, start)
    while (end >= 0 && backslashesBefore(bytes, start, end) % 2 === 1) {
      end = nextQuote(bytes, end + 1)
    }
    const isOpen = end < 0
    if (isOpen) end = bytes.length
    const isWhole = !isOpen && textFrom === chunkOffset + from
    if (!isWhole || end - from > largeBytes) checkMedium(bytes.subarray(from, end))
    isEscaped = isOpen && backslashesBefore(bytes, start, end) % 2 === 1
    return end
  }

  /** Counts a value; the first `arrayNumbers` numbers do not count. */
  const countValue = (byte: number): void => {
    const isNumber = byte === MINUS || (byte >= ZERO && byte <= NINE)
    if (isNumber) numbers++
    if (!isNumber || numbers > bounds.arrayNumbers) values++
  }

  /**
   * Handles a structural byte, outside strings and whitespace; a string is represented by its
   * opening quote.
   */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: called for each byte outside strings, so calls within it cost time
  const visit = (byte: number): ExceededLimit | null => {
    const isEnd = byte === CLOSE_ARRAY || byte === CLOSE_OBJECT
    if (isValueNext && !isEnd) countValue(byte)
    isValueNext = byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT
    if (isEnd) depth--
    else if (isValueNext && byte !== COMMA) depth++
    else if (byte === COLON && wasMedium) {
      // A string before a colon is a field name, so it is removed from the media even if it is long.
      const { from, to } = media.pop() ?? { from: 0, to: 0 }
      mediaBytes -= to - from
    }
    wasMedium = false
    if (depth > bounds.levels) return "levels"
    return values > bounds.values ? "values" : null
  }

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over bytes, whose speed bounds large bodies
  const push = (bytes: Buffer): ExceededLimit | null => {
    let index = 0
    while (index < bytes.length) {
      if (textFrom !== null) {
        index = endOfText(bytes, index)
        if (index < bytes.length) endText(textFrom, chunkOffset + index)
      } else {
        const byte = bytes[index] ?? SPACE
        const violation = byte > SPACE ? visit(byte) : null
        if (violation !== null) return violation
        if (byte === QUOTE) {
          textFrom = chunkOffset + index + 1
          maybeMedium = true
        }
      }
      index++
    }
    chunkOffset += bytes.length
    const openBytes = textFrom !== null && maybeMedium ? chunkOffset - textFrom : 0
    const otherBytes = chunkOffset - mediaBytes - (openBytes > largeBytes ? openBytes : 0)
    return otherBytes > bounds.otherBytes ? "otherBytes" : null
  }

  return {
    /** Scans the next bytes; returns the limit that they exceed, or null. */
    push,
    /** The large media so far, in order. */
    media,
    /** Whether a string, an array or an object is unterminated: such bytes are not JSON. */
    isOpen: () => textFrom !== null || depth !== 0
  }
}

/** Whether a whole body is within the bounds. */
export const isWithin = (bytes: Buffer, bounds: JsonBounds): boolean =>
  walkJson(bounds).push(bytes) === null

/** Splits a body into its outline, with a mark for each medium, and the bytes of each medium. */
export const cutMedia = (
  pieces: ReadonlyArray<Buffer>,
  media: ReadonlyArray<LargeMedium>,
  markOf: (medium: LargeMedium, index: number) => string
) => {
  const outline: Array<Buffer> = []
  const mediaBytes = media.map((): Array<Buffer> => [])
  let index = 0
  let start = 0
  for (const piece of pieces) {
    const end = start + piece.length
    let at = start
    while (at < end) {
      const { from, to } = media[index] ?? { from: end, to: end }
      const next = Math.min(end, at < from ? from : to)
      const part = piece.subarray(at - start, next - start)
      if (at < from) outline.push(part)
      else {
        mediaBytes[index]?.push(part)
        if (next === to) outline.push(Buffer.from(markOf({ from, to }, index++)))
      }
      at = next
    }
    start = end
  }
  return { outline, media: mediaBytes }
}
