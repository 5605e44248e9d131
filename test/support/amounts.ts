/** Amounts as tests reckon with them: nano-units, read from and written as decimal strings. */

/** Nano-units of a decimal string with at most nine fraction digits. */
export const toNano = (decimal: string): bigint => {
  const negative = decimal.startsWith("-")
  const [whole = "0", fraction = ""] = decimal.replace("-", "").split(".")
  const nano = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"))
  return negative ? -nano : nano
}

/** The decimal string the gateway writes for an amount. */
export const toDecimal = (nano: bigint): string => {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, "0")
  const fraction = digits.slice(-9).replace(/0+$/, "")
  const sign = nano < 0n ? "-" : ""
  return `${sign}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`
}

export const sumOf = (amounts: Iterable<bigint>): bigint => {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}
