/** A three-way merge of a draft and of a catalog that another operator has changed since. */
import { byName, type CatalogText, documentOf, type Entry, isSame } from "./catalogEntries.ts"

/** An entry that both sides have changed in different ways. */
export interface Conflict {
  readonly name: string
  readonly base: Entry | undefined
  readonly mine: Entry | undefined
  readonly theirs: Entry | undefined
}

export type Side = "mine" | "theirs"

export interface Merge {
  readonly conflicts: ReadonlyArray<Conflict>
  /** The merged document, with the chosen side for each conflict by name. */
  readonly document: (choices: ReadonlyMap<string, Side>) => CatalogText
}

export const mergeOf = (base: CatalogText, mine: CatalogText, theirs: CatalogText): Merge => {
  const old = byName(base)
  const own = byName(mine)
  const other = byName(theirs)
  // The merged lists have the order of the other side's catalog, followed by the entries that the
  // draft added.
  const names = [...new Set([...other.keys(), ...own.keys(), ...old.keys()])]
  const conflicts = names
    .map((name) => ({
      name,
      base: old.get(name),
      mine: own.get(name),
      theirs: other.get(name)
    }))
    .filter(
      (one) =>
        !isSame(one.mine, one.base) &&
        !isSame(one.theirs, one.base) &&
        !isSame(one.mine, one.theirs)
    )
  const inConflict = new Set(conflicts.map(({ name }) => name))
  return {
    conflicts,
    document: (choices) =>
      documentOf(
        names.flatMap((name) => {
          const isMine = inConflict.has(name)
            ? choices.get(name) === "mine"
            : !isSame(own.get(name), old.get(name))
          const entry = isMine ? own.get(name) : other.get(name)
          return entry === undefined ? [] : [entry]
        })
      )
  }
}
