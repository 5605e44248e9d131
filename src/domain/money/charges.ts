/** What charges count, and where the counts come from. */

export const chargeUnits = ["token", "second", "image"] as const
export type ChargeUnit = (typeof chargeUnits)[number]

/**
 * How the units of a charge were found: `unread_answer` where the vendor answered with success and the
 * answer could not be read, `largest_plausible` where it reported more than such an order can have.
 */
export const chargeBases = [
  "upstream_usage",
  "largest_plausible",
  "formula",
  "ordered_seconds",
  "requested_images",
  "unread_answer"
] as const
export type ChargeBasis = (typeof chargeBases)[number]
