/** Cursor pages, newest first. */
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

/** An export that went on behind an invented cursor would end silently. */
export const unknownCursor = new InvalidRequest({
  message: "after: Expected the id of an entry of this list",
  param: "after"
})
