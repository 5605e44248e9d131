/** Server-sent events as bytes: cut at blank lines, so that they can be handed on as they came. */

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from("\uFEFF")

/** Longer events are not events. */
export const MAX_EVENT_BYTES = 1024 * 1024

export interface EventReader {
  /** The events that are whole with these bytes, each with its blank line; null when one is too long. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> | null
  /** What came after the last blank line. */
  rest(): Uint8Array
}

/** Lines end with CR, LF or both, also where one chunk ends between the two. */
export const makeEventReader = (maxBytes = MAX_EVENT_BYTES): EventReader => {
  let pending: Buffer = Buffer.alloc(0)
  let isStart = true
  let scanned = 0
  let lineStart = 0
  /** A line feed at this place belongs to the carriage return before it. */
  let pairedAt = -1

  /** False while too little has come to tell. */
  const skipMark = (): boolean => {
    if (!isStart) return true
    const head = pending.subarray(0, BYTE_ORDER_MARK.length)
    if (head.equals(BYTE_ORDER_MARK)) pending = pending.subarray(BYTE_ORDER_MARK.length)
    else if (head.equals(BYTE_ORDER_MARK.subarray(0, head.length))) return false
    isStart = false
    return true
  }

  return {
    push: (bytes) => {
      pending = Buffer.concat([pending, bytes])
      if (!skipMark()) return []
      const events: Array<Uint8Array> = []
      let begun = 0
      for (; scanned < pending.length; scanned++) {
        const byte = pending[scanned]
        if (byte === LINE_FEED && scanned === pairedAt) {
          // An event that was cut before it goes out without it; the next one begins with it.
          lineStart = scanned + 1
          continue
        }
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue
        const isBlank = scanned === lineStart
        if (byte === CARRIAGE_RETURN && pending[scanned + 1] === LINE_FEED) scanned++
        else if (byte === CARRIAGE_RETURN) pairedAt = scanned + 1
        lineStart = scanned + 1
        if (isBlank) {
          events.push(pending.subarray(begun, lineStart))
          begun = lineStart
        }
      }
      pending = pending.subarray(begun)
      scanned -= begun
      lineStart -= begun
      pairedAt -= begun
      return pending.length > maxBytes || events.some((event) => event.length > maxBytes)
        ? null
        : events
    },
    rest: () => pending
  }
}

const fieldStart = /^(?:data|event|id|retry)?:/

/** True for bytes that are the beginning of an event stream, whatever they are said to be. */
export const startsEvents = (text: string): boolean => fieldStart.test(text.trimStart())

const linesOf = (event: Uint8Array): ReadonlyArray<string> =>
  new TextDecoder().decode(event).split(/\r\n|\r|\n/)

const isData = (line: string): boolean => line === "data" || line.startsWith("data:")

/** The data of an event; null for comments and the like, which have none. */
export const dataOf = (event: Uint8Array): string | null => {
  const data = linesOf(event).filter(isData)
  return data.length === 0 ? null : data.map((line) => line.slice(5).replace(/^ /, "")).join("\n")
}

/** True for an event that says nothing but its data: no name, no comment. */
export const isDataAlone = (event: Uint8Array): boolean =>
  linesOf(event).every((line) => line === "" || isData(line))

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** An event of one line of data. */
export const eventOf = (data: string): Uint8Array => utf8(`data: ${data}\n\n`)

/** What a vendor sends to keep the connection open, without what it says beside. */
export const heartbeat = utf8(":\n\n")

/** The same event with other data, of one line. */
export const withData = (event: Uint8Array, data: string): Uint8Array => {
  const others = linesOf(event).filter((line) => line !== "" && !isData(line))
  return utf8(`${[...others, `data: ${data}`].join("\n")}\n\n`)
}
