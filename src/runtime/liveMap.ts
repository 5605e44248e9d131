/** A map whose content may change between two look-ups, for tables that follow a configuration. */
export const liveMap = <K, V>(current: () => ReadonlyMap<K, V>): ReadonlyMap<K, V> => ({
  get size() {
    return current().size
  },
  get: (key) => current().get(key),
  has: (key) => current().has(key),
  keys: () => current().keys(),
  values: () => current().values(),
  entries: () => current().entries(),
  forEach: (visit, self) => current().forEach(visit, self),
  [Symbol.iterator]: () => current()[Symbol.iterator]()
})
