/** Sums over rows of `usage_sums`, for the stores that read them. */

/** How a sum leaves the database: counts as numbers, amounts and units as texts of any length. */
const sumTypes = {
  count: "int",
  failed: "int",
  without_cost: "int",
  charge: "text",
  cost: "text",
  returned: "text",
  tokens: "text",
  seconds: "text",
  images: "text"
} as const

/** A sum for each field, of the column that is named; zero where there are no rows. */
export const usageSumColumns = (fields: Readonly<Record<string, keyof typeof sumTypes>>): string =>
  Object.entries(fields)
    .map(([field, column]) => `coalesce(sum(${column}), 0)::${sumTypes[column]} AS "${field}"`)
    .join(", ")
