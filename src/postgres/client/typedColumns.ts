/** Encodes items as parameters of a statement: one typed PostgreSQL array per column. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type Column<Item> = readonly [elementOid: number, encode: (item: Item) => unknown]

/**
 * The parameters in the order of the columns; undefined becomes null. A column without any value is a
 * single null instead of an array.
 */
export const columns = <Item>(
  columnsByName: Readonly<Record<string, Column<Item>>>,
  items: ReadonlyArray<Item>
): ReadonlyArray<PgTypes.Parameter> =>
  Object.values(columnsByName).map(([elementOid, encode]) => {
    const values = items.map((item) => encode(item) ?? null)
    const isNull = values.every((value) => value === null)
    return Result.getOrThrow(PgTypes.array(isNull ? null : values, elementOid))
  })
