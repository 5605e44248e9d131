/** What differs between two versions of a catalog. */
import { Equal } from "effect"

export interface ListChange {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

export interface CatalogChange
  extends Readonly<Record<"channels" | "models" | "mounts", ListChange>> {
  /** Absent where neither version describes a vendor by a document. */
  readonly protocols?: ListChange
}

/** Compares two lists by the key of their entries. */
export const compareLists = <A>(
  before: ReadonlyArray<A>,
  after: ReadonlyArray<A>,
  key: (entry: A) => string
): ListChange => {
  const oldById = new Map(before.map((entry) => [key(entry), entry]))
  const newById = new Map(after.map((entry) => [key(entry), entry]))
  return {
    added: [...newById.keys()].filter((id) => !oldById.has(id)),
    changed: [...newById.keys()].filter(
      (id) => oldById.has(id) && !Equal.equals(oldById.get(id), newById.get(id))
    ),
    removed: [...oldById.keys()].filter((id) => !newById.has(id))
  }
}
