/** What comes of comparing a vendor's usage list with the books. */

/**
 * In the order in which entries stand, what needs a look first: it is in both and differs; only our
 * books have it; only the list has it; only the list has it, and it is a job of ours that was not
 * paid for; it is in both and the same.
 */
export const entryKinds = [
  "different",
  "missing_there",
  "missing_here",
  "orphan",
  "matched"
] as const
export type EntryKind = (typeof entryKinds)[number]

/** How long before and after the period an order without a task is looked for by a listed id. */
export const TOLERANCE_MILLIS = 86_400_000

/** One side of an entry: the lines of an id, or the charged orders. Billionths; null is not known. */
export interface Side {
  readonly amountNano: bigint | null
  readonly unitsNano: bigint | null
}

/** What a list tells of every line. */
export interface Compared {
  readonly amount: boolean
  readonly units: boolean
}

/** Whether both sides say the same of all that is compared; what one does not know is not the same. */
export const isSame = (here: Side, there: Side, compared: Compared): boolean =>
  (!compared.amount || (here.amountNano !== null && here.amountNano === there.amountNano)) &&
  (!compared.units || here.unitsNano === there.unitsNano)
