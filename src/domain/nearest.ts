/**
 * Finds the name that a client probably meant: one that lenient parsers treat as the same name, or
 * one with a similar spelling.
 */

/**
 * Normalizes a name to a key without case, diacritical marks, separators, invisible characters and
 * compatibility forms of letters. Some JSON parsers match fields in this way, so to them two names
 * with the same key are the same field.
 */
export const fieldKey = (name: string): string =>
  isPlain(name)
    ? name.toLowerCase().replace(/[^a-z0-9]+/g, "")
    : withoutMarks(withoutMarks(name).toUpperCase().toLowerCase()).replace(ignoredCharacters, "")
/**
 * Whether a name is printable ASCII. Most names are, and they take far less time than other names.
 */
export const isPlain = (name: string): boolean => /^[ -~]*$/.test(name)
const ignoredCharacters =
  /[!-/:-@[-`{-~\p{Default_Ignorable_Code_Point}\p{Z}\p{P}\p{Cc}\p{Cf}\p{Cs}]+/gu
const withoutMarks = (name: string): string => name.normalize("NFKD").replace(/\p{M}/gu, "")

/** Maps lower-case letters of other alphabets to the ASCII letters that they look like. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: "аαɑᴀӕ",
    b: "вβʙьƅ",
    c: "сᴄϲ",
    d: "ԁɗđðᴅ",
    e: "еєεɛᴇҽ",
    f: "ғƒꜰ",
    g: "ɡɢցԍ",
    h: "һнհħʜ",
    i: "іιɪɩ",
    j: "јյȷᴊ",
    k: "кκᴋқ",
    l: "ӏłʟǀɭ",
    m: "мϻᴍ",
    n: "пηոпɴπ",
    o: "оοσօøᴏө",
    p: "рρᴘþ",
    q: "ԛզɋ",
    r: "гɾʀᴦ",
    s: "ѕꜱʂ",
    t: "тτŧᴛ",
    u: "υսʊᴜц",
    v: "ѵνᴠ",
    w: "ԝωѡᴡш",
    x: "хχ×",
    y: "уүγʏ",
    z: "ᴢƶʐȥз",
    ae: "æ",
    oe: "œ"
  }).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const))
)

/**
 * Matches a word whose letters are all of one alphabet other than Latin, as in another language.
 */
const foreignWord =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{N}]+|[\p{Script=Cyrillic}\p{N}]+|[\p{Script=Greek}\p{N}]+|[\p{Script=Armenian}\p{N}]+|[\p{Script=Georgian}\p{N}]+|[\p{Script=Hebrew}\p{N}]+|[\p{Script=Arabic}\p{N}]+|[\p{Script=Devanagari}\p{N}]+|[\p{Script=Thai}\p{N}]+)$/u
/** The maximum number of ASCII letters that one character may look like, as ligatures do. */
const LETTERS_PER_CHARACTER = 2

/**
 * Splits a key into runs of ASCII letters and digits. `most` is the maximum number of letters that
 * the other characters before a run can look like.
 */
const nameParts = (key: string) =>
  [...key.matchAll(/([^a-z0-9]*)([a-z0-9]*)/g)].map(([, strange = "", letters = ""]) => ({
    most: [...strange].length * LETTERS_PER_CHARACTER,
    letters
  }))

/** Whether the parts from `index` on can match the letters from offset `from` on. */
const matchesParts = (
  letters: string,
  parts: ReturnType<typeof nameParts>,
  index = 0,
  from = 0
): boolean => {
  const part = parts[index]
  if (part === undefined) return from === letters.length
  for (let skip = 0; skip <= part.most && from + skip <= letters.length; skip++) {
    const start = from + skip
    if (!letters.startsWith(part.letters, start)) continue
    if (matchesParts(letters, parts, index + 1, start + part.letters.length)) return true
  }
  return false
}

/**
 * Makes a function that finds the value of the entry whose name a key resembles. No list covers
 * every letter that a reader may confuse with another, so a character beyond ASCII may stand for
 * any letters, except in a word whose letters are all of one other alphabet.
 */
export const resemblances = <A>(entries: Iterable<readonly [name: string, value: A]>) => {
  const byKey = new Map([...entries].map(([name, value]) => [fieldKey(name), value] as const))
  const longest = Math.max(0, ...[...byKey.keys()].map((key) => key.length))
  const find = (key: string): A | undefined => {
    const parts = nameParts(key)
    const least = parts.reduce((sum, { letters }) => sum + letters.length, 0)
    if (least > longest) return undefined
    const maxEditsLeft = parts.reduce((sum, part) => sum + part.most, least)
    for (const [other, value] of byKey) {
      if (other.length >= least && other.length <= maxEditsLeft && matchesParts(other, parts))
        return value
    }
    return undefined
  }
  return (key: string): A | undefined => {
    const match = byKey.get(key)
    if (match !== undefined || isPlain(key)) return match
    const alike = [...key].map((letter) => lookAlikes.get(letter) ?? letter).join("")
    const lookAlike = byKey.get(alike)
    if (lookAlike !== undefined || foreignWord.test(key)) return lookAlike
    return find(alike) ?? find(key)
  }
}

/** Makes a function that finds the name that a key resembles. */
export const similarNames = (names: Iterable<string>) =>
  resemblances([...names].map((name) => [name, name] as const))

/** The maximum length of names that are compared. */
const MAX_LENGTH = 100
/** The number of letters per allowed edit (replaced, missing, extra or swapped letter). */
const LETTERS_PER_EDIT = 3
const MAX_EDITS = 3
/** The maximum number of names of similar length that are compared; further names are ignored. */
const MAX_COMPARED = 500

/** Three rows of the edit distance table, used in rotation. */
interface EditRows {
  beforeLast: Uint8Array
  previous: Uint8Array
  current: Uint8Array
}

/**
 * The number of edits between the first `row` letters of one name and the first `column` letters of
 * the other.
 */
const editsAt = (
  left: string,
  right: string,
  { beforeLast, previous, current }: EditRows,
  row: number,
  column: number
): number => {
  const isSame = left[row - 1] === right[column - 1]
  const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
  return Math.min(
    (previous[column] ?? 0) + 1,
    (current[column - 1] ?? 0) + 1,
    (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
    isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
  )
}

/**
 * The edit distance of two names (Damerau-Levenshtein). `maxEdits + 1` stands for every greater
 * distance, so letters whose positions differ by more than `maxEdits` are not compared.
 */
const editsBetween = (left: string, right: string, maxEdits: number): number => {
  const tooMany = maxEdits + 1
  const width = right.length + 1
  const rows: EditRows = {
    beforeLast: new Uint8Array(width),
    previous: Uint8Array.from({ length: width }, (_, column) => Math.min(column, tooMany)),
    current: new Uint8Array(width)
  }
  for (let row = 1; row <= left.length; row++) {
    rows.current.fill(tooMany)
    let least = Math.min(row, tooMany)
    rows.current[0] = least
    const end = Math.min(right.length, row + maxEdits)
    for (let column = Math.max(1, row - maxEdits); column <= end; column++) {
      const edits = Math.min(tooMany, editsAt(left, right, rows, row, column))
      rows.current[column] = edits
      least = Math.min(least, edits)
    }
    if (least > maxEdits) return tooMany
    const { beforeLast, previous, current } = rows
    rows.beforeLast = previous
    rows.previous = current
    rows.current = beforeLast
  }
  return rows.previous[right.length] ?? tooMany
}

/** The name with the smallest edit distance, ignoring case; null if no name is close enough. */
export const nearestName = (
  misspelling: string,
  names: Iterable<string>,
  maxEdits = MAX_EDITS
): string | null => {
  if (misspelling.length > MAX_LENGTH) return null
  const word = misspelling.toLowerCase()
  let nearest: string | null = null
  let maxEditsLeft = Math.min(maxEdits, Math.floor(word.length / LETTERS_PER_EDIT))
  let compared = 0
  for (const name of names) {
    if (Math.abs(name.length - word.length) > maxEditsLeft) continue
    const edits = editsBetween(word, name.toLowerCase(), maxEditsLeft)
    if (edits <= maxEditsLeft) {
      nearest = name
      maxEditsLeft = edits - 1
    }
    if (maxEditsLeft < 0 || ++compared === MAX_COMPARED) break
  }
  return nearest
}
