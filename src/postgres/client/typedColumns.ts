/** Encodes items as parameters of a statement: one typed PostgreSQL array per column. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type Column<Item> = readonly [elementOid: number, encode: (item: Item) => unknown]

/**
 * The parameters in the order of the columns; an undefined value becomes null. A column without any
 * value is a single null instead of an array.
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

/**
 * The SQL expression for an array of a composite type, whose attributes are the columns in their
 * order. The columns are sent one by one, and the statement joins them: the driver cannot send a
 * composite type, whose OID differs between databases. The array is null where there are no items,
 * because an item always has a value in the first column.
 */
export const compositeArray = (
  type: string,
  columnTypes: Readonly<Record<string, unknown>>,
  firstParameter: number
): string => {
  const names = Object.keys(columnTypes).join(", ")
  const parameters = Object.keys(columnTypes).map((_, index) => `$${firstParameter + index}`)
  const rows = `SELECT ROW(${names})::${type} FROM unnest(${parameters.join(", ")}) AS i(${names})`
  return `CASE WHEN $${firstParameter} IS NOT NULL THEN ARRAY(${rows}) END`
}
