/** Sums over rows of `usage_sums`, for the stores that read them. */

/**
 * The SQL types of the sums: counts are numbers; amounts and units are texts, since they may be
 * very large.
 */
const sumTypes = {
  count: "int",
  failed: "int",
  without_cost: "int",
  without_reported_cost: "int",
  charge: "text",
  cost: "text",
  reported_cost: "text",
  returned: "text",
  tokens: "text",
  seconds: "text",
  images: "text",
  clips: "text",
  characters: "text",
  searches: "text"
} as const

/**
 * The SQL columns of the sums: for each field the sum of the named column, or zero where there are
 * no rows.
 */
export const usageSumColumns = (fields: Readonly<Record<string, keyof typeof sumTypes>>): string =>
  Object.entries(fields)
    .map(([field, column]) => `coalesce(sum(${column}), 0)::${sumTypes[column]} AS "${field}"`)
    .join(", ")
