/** Cursor pages, newest first. */
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
