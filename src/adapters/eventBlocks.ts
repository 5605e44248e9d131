/** Server-sent events as bytes: cut at blank lines, so that they can be handed on as they came. */

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Longer events are not events. */
export const MAX_EVENT_BYTES = 1024 * 1024

export interface EventReader {
  /** The events that are whole with these bytes, each with its blank line; null when one is too long. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> | null
  /** What came after the last blank line. */
  rest(): Uint8Array
}

export const makeEventReader = (maxBytes = MAX_EVENT_BYTES): EventReader => {
  let pending: Buffer = Buffer.alloc(0)
  let scanned = 0
  let lineStart = 0

  const isBlank = (end: number): boolean =>
    end === lineStart || (end === lineStart + 1 && pending[lineStart] === CARRIAGE_RETURN)

  return {
    push: (bytes) => {
      pending = Buffer.concat([pending, bytes])
      const events: Array<Uint8Array> = []
      let begun = 0
      for (; scanned < pending.length; scanned++) {
        if (pending[scanned] !== LINE_FEED) continue
        if (isBlank(scanned)) {
          events.push(pending.subarray(begun, scanned + 1))
          begun = scanned + 1
        }
        lineStart = scanned + 1
      }
      pending = pending.subarray(begun)
      scanned -= begun
      lineStart -= begun
      return pending.length > maxBytes || events.some((event) => event.length > maxBytes)
        ? null
        : events
    },
    rest: () => pending
  }
}

const linesOf = (event: Uint8Array): ReadonlyArray<string> =>
  new TextDecoder().decode(event).split(/\r?\n/)

const isData = (line: string): boolean => line === "data" || line.startsWith("data:")

/** The data of an event; null for comments and the like, which have none. */
export const dataOf = (event: Uint8Array): string | null => {
  const data = linesOf(event).filter(isData)
  return data.length === 0 ? null : data.map((line) => line.slice(5).replace(/^ /, "")).join("\n")
}

/** The same event with other data, of one line. */
export const withData = (event: Uint8Array, data: string): Uint8Array => {
  const others = linesOf(event).filter((line) => line !== "" && !isData(line))
  return new TextEncoder().encode(`${[...others, `data: ${data}`].join("\n")}\n\n`)
}
