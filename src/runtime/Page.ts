/** Cursor pages, newest first. */
import { Predicate } from "effect"
import { InvalidRequest } from "../domain/Errors.ts"

export interface PageRequest {
  /** Id of the last entry of the page before; null starts at the newest. */
  readonly after: string | null
  readonly limit: number
}

export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** Cuts a list that was read with one entry too many. */
export const cutPage = <A>(rows: ReadonlyArray<A>, limit: number): Page<A> => ({
  data: rows.slice(0, limit),
  hasMore: rows.length > limit
})

/** A page ends early where its entries come to more: what is shown of rows may be long. */
export const MAX_PAGE_BYTES = 256 * 1024

/** About the bytes of a value in JSON; every separator counts as one more than it may be. */
const jsonBytes = (value: unknown): number => {
  if (typeof value === "string") return Buffer.byteLength(value) + 3
  if (!Predicate.isObjectOrArray(value)) return 8
  return Array.isArray(value)
    ? value.reduce((sum: number, entry) => sum + jsonBytes(entry), 2)
    : Object.entries(value).reduce((sum, [name, of]) => sum + name.length + 4 + jsonBytes(of), 2)
}

/** Shows the entries of a page, as many as it has bytes for and at least one. */
export const shownPage = <A, B>({ data, hasMore }: Page<A>, show: (entry: A) => B): Page<B> => {
  const shown: Array<B> = []
  let bytes = 0
  for (const entry of data) {
    const next = show(entry)
    bytes += jsonBytes(next)
    if (shown.length > 0 && bytes > MAX_PAGE_BYTES) return { data: shown, hasMore: true }
    shown.push(next)
  }
  return { data: shown, hasMore }
}

/** An export that went on behind an invented cursor would end silently. */
export const unknownCursor = new InvalidRequest({
  message: "after: Expected the id of an entry of this list",
  param: "after"
})
