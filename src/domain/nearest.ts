/** Names that were meant by others: by how lenient readers see them, and by their letters. */

/**
 * A name without case, `_`, `-` and compatible forms of letters. Some vendors find the fields of JSON
 * this way, so two names with the same key are the same field to them.
 */
export const fieldKey = (name: string): string =>
  ascii.test(name)
    ? name.toLowerCase().replace(/[^a-z0-9]+/g, "")
    : name
        .normalize("NFKC")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "")
/** Most names are, and take far less time. */
const ascii = /^[ -~]*$/

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
const editsBetween = (left: string, right: string, most: number): number => {
  const width = right.length + 1
  let beforeLast = new Uint8Array(width)
  let last = Uint8Array.from({ length: width }, (_, column) => Math.min(column, most + 1))
  let current = new Uint8Array(width)
  for (let row = 1; row <= left.length; row++) {
    current.fill(most + 1)
    current[0] = Math.min(row, most + 1)
    let least = current[0]
    const end = Math.min(right.length, row + most)
    for (let column = Math.max(1, row - most); column <= end; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : most + 1
      )
      current[column] = edits
      least = Math.min(least, edits)
    }
    if (least > most) return most + 1
    const free = beforeLast
    beforeLast = last
    last = current
    current = free
  }
  return last[right.length] ?? most + 1
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
  let most = Math.min(maxEdits, Math.floor(word.length / LETTERS_PER_EDIT))
  let compared = 0
  for (const name of names) {
    if (Math.abs(name.length - word.length) > most) continue
    const edits = editsBetween(word, name.toLowerCase(), most)
    if (edits <= most) {
      nearest = name
      most = edits - 1
    }
    if (most < 0 || ++compared === MAX_COMPARED) break
  }
  return nearest
}
