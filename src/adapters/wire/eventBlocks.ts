/** Server-sent events as bytes: cut at empty lines, so that they can be handed on as they came. */

/** Lines end with CR, LF or both. */
const emptyLine = /(?<=^|\n|\r(?!\n))(?:\r\n?|\n)/g
const byteOrderMark = /^\xef\xbb\xbf/

/** What came of a long event is set aside beyond this, so that it is not looked at again. */
const MAX_PENDING = 64 * 1024
/** The characters that tell whether a line is empty. */
const TAIL = 4

/**
 * Reads bytes as characters of one byte each, so that nothing of them changes. Events are at most
 * `maxBytes` long.
 */
export const makeEventReader = (maxBytes: number) => {
  /** What came after the last empty line: its beginning, where it is long, and the rest. */
  let held: Array<string> = []
  let heldLength = 0
  let pending = ""
  /** Whether an event was cut at a CR that was all there was: its LF may come yet. */
  let isSplit = false
  const bytesOf = (text: string) => Buffer.from(text.replace(byteOrderMark, ""), "latin1")

  return {
    /** The events that are whole with these bytes, each with its empty line; null when one is too long. */
    push: (bytes: Uint8Array): ReadonlyArray<Uint8Array> | null => {
      const { buffer, byteOffset, byteLength } = bytes
      const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1")
      emptyLine.lastIndex = pending.length
      pending += isSplit && text.startsWith("\n") ? text.slice(1) : text
      const events: Array<Uint8Array> = []
      let begun = 0
      while (emptyLine.test(pending)) {
        events.push(bytesOf([...held, pending.slice(begun, emptyLine.lastIndex)].join("")))
        held = []
        heldLength = 0
        begun = emptyLine.lastIndex
      }
      isSplit = begun === pending.length && pending.endsWith("\r")
      pending = pending.slice(begun)
      if (pending.length > MAX_PENDING) {
        held.push(pending.slice(0, -TAIL))
        heldLength += pending.length - TAIL
        pending = pending.slice(-TAIL)
      }
      const isTooLong = events.some(({ length }) => length > maxBytes)
      return isTooLong || heldLength + pending.length > maxBytes ? null : events
    },
    /** Bytes of an event that is not whole yet. */
    pendingBytes: (): number => heldLength + pending.length,
    /** What came after the last empty line, as if one followed. */
    rest: (): ReadonlyArray<Uint8Array> => {
      const last = [...held, pending].join("")
      return last === "" ? [] : [bytesOf(`${last}\n\n`)]
    }
  }
}

const fieldStart = /^(?:data|event|id|retry)?:/

/** True for bytes that are the beginning of an event stream, whatever they are said to be. */
export const startsEvents = (text: string): boolean => fieldStart.test(text.trimStart())

const isData = (line: string): boolean => line === "data" || line.startsWith("data:")

const plainName = /^event: ?[\w.-]{1,64}$/

export const readEvent = (event: Uint8Array) => {
  const lines = new TextDecoder()
    .decode(event)
    .split(/[\r\n]+/)
    .filter((line) => line !== "")
  const data = lines.filter(isData).map((line) => line.slice(5).replace(/^ /, ""))
  const names = lines.filter((line) => plainName.test(line))
  return {
    /** Null for comments and the like, which have none. */
    data: data.length === 0 ? null : data.join("\n"),
    /** Whether it says nothing but its data: no name, no comment. */
    isDataAlone: data.length === lines.length,
    /** Whether there is nothing beside its data but a plain name. */
    isPlain: data.length + names.length === lines.length
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** An event of one line of data. */
export const eventOf = (data: string): Uint8Array => utf8(`data: ${data}\n\n`)

/** What a vendor sends to keep the connection open, without what it says beside. */
export const heartbeat = utf8(":\n\n")
