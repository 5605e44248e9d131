/** The order in which rows of several organisations are locked by whoever locks several. */

interface Row {
  readonly organizationId: string
  /** Within the organisation, where several of its rows are locked. */
  readonly id?: string
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** By organisation, then by id, each by its characters' codes. */
export const inOrder = (one: Row, other: Row): number =>
  compared(one.organizationId, other.organizationId) || compared(one.id ?? "", other.id ?? "")
