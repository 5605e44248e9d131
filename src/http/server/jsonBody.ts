/**
 * Parses JSON bodies of any size without blocking other requests. Large media are decoded
 * separately, a limited number of bytes in each turn of the event loop, and the rest of the body
 * (the outline) is small.
 */
import { randomUUID } from "node:crypto"
import { Effect, Semaphore } from "effect"
import { InvalidRequest } from "../../domain/Errors.ts"
import { findJsonFault } from "../../runtime/texts/jsonFault.ts"
import { cutMedia, type walkJson } from "../../runtime/texts/jsonWalk.ts"

/** The bytes of a body, and the result of a scan over them. */
export interface JsonBytes {
  /**
   * The bytes of the body. The array is emptied when the body is parsed, so that its bytes and its
   * parsed values are not both in memory.
   */
  readonly pieces: Array<Buffer>
  readonly walk: Pick<ReturnType<typeof walkJson>, "media" | "isOpen">
}

/**
 * The maximum number of bytes that are decoded in one turn of the event loop. Media of larger
 * bodies are decoded in several turns.
 */
const TURN_BYTES = 1024 * 1024
/**
 * The maximum size of a body whose handler does not yield to other requests between parsing and its
 * work.
 */
const SHORT_BYTES = 64 * 1024
/** The placeholder of a medium in the outline. It is random, so that no client can send it. */
const MARK = `medium ${randomUUID()} `
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const BACKSLASH = 0x5c

/**
 * Large bodies are decoded one at a time, as each is in memory more than once while it is decoded.
 */
const largeBodyPermit = Semaphore.makeUnsafe(1)

/** The error for invalid JSON, with the same message as the contract's own decoder. */
export const notJson = new InvalidRequest({ message: "Expected a valid JSON body" })

const parse = (
  text: string,
  faultOf: (text: string) => InvalidRequest = () => notJson
): Effect.Effect<unknown, InvalidRequest> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => faultOf(text) })

/** The error for a body that is not JSON, with the position of its first fault. */
export const notJsonAt = (text: string): InvalidRequest => {
  const fault = findJsonFault(text)
  if (fault === null) return notJson
  const { line, column, expected } = fault
  return new InvalidRequest({
    message: `${notJson.message}: ${expected} is expected at line ${line}, column ${column}`
  })
}

/** Characters that only the JSON parser can decode or refuse. Base64 contains none of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it matches
const specialCharacter = /[\\\u0000-\u001f]/

/** Decodes a part of the string of a medium, without its quotes. */
const decodeMedium = (bytes: Buffer): Effect.Effect<unknown, InvalidRequest> => {
  const text = bytes.toString("latin1")
  return specialCharacter.test(text) ? parse(`"${text}"`) : Effect.succeed(text)
}

/** The bytes of all pieces; a single piece is not copied. */
export const joinBuffers = (pieces: ReadonlyArray<Buffer>): Buffer => {
  const [first] = pieces
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
}

/** The text of a body, without the byte order mark that some clients send first. */
export const textOf = (pieces: ReadonlyArray<Buffer>): string => {
  const bytes = joinBuffers(pieces)
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte)
  return bytes.toString("utf8", isMarked ? BYTE_ORDER_MARK.length : 0)
}

/**
 * The last offset at which a string may be split. It must not lie between a backslash and the
 * character that the backslash escapes.
 */
const lastCutOffset = (bytes: Buffer): number => {
  let run = 0
  while (bytes[bytes.length - 1 - run] === BACKSLASH) run++
  return bytes.length - (run % 2)
}

/**
 * Replaces the placeholders in the parsed outline by their media. A reviver of `JSON.parse` would
 * take many times as long for a body of many numbers.
 */
const withMedia = (value: unknown, media: ReadonlyArray<unknown>): unknown => {
  if (typeof value === "string") {
    return value.startsWith(MARK) ? media[Number(value.slice(MARK.length))] : value
  }
  if (typeof value !== "object" || value === null) return value
  const fields: Iterable<readonly [PropertyKey, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value)
  for (const [name, inner] of fields) {
    const restoredValue = withMedia(inner, media)
    // A plain assignment could call a setter of the prototype.
    if (restoredValue !== inner) Object.defineProperty(value, name, { value: restoredValue })
  }
  return value
}

const parseLarge = Effect.fnUntraced(function* (body: JsonBytes) {
  const parts = cutMedia(body.pieces.splice(0), body.walk.media, (_, index) => `${MARK}${index}`)
  const outline = textOf(parts.outline)
  const media: Array<unknown> = []
  let turnBytes = 0
  for (const chunks of parts.media) {
    const decodedValues: Array<unknown> = []
    let pending: Array<Buffer> = []
    for (const chunk of chunks.splice(0)) {
      pending.push(chunk)
      turnBytes += chunk.length
      if (turnBytes < TURN_BYTES) continue
      const bytes = Buffer.concat(pending)
      const cutOffset = lastCutOffset(bytes)
      decodedValues.push(yield* decodeMedium(bytes.subarray(0, cutOffset)))
      pending = [bytes.subarray(cutOffset)]
      turnBytes = 0
      yield* Effect.yieldNow
    }
    decodedValues.push(yield* decodeMedium(Buffer.concat(pending)))
    media.push(decodedValues.length === 1 ? decodedValues[0] : decodedValues.join(""))
    if (decodedValues.length > 1) yield* Effect.yieldNow
  }
  return withMedia(yield* parse(outline), media)
})

/**
 * Parses the body; undefined when it is empty. A large unterminated body is refused without
 * parsing. Only the error of a body that is not large has the position of its fault.
 */
export const parseJson = (body: JsonBytes): Effect.Effect<unknown, InvalidRequest> => {
  const { pieces, walk } = body
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (bytes === 0) return Effect.succeed(undefined)
  const isLarge = bytes > TURN_BYTES
  if (isLarge && walk.isOpen()) return Effect.fail(notJson)
  const parseResult =
    isLarge && walk.media.length > 0
      ? largeBodyPermit.withPermit(parseLarge(body))
      : Effect.suspend(() => parse(textOf(pieces.splice(0)), isLarge ? undefined : notJsonAt))
  return bytes <= SHORT_BYTES ? parseResult : Effect.tap(parseResult, Effect.yieldNow)
}
