/** Pages of a list, newest first, addressed by a cursor. */
import { Predicate } from "effect"
import { InvalidRequest } from "../domain/Errors.ts"

export interface PageRequest {
  /** The cursor: the id of the last entry of the previous page; null starts at the newest entry. */
  readonly after: string | null
  readonly limit: number
}

export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** Makes a page from rows that were read with `limit + 1`. */
export const cutPage = <A>(rows: ReadonlyArray<A>, limit: number): Page<A> => ({
  data: rows.slice(0, limit),
  hasMore: rows.length > limit
})

/** The maximum number of bytes of a page, which ends early if its entries have long texts. */
export const MAX_PAGE_BYTES = 256 * 1024

/**
 * The approximate number of bytes of a value's JSON, including separators. Every number counts as 8
 * bytes, like `true`, `false` and null.
 */
const jsonBytes = (value: unknown): number => {
  if (typeof value === "string") return Buffer.byteLength(value) + 3
  if (!Predicate.isObjectOrArray(value)) return 8
  return Array.isArray(value)
    ? value.reduce((sum: number, item) => sum + jsonBytes(item), 2)
    : Object.entries(value).reduce(
        (sum, [name, field]) => sum + name.length + 4 + jsonBytes(field),
        2
      )
}

/** Presents the entries of a page: at least one, and as many as fit into `MAX_PAGE_BYTES`. */
export const presentPage = <A, B>(
  { data, hasMore }: Page<A>,
  present: (entry: A) => B
): Page<B> => {
  const views: Array<B> = []
  let bytes = 0
  for (const entry of data) {
    const view = present(entry)
    bytes += jsonBytes(view)
    if (views.length > 0 && bytes > MAX_PAGE_BYTES) return { data: views, hasMore: true }
    views.push(view)
  }
  return { data: views, hasMore }
}

/**
 * The error for an unknown cursor. Without this error, an export that continues from an unknown
 * cursor would end silently.
 */
export const unknownCursor = new InvalidRequest({
  message: "after: Expected the id of an entry of this list",
  param: "after"
})
