/** Pairing each of many with one of its own. */

/**
 * A largest set of pairs in which nobody occurs twice, as the partner of each left one; who has none
 * is left out. `candidates` are the right ones a left one may be paired with.
 */
export const pairUp = <L, R>(
  lefts: ReadonlyArray<L>,
  candidates: (left: L) => ReadonlyArray<R>
): ReadonlyMap<L, R> => {
  const holder = new Map<R, L>()

  /** Finds a partner, moving others to another one of theirs where that makes room. */
  const place = (left: L, tried: Set<R>): boolean =>
    candidates(left).some((right) => {
      if (tried.has(right)) return false
      tried.add(right)
      const other = holder.get(right)
      if (other !== undefined && !place(other, tried)) return false
      holder.set(right, left)
      return true
    })

  for (const left of lefts) place(left, new Set())
  return new Map([...holder].map(([right, left]) => [left, right]))
}
