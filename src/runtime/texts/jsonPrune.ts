/**
 * Removes the values of some fields from JSON as its bytes arrive, so that large parts of an
 * answer, such as vectors and log probabilities, need not be decoded.
 */
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

/** The replacement of a removed value. */
const NULL = Buffer.from("null")

/**
 * The length up to which a field name is collected from the chunks in which it arrives; further
 * chunks are ignored.
 */
const MAX_NAME = 64

/** Skips a string that arrives in chunks, starting after its opening quote. */
const makeStringSkipper = () => {
  /** Whether a backslash escapes the next byte. */
  let isEscaped = false
  return {
    /** The offset of the closing quote, or -1 if the string continues after these bytes. */
    end: (bytes: Buffer, from: number): number => {
      const start = isEscaped ? from + 1 : from
      let end = bytes.indexOf(QUOTE, start)
      while (end >= 0 && backslashesBefore(bytes, start, end) % 2 === 1) {
        end = bytes.indexOf(QUOTE, end + 1)
      }
      isEscaped =
        end < 0 && start <= bytes.length && backslashesBefore(bytes, start, bytes.length) % 2 === 1
      return end
    }
  }
}

/** Skips one value of any type that arrives in chunks. */
const makeValueSkipper = () => {
  const text = makeStringSkipper()
  let isInText = false
  let depth = 0
  let hasBegun = false

  /**
   * The offset of the end of the current array, or of the bytes, if only numbers come before it;
   * otherwise `from`.
   */
  const endOfNumbers = (bytes: Buffer, from: number): number => {
    const close = bytes.indexOf(CLOSE_ARRAY, from)
    const to = close < 0 ? bytes.length : close
    const numbers = bytes.subarray(from, to)
    const isFlat =
      !numbers.includes(QUOTE) && !numbers.includes(OPEN_ARRAY) && !numbers.includes(OPEN_OBJECT)
    return isFlat ? to : from
  }

  return {
    /**
     * The offset of the first byte after the value, or -1 if the value continues after these bytes.
     */
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over bytes, whose speed bounds large answers
    end: (bytes: Buffer, from: number): number => {
      let index = from
      while (index < bytes.length) {
        if (isInText) {
          const quote = text.end(bytes, index)
          if (quote < 0) return -1
          isInText = false
          index = quote + 1
          if (depth === 0) return index
          continue
        }
        const byte = bytes[index] ?? SPACE
        if (byte === QUOTE) {
          isInText = true
        } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
          depth++
          if (byte === OPEN_ARRAY) index = endOfNumbers(bytes, index + 1) - 1
        } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
          if (depth === 0) return index
          depth--
          if (depth === 0) return index + 1
        } else if (depth === 0 && hasBegun && (byte === COMMA || byte <= SPACE)) {
          return index
        }
        hasBegun ||= byte > SPACE
        index++
      }
      return -1
    }
  }
}

/**
 * Makes a pruner for the fields in `names`, which takes linear time. Bytes that are not JSON yield
 * a result that is not JSON either.
 */
export const pruneJson = (names: ReadonlySet<string>) => {
  const output: Array<Buffer> = []
  /** The open arrays and objects, from the outermost to the innermost: true for an object. */
  const open: Array<boolean> = []
  const text = makeStringSkipper()
  let isInText = false
  /** Whether the next string is the name of a field. */
  let isNameNext = false
  let name = ""
  let skipper: ReturnType<typeof makeValueSkipper> | null = null

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over bytes, whose speed bounds large answers
  const push = (bytes: Buffer): void => {
    let index = 0
    let outputFrom = 0
    while (index < bytes.length) {
      if (skipper !== null) {
        const end = skipper.end(bytes, index)
        if (end < 0) return
        skipper = null
        index = end
        outputFrom = end
        continue
      }
      if (isInText) {
        const quote = text.end(bytes, index)
        if (isNameNext && name.length < MAX_NAME) {
          name += bytes.toString("latin1", index, quote < 0 ? bytes.length : quote)
        }
        isInText = quote < 0
        index = quote < 0 ? bytes.length : quote + 1
        continue
      }
      switch (bytes[index++]) {
        case QUOTE:
          isInText = true
          if (isNameNext) name = ""
          break
        case OPEN_OBJECT:
          open.push(true)
          isNameNext = true
          break
        case OPEN_ARRAY:
          open.push(false)
          isNameNext = false
          break
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          open.pop()
          isNameNext = false
          break
        case COMMA:
          isNameNext = open.at(-1) === true
          break
        case COLON:
          isNameNext = false
          if (names.has(name)) {
            output.push(bytes.subarray(outputFrom, index), NULL)
            skipper = makeValueSkipper()
          }
          break
      }
    }
    if (skipper === null) output.push(bytes.subarray(outputFrom))
  }

  return {
    /** Reads the next bytes. */
    push,
    /** The bytes so far, with `null` for each removed value. */
    result: (): Buffer => Buffer.concat(output)
  }
}
