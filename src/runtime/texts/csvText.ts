/** Encodes rows as CSV (RFC 4180), for spreadsheets and programs. */
import { Predicate, Stream } from "effect"
import { Csv } from "effect/encoding"

type Cell =
  | string
  | number
  | null
  | undefined
  | Readonly<Record<string, string>>
  | ReadonlyArray<Readonly<Record<string, string | number>>>
export type Row = Readonly<Record<string, Cell>>

/** Matches a text that a spreadsheet would run as a formula, unless it is a plain number. */
const formula = /^[=+\-@\t\r]/
const plainNumber = /^-?\d+(?:\.\d+)?$/

/** The JSON of an object; empty for an empty object. */
const jsonOf = (value: object): string =>
  Object.keys(value).length === 0 ? "" : JSON.stringify(value)

const cellOf = (value: Cell): string => {
  const text = Predicate.isObjectOrArray(value) ? jsonOf(value) : `${value ?? ""}`
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
}

/** A header row, then one row per entry; texts that would run as formulas get the prefix `'`. */
export const csvText =
  (columns: ReadonlyArray<string>) =>
  <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<string, E, R> =>
    rows.pipe(
      Stream.map((row) =>
        Object.fromEntries(columns.map((column) => [column, cellOf(row[column])]))
      ),
      Stream.pipeThroughChannel(Csv.encodeString({ columns, headers: true }))
    )
