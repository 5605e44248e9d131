/** A map that has room for so much: what was not used longest goes first. */
export const makeBoundedMap = <A>(room: number, sizeOf: (value: A) => number = () => 1) => {
  // A map keeps the order of insertion, so its first key is the one not used longest.
  const kept = new Map<string, A>()
  let used = 0

  const drop = (name: string): void => {
    const found = kept.get(name)
    if (found !== undefined) used -= sizeOf(found)
    kept.delete(name)
  }

  return {
    /** Is no use of it: what is asked for all the time would make `get` slow. */
    peek: (name: string): A | null => kept.get(name) ?? null,
    get: (name: string): A | null => {
      const found = kept.get(name)
      if (found === undefined) return null
      kept.delete(name)
      kept.set(name, found)
      return found
    },
    /** Passes over what is larger than the whole room. */
    set: (name: string, value: A): void => {
      const size = sizeOf(value)
      if (size > room) return
      drop(name)
      kept.set(name, value)
      used += size
      for (const oldest of kept.keys()) {
        if (used <= room) break
        drop(oldest)
      }
    },
    drop,
    /** Drops those not used longest, as long as they are like that. */
    dropWhile: (isLike: (value: A) => boolean): void => {
      for (const [name, value] of kept) {
        if (!isLike(value)) return
        drop(name)
      }
    }
  }
}
