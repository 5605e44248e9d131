/** SQL conditions of optional filters. Every row meets the condition of a filter that is null. */
import type { SqlClient } from "effect/sql"

export const makeConditions = (sql: SqlClient.SqlClient) => {
  const compares = (operator: "=" | "<") => (column: string, value: string | null) =>
    value === null ? sql`true` : sql`${sql.literal(`${column} ${operator}`)} ${value}`
  return {
    equals: compares("="),
    /** Whether an entry of a list, newest first, comes after the cursor. */
    isAfterCursor: compares("<")
  }
}
