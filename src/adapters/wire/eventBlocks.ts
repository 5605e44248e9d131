/** Server-sent events as bytes, split at empty lines, so that they can be forwarded unchanged. */

/** Matches an empty line; lines may end with CR, LF or both. */
const emptyLine = /(?<=^|\n|\r(?!\n))(?:\r\n?|\n)/g
const byteOrderMark = /^\xef\xbb\xbf/

/**
 * The length above which an unfinished event is stored in parts, so that its beginning is not
 * searched again.
 */
const MAX_PENDING = 64 * 1024
/** The maximum number of trailing characters that can be part of an empty line. */
const TAIL = 4

/**
 * Splits a byte stream into events of at most `maxBytes` bytes. Bytes are read as Latin-1
 * characters, which preserves every byte.
 */
export const makeEventReader = (maxBytes: number) => {
  /**
   * The bytes after the last empty line: the beginning of a long event in parts, then `pending`.
   */
  let longEventParts: Array<string> = []
  let longEventLength = 0
  let pending = ""
  /**
   * True if the last bytes ended with the CR of an empty line: its LF may follow in the next chunk.
   */
  let isSplit = false
  const bytesOf = (text: string) => Buffer.from(text.replace(byteOrderMark, ""), "latin1")

  return {
    /**
     * The events that these bytes complete, each with its empty line; null if an event is too long.
     */
    push: (bytes: Uint8Array): ReadonlyArray<Buffer> | null => {
      const { buffer, byteOffset, byteLength } = bytes
      const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1")
      emptyLine.lastIndex = pending.length
      pending += isSplit && text.startsWith("\n") ? text.slice(1) : text
      const events: Array<Buffer> = []
      let eventStart = 0
      while (emptyLine.test(pending)) {
        events.push(
          bytesOf([...longEventParts, pending.slice(eventStart, emptyLine.lastIndex)].join(""))
        )
        longEventParts = []
        longEventLength = 0
        eventStart = emptyLine.lastIndex
      }
      isSplit = eventStart === pending.length && pending.endsWith("\r")
      pending = pending.slice(eventStart)
      if (pending.length > MAX_PENDING) {
        longEventParts.push(pending.slice(0, -TAIL))
        longEventLength += pending.length - TAIL
        pending = pending.slice(-TAIL)
      }
      const isTooLong = events.some(({ length }) => length > maxBytes)
      return isTooLong || longEventLength + pending.length > maxBytes ? null : events
    },
    /** The number of bytes of an incomplete event. */
    pendingBytes: (): number => longEventLength + pending.length,
    /** The bytes after the last empty line, as a separate event. */
    remainder: (): ReadonlyArray<Buffer> => {
      const lastPart = [...longEventParts, pending].join("")
      return lastPart === "" ? [] : [bytesOf(`${lastPart}\n\n`)]
    }
  }
}

const fieldStart = /^(?:data|event|id|retry)?:/

/** Whether a text begins like an event stream, regardless of the content type. */
export const startsEvents = (text: string): boolean => fieldStart.test(text.trimStart())

const isData = (line: string): boolean => line === "data" || line.startsWith("data:")

const plainName = /^event: ?[\w.-]{1,64}$/
/** Matches an event of a single data line, the usual form. */
const singleDataLine = /^(data: ?)([^\r\n]*)[\r\n]+$/

interface EventContent {
  /** The data of the event; null for comments and other events without data. */
  readonly data: Buffer | null
  /** Whether the event has only data lines: no name, no comment. */
  readonly isDataOnly: boolean
  /** Whether the event has only data lines and a plain name. */
  readonly isPlain: boolean
}

export const readEvent = (event: Buffer): EventContent => {
  const text = event.toString("latin1")
  const [, field, value] = singleDataLine.exec(text) ?? []
  if (field !== undefined && value !== undefined) {
    const data = event.subarray(field.length, field.length + value.length)
    return { data, isDataOnly: true, isPlain: true }
  }
  const lines = text.split(/[\r\n]+/).filter((line) => line !== "")
  const data = lines.filter(isData).map((line) => line.slice(5).replace(/^ /, ""))
  const names = lines.filter((line) => plainName.test(line))
  return {
    data: data.length === 0 ? null : Buffer.from(data.join("\n"), "latin1"),
    isDataOnly: data.length === lines.length,
    isPlain: data.length + names.length === lines.length
  }
}

/** Whether the data of an event marks the end of a stream. */
export const isDone = (data: Buffer): boolean => data.toString().trim() === "[DONE]"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Encodes an event with one line of data. */
export const eventOf = (data: string): Uint8Array => utf8(`data: ${data}\n\n`)

/** A heartbeat comment that keeps the connection open; it contains no text of the vendor's. */
export const heartbeat = utf8(":\n\n")
