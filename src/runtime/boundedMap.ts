/** A map that has room for so many bytes: what was not used longest goes first. */
export const makeBoundedMap = <A>(roomBytes: number, bytesOf: (value: A) => number) => {
  // A map keeps the order of insertion, so its first key is the one not used longest.
  const kept = new Map<string, { readonly value: A; readonly bytes: number }>()
  let used = 0

  const drop = (name: string) => {
    used -= kept.get(name)?.bytes ?? 0
    kept.delete(name)
  }

  return {
    get: (name: string): A | null => {
      const found = kept.get(name)
      if (found === undefined) return null
      kept.delete(name)
      kept.set(name, found)
      return found.value
    },
    /** Passes over what is larger than the whole room. */
    set: (name: string, value: A): void => {
      const bytes = bytesOf(value)
      if (bytes > roomBytes) return
      drop(name)
      kept.set(name, { value, bytes })
      used += bytes
      for (const oldest of kept.keys()) {
        if (used <= roomBytes) break
        drop(oldest)
      }
    }
  }
}
