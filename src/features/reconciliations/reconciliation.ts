/** The rules by which a vendor's usage list is compared with our orders. */

/**
 * The kinds of entries, in the order of an operator's attention. `different`: both sides have the
 * id, with different amounts or units. `missing_there`: the list has no line for our order.
 * `missing_here`: only the list has the id. `orphan`: only the list has the id, which belongs to an
 * orphan. `matched`: both sides have the id and agree.
 */
export const entryKinds = [
  "different",
  "missing_there",
  "missing_here",
  "orphan",
  "matched"
] as const
export type EntryKind = (typeof entryKinds)[number]

/**
 * The maximum time before or after the period at which an order without a task may be closed and
 * still match a listed id.
 */
export const TOLERANCE_MILLIS = 86_400_000

/**
 * The totals of one id, in the list or in our charged orders, in billionths; null means unknown.
 */
export interface SideTotal {
  readonly amountNano: bigint | null
  readonly unitsNano: bigint | null
}

/** Which columns of a list are compared. */
export interface ComparedColumns {
  readonly amount: boolean
  readonly units: boolean
}

/** Whether both sides agree on every compared column; an unknown amount agrees with nothing. */
export const isSame = (here: SideTotal, there: SideTotal, compared: ComparedColumns): boolean =>
  (!compared.amount || (here.amountNano !== null && here.amountNano === there.amountNano)) &&
  (!compared.units || here.unitsNano === there.unitsNano)
