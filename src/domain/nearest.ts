/** Names that were meant by others: by how lenient readers see them, and by their letters. */

/**
 * A name without case, marks, separators, invisible characters and compatible forms of letters. Some
 * readers find the fields of JSON this way, so two names with the same key are one field to them.
 */
export const fieldKey = (name: string): string =>
  isPlain(name)
    ? name.toLowerCase().replace(/[^a-z0-9]+/g, "")
    : withoutMarks(withoutMarks(name).toUpperCase().toLowerCase()).replace(ignoredCharacters, "")
/** True for most names, which take far less time than others. */
export const isPlain = (name: string): boolean => /^[ -~]*$/.test(name)
const ignoredCharacters =
  /[!-/:-@[-`{-~\p{Default_Ignorable_Code_Point}\p{Z}\p{P}\p{Cc}\p{Cf}\p{Cs}]+/gu
const withoutMarks = (name: string): string => name.normalize("NFKD").replace(/\p{M}/gu, "")

/** Letters of other alphabets, in lower case, by the letters of ASCII that they look like. */
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

/** Words of another language, whose letters are all of one alphabet. */
const foreignWord =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{N}]+|[\p{Script=Cyrillic}\p{N}]+|[\p{Script=Greek}\p{N}]+|[\p{Script=Armenian}\p{N}]+|[\p{Script=Georgian}\p{N}]+|[\p{Script=Hebrew}\p{N}]+|[\p{Script=Arabic}\p{N}]+|[\p{Script=Devanagari}\p{N}]+|[\p{Script=Thai}\p{N}]+)$/u
/** A letter may look like two, as some do that were printed as one. */
const LETTERS_PER_CHARACTER = 2

/** What stands between letters that nobody knows, and how many letters these may be. */
const knownParts = (key: string) =>
  [...key.matchAll(/([^a-z0-9]*)([a-z0-9]*)/g)].map(([, unknown = "", known = ""]) => ({
    most: [...unknown].length * LETTERS_PER_CHARACTER,
    known
  }))

/** Whether the parts from `index` on can be the letters from `from` on. */
const canBe = (
  letters: string,
  parts: ReturnType<typeof knownParts>,
  index = 0,
  from = 0
): boolean => {
  const part = parts[index]
  if (part === undefined) return from === letters.length
  for (let skip = 0; skip <= part.most && from + skip <= letters.length; skip++) {
    const start = from + skip
    if (!letters.startsWith(part.known, start)) continue
    if (canBe(letters, parts, index + 1, start + part.known.length)) return true
  }
  return false
}

/**
 * Finds what stands under a name by the `fieldKey` of whatever resembles it. Nobody knows every
 * letter that a reader takes for another, so one beyond ASCII may stand for any, but in a word whose
 * letters are all of one other alphabet.
 */
export const resemblances = <A>(entries: Iterable<readonly [name: string, value: A]>) => {
  const byKey = new Map([...entries].map(([name, value]) => [fieldKey(name), value] as const))
  const longest = Math.max(0, ...[...byKey.keys()].map((key) => key.length))
  const find = (key: string): A | undefined => {
    const parts = knownParts(key)
    const least = parts.reduce((sum, { known }) => sum + known.length, 0)
    if (least > longest) return undefined
    const maxEditsLeft = parts.reduce((sum, part) => sum + part.most, least)
    for (const [other, value] of byKey) {
      if (other.length >= least && other.length <= maxEditsLeft && canBe(other, parts)) return value
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

/** Longer names are compared with none. */
const MAX_LENGTH = 100
/** One in three letters may be another, missing, too many or in its neighbour's place. */
const LETTERS_PER_EDIT = 3
const MAX_EDITS = 3
/** Of the names with about as many letters; the others are not looked at. */
const MAX_COMPARED = 500

/**
 * Edits that lead from one name to the other; `most + 1` stands for all numbers above `most`. Letters
 * whose places are further apart than that are not compared.
 */
const editsBetween = (left: string, right: string, maxEditsLeft: number): number => {
  const width = right.length + 1
  let beforeLast = new Uint8Array(width)
  let previousRow = Uint8Array.from({ length: width }, (_, column) =>
    Math.min(column, maxEditsLeft + 1)
  )
  let current = new Uint8Array(width)
  for (let row = 1; row <= left.length; row++) {
    current.fill(maxEditsLeft + 1)
    current[0] = Math.min(row, maxEditsLeft + 1)
    let least = current[0]
    const end = Math.min(right.length, row + maxEditsLeft)
    for (let column = Math.max(1, row - maxEditsLeft); column <= end; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const edits = Math.min(
        (previousRow[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previousRow[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : maxEditsLeft + 1
      )
      current[column] = edits
      least = Math.min(least, edits)
    }
    if (least > maxEditsLeft) return maxEditsLeft + 1
    const free = beforeLast
    beforeLast = previousRow
    previousRow = current
    current = free
  }
  return previousRow[right.length] ?? maxEditsLeft + 1
}

/** The name that is spelled most like it, without case; null where none is near. */
export const nearestName = (
  wished: string,
  names: Iterable<string>,
  maxEdits = MAX_EDITS
): string | null => {
  if (wished.length > MAX_LENGTH) return null
  const word = wished.toLowerCase()
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
