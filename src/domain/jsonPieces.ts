/**
 * Serializes values to JSON in pieces, which can be made in different turns of the event loop: a
 * medium of many megabytes takes long to serialize. Equal values yield equal pieces.
 */

/** The number of characters up to which a value is one piece. */
const LARGE = 256 * 1024
/** The approximate number of characters of a piece. */
const PIECE = 1024 * 1024
/** The length above which the strings of a large value are serialized separately. */
const LONG = 512
/**
 * The placeholder of a string that is serialized separately; strings that contain this character
 * are serialized separately too.
 */
const MARK = "\uE000"
/** Matches a placeholder that is a value; a placeholder before a colon would be a field name. */
const marks = new RegExp(`"${MARK}(\\d+)"(?!:)`)

type Replace = (value: unknown) => unknown

/** The number of characters of all strings in a value. */
const textLength = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  let length = 0
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    length += textLength(inner)
  }
  return length
}

/**
 * Characters that JSON may escape. Base64 contains none of them, so it is used without encoding.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * A string as JSON without its quotes. Half a surrogate pair is escaped, so the string may be cut
 * anywhere.
 */
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
  // `split` yields the text between placeholders alternating with the numbers of the placeholders.
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

/** The JSON to send: one string for most values, otherwise an iterable of pieces. */
export const jsonPieces = (value: object): string | Iterable<string> =>
  textLength(value) <= LARGE ? JSON.stringify(value) : pieces(value, (inner) => inner)
