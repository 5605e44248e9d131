/** Shares of sums in percent, rounded for display. */

/** A share such as `98.4 %`; null of nothing. */
export const percentText = (part: number, all: number): string | null =>
  all > 0 ? `${((part / all) * 100).toFixed(1)} %` : null
