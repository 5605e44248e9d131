/** Lists as CSV (RFC 4180) for clients that ask for `text/csv`. */
import { Effect, Predicate, Stream } from "effect"
import { Csv } from "effect/encoding"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Page } from "../../runtime/Page.ts"
import { pathOf } from "../server/routes.ts"
import { listView } from "./respond.ts"

const CSV_TYPE = "text/csv; charset=utf-8; header=present"

type Cell = string | number | null | undefined | Readonly<Record<string, string>>

/** The quality an `Accept` header gives to a media type by name; 0 when it is not named. */
const qualityOf = (accept: string, type: string): number => {
  const range = accept
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()))
    .find(([name]) => name === type)
  const q = range?.find((piece) => piece.startsWith("q="))
  const quality = q === undefined ? 1 : Number(q.slice(2))
  return range === undefined || Number.isNaN(quality) ? 0 : quality
}

/** JSON is what a client gets that names both alike, or neither. */
export const wantsCsv = (accept: string | undefined): boolean =>
  accept !== undefined && qualityOf(accept, "text/csv") > qualityOf(accept, "application/json")

/** A spreadsheet runs a text that begins like this; a plain number is what it looks like. */
const formula = /^[=+\-@\t\r]/
const plainNumber = /^-?\d+(?:\.\d+)?$/

/** Nothing where nothing stands in it. */
const jsonOf = (value: object): string =>
  Object.keys(value).length === 0 ? "" : JSON.stringify(value)

const cellOf = (value: Cell): string => {
  const text = Predicate.isObject(value) ? jsonOf(value) : `${value ?? ""}`
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
}

/** A header row, then one row an entry; texts that would run as formulas get a `'` before them. */
export const toCsv = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<Readonly<Record<string, Cell>>>
): Effect.Effect<string> =>
  Stream.fromIterable(rows).pipe(
    Stream.map((row) => Object.fromEntries(columns.map((column) => [column, cellOf(row[column])]))),
    Stream.pipeThroughChannel(Csv.encodeString({ columns, headers: true })),
    Stream.mkString
  )

/** A header row and then the rows, as their client takes them. */
export const csvResponse = <E>(
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<Readonly<Record<string, Cell>>, E>
) =>
  HttpServerResponse.stream(
    rows.pipe(
      Stream.map((row) =>
        Object.fromEntries(columns.map((column) => [column, cellOf(row[column])]))
      ),
      Stream.pipeThroughChannel(Csv.encode({ columns, headers: true }))
    ),
    { contentType: CSV_TYPE, headers: { vary: "accept" } }
  )

/**
 * A page as the request wants it: the list, or its entries as CSV, where a `link` header with
 * `rel="next"` stands for `has_more`.
 */
export const listOrCsv = <A, B extends { readonly id: string } & Readonly<Record<string, Cell>>>(
  page: Page<A>,
  view: (entry: A) => B,
  options: { readonly columns: ReadonlyArray<string>; readonly limit: number }
) =>
  Effect.gen(function* () {
    const { headers, url } = yield* HttpServerRequest.HttpServerRequest
    const list = listView(page, view)
    const vary = { vary: "accept" }
    if (!wantsCsv(headers.accept)) return HttpServerResponse.jsonUnsafe(list, { headers: vary })
    const last = list.data.at(-1)?.id
    const query = new URLSearchParams({ after: last ?? "", limit: String(options.limit) })
    return HttpServerResponse.text(yield* toCsv(options.columns, list.data), {
      contentType: CSV_TYPE,
      headers: {
        ...vary,
        ...(list.has_more ? { link: `<${pathOf(url)}?${query}>; rel="next"` } : {})
      }
    })
  })
