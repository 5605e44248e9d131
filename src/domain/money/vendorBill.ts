/**
 * The vendor's own statement of what it bills for an order, in the units of its price list. It comes
 * with the vendor's answer, and is recorded beside the cost by the prices of the mount.
 */
import { Result, Schema } from "effect"
import { Amount, MAX_AMOUNT_NANO, NANO_PER_UNIT, parseNano } from "./Money.ts"

/** `unit` and `credit` are what vendors sell in packages; `second` is a second of video. */
export const billUnits = ["unit", "credit", "second"] as const

/** A bill; it is stored as `{amount, unit}` with the amount as a decimal text. */
export const VendorBill = Schema.Struct({
  /** The number of units in billionths. */
  amountNano: Amount,
  unit: Schema.Literals(billUnits)
}).pipe(Schema.encodeKeys({ amountNano: "amount" }))
export type VendorBill = typeof VendorBill.Type

/** Bills have at most four decimals. */
const STEP_NANO = NANO_PER_UNIT / 10_000n

/** The number of billed units, in billionths; null where the value is not plausible. */
const readAmount = (value: unknown): bigint | null => {
  if (typeof value !== "string" && typeof value !== "number") return null
  const amountNano = Result.getOrElse(parseNano(String(value)), () => null)
  return amountNano !== null && amountNano % STEP_NANO === 0n ? amountNano : null
}

/**
 * The bill in an answer, as a field of the usage: a sum of plain decimals. The field is missing
 * where the vendor reports no amount, and where one of the amounts is not plausible.
 */
export const readBill = (
  unit: VendorBill["unit"],
  ...amounts: ReadonlyArray<unknown>
): { readonly bill?: VendorBill } => {
  if (amounts.length === 0) return {}
  const amountNano = amounts
    .map(readAmount)
    .reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0n)
  return amountNano === null || amountNano > MAX_AMOUNT_NANO ? {} : { bill: { amountNano, unit } }
}

/**
 * The bill at the price of a unit. A fraction of a nano-unit counts as a whole one. Null where the
 * price is unknown, or the product exceeds the largest amount.
 */
export const reportedCostOf = (
  bill: VendorBill | undefined,
  unitPriceNano: bigint | null
): bigint | null => {
  if (bill === undefined || unitPriceNano === null) return null
  const costNano = (bill.amountNano * unitPriceNano + NANO_PER_UNIT - 1n) / NANO_PER_UNIT
  return costNano <= MAX_AMOUNT_NANO ? costNano : null
}
