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

const hasOtherProtocols = (one: CatalogText, other: CatalogText): boolean =>
  JSON.stringify(one.protocols) !== JSON.stringify(other.protocols)

export const mergeOf = (base: CatalogText, mine: CatalogText, theirs: CatalogText): Merge => {
  const baseEntries = byName(base)
  const myEntries = byName(mine)
  const theirEntries = byName(theirs)
  // The merged lists have the order of the other side's catalog, followed by the entries that the
  // draft added.
  const names = [...new Set([...theirEntries.keys(), ...myEntries.keys(), ...baseEntries.keys()])]
  const conflicts = names
    .map((name) => ({
      name,
      base: baseEntries.get(name),
      mine: myEntries.get(name),
      theirs: theirEntries.get(name)
    }))
    .filter(
      (conflict) =>
        !isSame(conflict.mine, conflict.base) &&
        !isSame(conflict.theirs, conflict.base) &&
        !isSame(conflict.mine, conflict.theirs)
    )
  const conflictNames = new Set(conflicts.map(({ name }) => name))
  return {
    conflicts,
    document: (choices) =>
      documentOf(
        names.flatMap((name) => {
          const isMine = conflictNames.has(name)
            ? choices.get(name) === "mine"
            : !isSame(myEntries.get(name), baseEntries.get(name))
          const entry = isMine ? myEntries.get(name) : theirEntries.get(name)
          return entry === undefined ? [] : [entry]
        }),
        hasOtherProtocols(mine, base) ? mine : theirs
      )
  }
}
