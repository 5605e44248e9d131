/**
 * What JSON is made of, told from its bytes as they come, before anything is made of them: how deep
 * it is nested, how many values it has, and where its large media are.
 */
import { isAscii } from "node:buffer"

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
/** Spaces and control characters: nothing of them tells values apart. */
const SPACE = 0x20

/** Texts up to this length are cheaper to walk over than to search. */
const SHORT = 64
/** Shorter texts are no large media, in bytes as they are written, where nothing else is said. */
const LARGE_BYTES = 1024
/** How characters begin that a text of media does not have. */
const UTF16_ESCAPE = "\\u"
const UTF16_LETTER = 0x75

export interface JsonBounds {
  /** Arrays and objects within each other. */
  readonly levels: number
  /** Values of every kind, each array and object among them. */
  readonly values: number
  /** Numbers in arrays beyond which such numbers count among the values. */
  readonly arrayNumbers: number
  /** All bytes but those of large media; the names of fields are among them. */
  readonly otherBytes: number
}

/** The bound that is passed. */
export type Passed = keyof Omit<JsonBounds, "arrayNumbers">

/**
 * A large text that may be a medium, such as an image in base64: of ASCII alone, and without escapes
 * of other characters. Offsets are from the start of the body, without its quotes.
 */
interface LargeMedium {
  readonly from: number
  readonly to: number
}

const nextQuote = (bytes: Buffer, from: number): number => {
  const near = Math.min(from + SHORT, bytes.length)
  for (let index = from; index < near; index++) {
    if (bytes[index] === QUOTE) return index
  }
  return bytes.indexOf(QUOTE, near)
}

/** Backslashes that stand before `end` without anything between them, back to `from`. */
const backslashesBefore = (bytes: Buffer, from: number, end: number): number => {
  let start = end
  while (start > from && bytes[start - 1] === BACKSLASH) start--
  return end - start
}

/**
 * Texts of more than `largeBytes` may be media. Bytes that are no JSON are answered for too, one way or
 * the other. The time is linear, and long
 * texts cost next to nothing.
 */
export const walkJson = (bounds: JsonBounds, largeBytes = LARGE_BYTES) => {
  const media: Array<LargeMedium> = []
  /** Bytes of the pieces before. */
  let before = 0
  let depth = 0
  let values = 0
  let numbers = 0
  let mediaBytes = 0
  /** Where the text that is open begins; null between texts. */
  let textFrom: number | null = null
  /** Whether the next byte of an open text has a backslash before it that makes it a character. */
  let isEscaped = false
  /** Whether a value comes next, or the name of one, which is counted in its place. */
  let isNext = true
  /** Whether the text that is open may be a medium. */
  let maybeMedium = false
  /** Whether the last text is a large medium. */
  let wasMedium = false

  /** Looks at the next bytes of the open text, the first of which may be escaped. */
  const lookAt = (text: Buffer): void => {
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

  /** Where the text ends that is open at `from`; the end of the bytes where it goes on. */
  const endOfText = (bytes: Buffer, from: number): number => {
    const start = isEscaped ? from + 1 : from
    let end = nextQuote(bytes, start)
    while (end >= 0 && backslashesBefore(bytes, start, end) % 2 === 1) {
      end = nextQuote(bytes, end + 1)
    }
    const isOpen = end < 0
    if (isOpen) end = bytes.length
    const isWhole = !isOpen && textFrom === before + from
    if (!isWhole || end - from > largeBytes) lookAt(bytes.subarray(from, end))
    isEscaped = isOpen && backslashesBefore(bytes, start, end) % 2 === 1
    return end
  }

  /** Numbers in arrays are free up to their bound. */
  const countValue = (byte: number): void => {
    const isNumber = byte === MINUS || (byte >= ZERO && byte <= NINE)
    if (isNumber) numbers++
    if (!isNumber || numbers > bounds.arrayNumbers) values++
  }

  /** Looks at a byte that is no space and in no text; that of a text is its quote. */
  const see = (byte: number): Passed | null => {
    const isEnd = byte === CLOSE_ARRAY || byte === CLOSE_OBJECT
    if (isNext && !isEnd) countValue(byte)
    isNext = byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT
    if (isEnd) depth--
    else if (isNext && byte !== COMMA) depth++
    else if (byte === COLON && wasMedium) {
      // The name of a field is no medium, however long it is.
      const { from, to } = media.pop() ?? { from: 0, to: 0 }
      mediaBytes -= to - from
    }
    wasMedium = false
    if (depth > bounds.levels) return "levels"
    return values > bounds.values ? "values" : null
  }

  const push = (bytes: Buffer): Passed | null => {
    let index = 0
    while (index < bytes.length) {
      if (textFrom !== null) {
        index = endOfText(bytes, index)
        if (index < bytes.length) endText(textFrom, before + index)
      } else {
        const byte = bytes[index] ?? SPACE
        const passed = byte > SPACE ? see(byte) : null
        if (passed !== null) return passed
        if (byte === QUOTE) {
          textFrom = before + index + 1
          maybeMedium = true
        }
      }
      index++
    }
    before += bytes.length
    const open = textFrom !== null && maybeMedium ? before - textFrom : 0
    const otherBytes = before - mediaBytes - (open > largeBytes ? open : 0)
    return otherBytes > bounds.otherBytes ? "otherBytes" : null
  }

  return {
    /** Goes on with the next bytes; what is passed of the bounds, or null. */
    push,
    /** In their order, as far as the bytes go. */
    media,
    /** Whether a text, an array or an object has no end yet: such bytes are no JSON. */
    isOpen: () => textFrom !== null || depth !== 0
  }
}

/** Whether a whole body is within the bounds. */
export const isWithin = (bytes: Buffer, bounds: JsonBounds): boolean =>
  walkJson(bounds).push(bytes) === null

/** The pieces of a body with a mark for each medium, and the bytes of those apart. */
export const cutMedia = (
  pieces: ReadonlyArray<Buffer>,
  media: ReadonlyArray<LargeMedium>,
  markOf: (medium: LargeMedium, index: number) => string
) => {
  const kept: Array<Buffer> = []
  const cut = media.map((): Array<Buffer> => [])
  let index = 0
  let start = 0
  for (const piece of pieces) {
    const end = start + piece.length
    let at = start
    while (at < end) {
      const { from, to } = media[index] ?? { from: end, to: end }
      const next = Math.min(end, at < from ? from : to)
      const part = piece.subarray(at - start, next - start)
      if (at < from) kept.push(part)
      else {
        cut[index]?.push(part)
        if (next === to) kept.push(Buffer.from(markOf({ from, to }, index++)))
      }
      at = next
    }
    start = end
  }
  return { kept, cut }
}
