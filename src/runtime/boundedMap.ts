/** A map of bounded size, which evicts the least recently used entry (LRU). */
export const makeBoundedMap = <A>(capacity: number, sizeOf: (value: A) => number = () => 1) => {
  // A Map iterates in order of insertion, so its first key is the least recently used.
  const entries = new Map<string, A>()
  let usedSize = 0

  const drop = (name: string): void => {
    const value = entries.get(name)
    if (value !== undefined) usedSize -= sizeOf(value)
    entries.delete(name)
  }

  return {
    /** Does not refresh the recency of the entry, which would make frequent reads slow. */
    peek: (name: string): A | null => entries.get(name) ?? null,
    get: (name: string): A | null => {
      const value = entries.get(name)
      if (value === undefined) return null
      entries.delete(name)
      entries.set(name, value)
      return value
    },
    /** Ignores a value larger than the capacity. */
    set: (name: string, value: A): void => {
      const size = sizeOf(value)
      if (size > capacity) return
      drop(name)
      entries.set(name, value)
      usedSize += size
      for (const oldest of entries.keys()) {
        if (usedSize <= capacity) break
        drop(oldest)
      }
    },
    drop,
    /** Drops the least recently used entries, up to the first that does not match. */
    dropWhile: (isMatch: (value: A) => boolean): void => {
      for (const [name, value] of entries) {
        if (!isMatch(value)) return
        drop(name)
      }
    }
  }
}
