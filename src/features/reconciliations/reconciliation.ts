/** How a vendor's usage list is compared with the books. */

/**
 * In the order of entries, what an operator looks into first: both have it and differ; only our books
 * have it; only the list has it; only the list has it, and it is an orphan of ours; both agree.
 */
export const entryKinds = [
  "different",
  "missing_there",
  "missing_here",
  "orphan",
  "matched"
] as const
export type EntryKind = (typeof entryKinds)[number]

/** How long before and after the period an order without a task is matched by a listed id. */
export const TOLERANCE_MILLIS = 86_400_000

/** Totals of the lines of an id, or of the charged orders. Billionths; null is not known. */
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
