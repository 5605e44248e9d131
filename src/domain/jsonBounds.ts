/** How deep JSON is nested and how many values it has, told from its bytes before it is parsed. */

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Texts up to this length are cheaper to walk over than to search. */
const SHORT = 64

export interface JsonBounds {
  /** Most arrays and objects that lie within each other. */
  readonly levels: number
  /** Most values, those in arrays and objects and these themselves. */
  readonly values: number
}

const nextQuote = (bytes: Buffer, from: number): number => {
  for (let index = from; index < from + SHORT; index++) {
    if (bytes[index] === QUOTE) return index
  }
  return bytes.indexOf(QUOTE, from + SHORT)
}

/** Where the text whose opening quote stands before `from` ends; the end of the bytes if nowhere. */
const endOfText = (bytes: Buffer, from: number): number => {
  let end = nextQuote(bytes, from)
  while (end >= 0) {
    let backslashes = 0
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
    end = nextQuote(bytes, end + 1)
  }
  return bytes.length
}

/** Bytes that are no JSON are answered for too, one way or the other. Long texts cost next to nothing. */
export const isWithin = (bytes: Buffer, { levels, values }: JsonBounds): boolean => {
  let depth = 0
  let count = 1
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case QUOTE:
        index = endOfText(bytes, index + 1)
        break
      case 0x2c: // ,
        count++
        if (count > values) return false
        break
      case 0x5b: // [
      case 0x7b: // {
        depth++
        count++
        if (depth > levels || count > values) return false
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
    }
  }
  return true
}
