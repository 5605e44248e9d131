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

/** Makes a page of rows that were read with a limit one higher. */
export const cutPage = <A>(rows: ReadonlyArray<A>, limit: number): Page<A> => ({
  data: rows.slice(0, limit),
  hasMore: rows.length > limit
})

/** A page ends early where its entries have more bytes, as rows may have long texts. */
export const MAX_PAGE_BYTES = 256 * 1024

/** About the bytes of a value in JSON; it may be a few too many, as separators are rounded up. */
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

/** Presents the entries of a page, up to `MAX_PAGE_BYTES` and at least one. */
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

/** An unknown cursor is refused, as an export that continued behind one would end silently. */
export const unknownCursor = new InvalidRequest({
  message: "after: Expected the id of an entry of this list",
  param: "after"
})
