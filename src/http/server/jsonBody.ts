/**
 * What a body of JSON says, whatever its size, without holding up other requests: large media are
 * decoded apart, some bytes at a turn of the event loop, and the rest of the body is small.
 */
import { randomUUID } from "node:crypto"
import { Effect, Semaphore } from "effect"
import { InvalidRequest } from "../../domain/Errors.ts"
import { cutMedia, type walkJson } from "../../runtime/texts/jsonWalk.ts"

/** The bytes of a body, and what a walk over them found. */
export interface JsonBytes {
  /** Emptied when they are decoded, so that they are in memory no longer than what they say. */
  readonly pieces: Array<Buffer>
  readonly walk: Pick<ReturnType<typeof walkJson>, "media" | "isOpen">
}

/** Smaller bodies are decoded at once, and of the media of larger ones this much at a turn. */
const TURN_BYTES = 1024 * 1024
/** Other requests come in between a longer body and the work on what it says. */
const SHORT_BYTES = 64 * 1024
/** What no client can have written: it stands for a medium in the rest of its body. */
const MARK = `medium ${randomUUID()} `
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const BACKSLASH = 0x5c

/** While it is decoded, a large body is in memory more than once. */
const oneAtATime = Semaphore.makeUnsafe(1)

const notJson = new InvalidRequest({ message: "Expected a valid JSON body" })

const parse = (text: string): Effect.Effect<unknown, InvalidRequest> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => notJson })

/** What JSON must look at in a text; base64 has none of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const special = /[\\\u0000-\u001f]/

/** What a part of a medium says, between the quotes. */
const mediumOf = (bytes: Buffer): Effect.Effect<unknown, InvalidRequest> => {
  const text = bytes.toString("latin1")
  return special.test(text) ? parse(`"${text}"`) : Effect.succeed(text)
}

/** The text of a body, without the byte order mark that some clients begin with. */
export const textOf = (pieces: ReadonlyArray<Buffer>): string => {
  const bytes = Buffer.concat(pieces)
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  return (isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes).toString()
}

/** Where the text may be cut: not behind a backslash that belongs to what follows. */
const lastBorder = (bytes: Buffer): number => {
  let run = 0
  while (bytes[bytes.length - 1 - run] === BACKSLASH) run++
  return bytes.length - (run % 2)
}

/**
 * What was parsed, with the media in the places of their marks. A reviver of `JSON.parse` would take
 * many times as long as this for a body of many numbers.
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
    const whole = withMedia(inner, media)
    // An assignment could reach a setter of the prototype.
    if (whole !== inner) Object.defineProperty(value, name, { value: whole })
  }
  return value
}

const parseLarge = Effect.fnUntraced(function* (body: JsonBytes) {
  const { kept, cut } = cutMedia(
    body.pieces.splice(0),
    body.walk.media,
    (_, index) => `${MARK}${index}`
  )
  const outline = textOf(kept)
  const media: Array<unknown> = []
  let taken = 0
  for (const pieces of cut) {
    const parts: Array<unknown> = []
    let waiting: Array<Buffer> = []
    for (const piece of pieces.splice(0)) {
      waiting.push(piece)
      taken += piece.length
      if (taken < TURN_BYTES) continue
      const bytes = Buffer.concat(waiting)
      const border = lastBorder(bytes)
      parts.push(yield* mediumOf(bytes.subarray(0, border)))
      waiting = [bytes.subarray(border)]
      taken = 0
      yield* Effect.yieldNow
    }
    parts.push(yield* mediumOf(Buffer.concat(waiting)))
    media.push(parts.length === 1 ? parts[0] : parts.join(""))
    if (parts.length > 1) yield* Effect.yieldNow
  }
  return withMedia(yield* parse(outline), media)
})

/**
 * What the body says; undefined where there is none. A body in which something has no end takes no
 * time to refuse, however long it is.
 */
export const parseJson = (body: JsonBytes): Effect.Effect<unknown, InvalidRequest> => {
  const { pieces, walk } = body
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (bytes === 0) return Effect.succeed(undefined)
  if (walk.isOpen()) return Effect.fail(notJson)
  const parsed =
    bytes <= TURN_BYTES || walk.media.length === 0
      ? Effect.suspend(() => parse(textOf(pieces.splice(0))))
      : oneAtATime.withPermit(parseLarge(body))
  return bytes <= SHORT_BYTES ? parsed : Effect.tap(parsed, Effect.yieldNow)
}
