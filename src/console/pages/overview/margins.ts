/** Shares of sums in percent, rounded for display. */

interface Sums {
  readonly charge: string
  readonly returned: string
  readonly margin: string
  readonly count: number
  readonly without_cost: number
}

/**
 * The margin in percent of the net charges. Charges with an unknown cost count in the sums as if
 * they cost nothing, so with some of them the margin is only an upper bound, and with nothing else
 * it is unknown.
 */
export const marginOf = ({
  charge,
  returned,
  margin,
  count,
  without_cost
}: Sums):
  | { readonly kind: "exact" | "atMost"; readonly percent: number }
  | { readonly kind: "unknown" } => {
  const net = Number(charge) - Number(returned)
  if (net <= 0 || without_cost >= count) return { kind: "unknown" }
  return {
    kind: without_cost === 0 ? "exact" : "atMost",
    percent: (Number(margin) / net) * 100
  }
}

/** A share such as `98.4 %`; null of nothing. */
export const percentText = (part: number, all: number): string | null =>
  all === 0 ? null : `${((part / all) * 100).toFixed(1)} %`
