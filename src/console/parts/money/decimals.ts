/** Exact sums of amounts, from the gateway's decimal strings. */
import { formatNano, NANO_PER_UNIT } from "../../../domain/money/Money.ts"

const DIGITS = 9
const decimal = /^(-?)(\d+)(?:\.(\d{1,9}))?$/

/** The billionths of an amount from the gateway, which may be negative. */
export const nanoOf = (amount: string): bigint => {
  const match = decimal.exec(amount)
  if (match === null) throw new Error(`${amount} is no amount`)
  const [, sign, integer = "0", fraction = ""] = match
  const nano = BigInt(integer) * NANO_PER_UNIT + BigInt(fraction.padEnd(DIGITS, "0"))
  return sign === "-" ? -nano : nano
}

export const sumOf = (amounts: ReadonlyArray<string>): string =>
  formatNano(amounts.reduce((sum, amount) => sum + nanoOf(amount), 0n))

/** The share of the whole in percent, for the length of a bar. */
export const percentOf = (part: string, integer: string): number => {
  const all = Number(integer)
  return all > 0 ? Math.min(100, Math.max(0, (Number(part) / all) * 100)) : 0
}
