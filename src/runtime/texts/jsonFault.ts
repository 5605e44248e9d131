/** Finds where a text is not JSON. `JSON.parse` says so only for some faults. */

/** The position of a fault, and what JSON has there. Line and column count from 1. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly expected: string
}

const space = /[ \t\n\r]*/y
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escapeSequence = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

const QUOTE = '"'
const BACKSLASH = "\\"
const FIRST_PRINTABLE = " "

/** The end of a match that begins at `start`; null if there is none. */
const matchEnd = (pattern: RegExp, text: string, start: number): number | null => {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : null
}

/** A scanned token: its end, or the offset of its fault. */
type Scan = { readonly end: number } | { readonly fault: number; readonly expected: string }

const scanString = (text: string, start: number): Scan => {
  const fault = (offset: number): Scan => ({
    fault: offset,
    expected: "the rest of a string, whose line breaks and backslashes are escaped,"
  })
  let offset = start + 1
  while (offset < text.length) {
    const character = text.charAt(offset)
    if (character === QUOTE) return { end: offset + 1 }
    if (character < FIRST_PRINTABLE) return fault(offset)
    const end = character === BACKSLASH ? matchEnd(escapeSequence, text, offset) : offset + 1
    if (end === null) return fault(offset)
    offset = end
  }
  return fault(offset)
}

/** What comes next. The states that end in `OrEnd` also accept the end of their list. */
type State = "value" | "valueOrEnd" | "name" | "nameOrEnd" | "colon" | "commaOrEnd" | "done"

type Closer = "}" | "]"

const expectedAt = (state: State, closer: Closer | undefined): string => {
  switch (state) {
    case "value":
      return "a value"
    case "valueOrEnd":
      return "a value or ]"
    case "name":
      return "a field name in double quotes"
    case "nameOrEnd":
      return "a field name in double quotes or }"
    case "colon":
      return "a colon"
    case "commaOrEnd":
      return `a comma or ${closer}`
    case "done":
      return "the end"
  }
}

/** A scanner with one call for each token, in order. It stores the lists that are open. */
const makeScanner = (text: string) => {
  const closers: Array<Closer> = []
  let state: State = "value"

  const next = (nextState: State, end: number): Scan => {
    state = nextState
    return { end }
  }
  const afterValue = (): State => (closers.length === 0 ? "done" : "commaOrEnd")
  const open = (closer: Closer, nextState: State, offset: number): Scan => {
    closers.push(closer)
    return next(nextState, offset + 1)
  }
  const unexpected = (offset: number): Scan => ({
    fault: offset,
    expected: expectedAt(state, closers.at(-1))
  })

  const scanValue = (offset: number): Scan => {
    const character = text.charAt(offset)
    if (character === "{") return open("}", "nameOrEnd", offset)
    if (character === "[") return open("]", "valueOrEnd", offset)
    if (character === QUOTE) {
      const string = scanString(text, offset)
      return "end" in string ? next(afterValue(), string.end) : string
    }
    const end = matchEnd(literal, text, offset)
    return end === null ? unexpected(offset) : next(afterValue(), end)
  }

  const scanName = (offset: number): Scan => {
    if (text.charAt(offset) !== QUOTE) return unexpected(offset)
    const string = scanString(text, offset)
    return "end" in string ? next("colon", string.end) : string
  }

  const scanSeparator = (offset: number): Scan => {
    const [character, separator] = [text.charAt(offset), state === "colon" ? ":" : ","]
    if (state === "done" || character !== separator) return unexpected(offset)
    const isObject = closers.at(-1) === "}"
    return next(state === "commaOrEnd" && isObject ? "name" : "value", offset + 1)
  }

  const isClosing = (offset: number): boolean =>
    state.endsWith("OrEnd") && text.charAt(offset) === closers.at(-1)

  return {
    isDone: (): boolean => state === "done",
    scan: (offset: number): Scan => {
      if (isClosing(offset)) {
        closers.pop()
        return next(afterValue(), offset + 1)
      }
      if (state === "value" || state === "valueOrEnd") return scanValue(offset)
      return state === "name" || state === "nameOrEnd" ? scanName(offset) : scanSeparator(offset)
    }
  }
}

const positionOf = (text: string, offset: number) => {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1
  const lines = text.slice(0, lineStart).split("\n").length
  return { line: lines, column: offset - lineStart + 1 }
}

/** The first fault of a text; null where the text is JSON. The time is linear in its length. */
export const findJsonFault = (text: string): JsonFault | null => {
  const scanner = makeScanner(text)
  let offset = matchEnd(space, text, 0) ?? 0
  while (offset < text.length || !scanner.isDone()) {
    const scan = scanner.scan(offset)
    if ("fault" in scan) return { ...positionOf(text, scan.fault), expected: scan.expected }
    offset = matchEnd(space, text, scan.end) ?? scan.end
  }
  return null
}
