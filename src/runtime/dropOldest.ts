/** Drops what was added first, one by one, until no more than `most` are left. */
export const dropOldest = (kept: Map<unknown, unknown> | Set<unknown>, most: number): void => {
  for (const key of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(key)
  }
}
