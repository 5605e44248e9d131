/** Rows as parameters of a statement: an array for each column, in PostgreSQL's own types. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type Column<Item> = readonly [elementOid: number, of: (item: Item) => unknown]

/**
 * The parameters in the order of the columns; what is undefined is null. A column that is null for
 * every item is null as a whole.
 */
export const columns = <Item>(
  of: Readonly<Record<string, Column<Item>>>,
  items: ReadonlyArray<Item>
): ReadonlyArray<PgTypes.Parameter> =>
  Object.values(of).map(([elementOid, read]) => {
    const values = items.map((item) => read(item) ?? null)
    const isNull = values.every((value) => value === null)
    return Result.getOrThrow(PgTypes.array(isNull ? null : values, elementOid))
  })
