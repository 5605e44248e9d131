/** The units that charges count, and the sources of the counts. */

export const chargeUnits = ["token", "second", "image", "clip", "character", "search"] as const
export type ChargeUnit = (typeof chargeUnits)[number]

/**
 * The basis of a charge, that is, the source of its units: `unread_answer` if the vendor answered
 * with success and the answer could not be read, `largest_plausible` if the vendor reported more
 * than the order can have.
 */
export const chargeBases = [
  "upstream_usage",
  "largest_plausible",
  "formula",
  "ordered_seconds",
  "ordered_clip",
  "requested_images",
  "requested_characters",
  "requested_searches",
  "unread_answer"
] as const
export type ChargeBasis = (typeof chargeBases)[number]
