/** Rows as parameters of a statement: an array for each column, in PostgreSQL's own types. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export type Column<Item> = readonly [elementOid: number, of: (item: Item) => unknown]

/** A column that is null for every item is null as a whole. */
export const parameter = (elementOid: number, values: ReadonlyArray<unknown>): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(values.every((value) => value === null) ? null : values, elementOid)
  )

/** The parameters in the order of the columns; what is undefined is null. */
export const columns = <Item>(
  of: Readonly<Record<string, Column<Item>>>,
  items: ReadonlyArray<Item>
): ReadonlyArray<PgTypes.Parameter> =>
  Object.values(of).map(([elementOid, read]) =>
    parameter(
      elementOid,
      items.map((item) => read(item) ?? null)
    )
  )
