/** Maximum bipartite matching. */

/**
 * A maximum matching, as the right partner of each left item. Left items without a partner are
 * missing from the map. `candidates` returns the right items that a left item may be paired with.
 */
export const pairUp = <L, R>(
  lefts: ReadonlyArray<L>,
  candidates: (left: L) => ReadonlyArray<R>
): ReadonlyMap<L, R> => {
  const holder = new Map<R, L>()

  /**
   * Finds a partner for a left item, and moves other left items to another candidate where that
   * frees one (an augmenting path).
   */
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
