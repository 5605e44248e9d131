/** Which of the known words someone meant who wrote one a little differently. */

/** Characters to add, take away or change that make one word the other; more than `most` are not counted. */
const distance = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (let at = 0; at < other.length; at++) {
      const replaced = (row[at] ?? 0) + (letter === other[at] ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? most + 1
}

/** The first of those whose word is the least away from `wish`, at most `most`; null when none is so near. */
export const nearest = <A>(
  wish: string,
  offered: Iterable<A>,
  wordOf: (one: A) => string,
  most = 2
): A | null => {
  let best: { readonly one: A; readonly away: number } | null = null
  for (const one of offered) {
    const away = distance(wish, wordOf(one), best === null ? most : best.away - 1)
    if (away <= (best === null ? most : best.away - 1)) best = { one, away }
  }
  return best?.one ?? null
}
