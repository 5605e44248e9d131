/**
 * Values as JSON, in pieces that can be made at different turns of the event loop: a medium of many
 * megabytes takes long to write at once. The pieces are the same for the same value.
 */

/** Values with less text are one piece. */
const LARGE = 256 * 1024
/** Characters of a piece, roughly. */
const PIECE = 1024 * 1024
/** In a large value, longer texts than this are written apart from the others. */
const LONG = 512
/** Stands for a text that is written apart; other texts with this character are written apart too. */
const MARK = "\uE000"
/** The mark of a value: what is followed by a colon is the name of a field. */
const marks = new RegExp(`"${MARK}(\\d+)"(?!:)`)

type Replace = (value: unknown) => unknown

/** Characters of all texts in a value. */
const textLength = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  let length = 0
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    length += textLength(inner)
  }
  return length
}

/** What JSON may write in another way; base64 has none of it, and is not copied. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** The text as JSON, without its quotes. Half a surrogate pair is escaped, so any cut is good. */
function* textPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += PIECE) {
    const piece = text.slice(from, from + PIECE)
    yield special.test(piece) ? JSON.stringify(piece).slice(1, -1) : piece
  }
}

function* parts(value: unknown, replace: Replace): Generator<string> {
  const texts: Array<string> = []
  const outline = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "string" && (inner.length > LONG || inner.includes(MARK))
      ? `${MARK}${texts.push(inner) - 1}`
      : replace(inner)
  )
  // What is between marks alternates with the numbers of the marks.
  for (const [index, part] of outline.split(marks).entries()) {
    if (index % 2 === 0) yield part
    else {
      yield '"'
      yield* textPieces(texts[Number(part)] ?? "")
      yield '"'
    }
  }
}

function* pieces(value: unknown, replace: Replace): Generator<string> {
  if (textLength(value) <= LARGE) {
    yield JSON.stringify(value, (_, inner: unknown) => replace(inner))
    return
  }
  let piece = ""
  for (const part of parts(value, replace)) {
    piece += part
    if (piece.length < PIECE) continue
    yield piece
    piece = ""
  }
  if (piece !== "") yield piece
}

const sortFields = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value

/** JSON that does not depend on the order of an object's fields. */
export const canonicalPieces = (value: unknown): Iterable<string> => pieces(value, sortFields)

/** JSON as it is sent: of most values one text, else its pieces. */
export const jsonPieces = (value: object): string | Iterable<string> =>
  textLength(value) <= LARGE ? JSON.stringify(value) : pieces(value, (inner) => inner)
