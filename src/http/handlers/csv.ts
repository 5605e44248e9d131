/**
 * Negotiates the media type (JSON, CSV or HTML) by the client's `Accept` header, and writes CSV.
 */
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Page } from "../../runtime/Page.ts"
import { csvText, type Row } from "../../runtime/texts/csvText.ts"
import { pathOf } from "../server/routes.ts"
import { listView } from "./respond.ts"

const CSV_TYPE = "text/csv; charset=utf-8; header=present"

/**
 * The quality value (`q`) that an `Accept` header gives to a media type by name; 0 for a type that
 * is not named.
 */
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

/**
 * The media type with the highest quality. Where qualities are equal, JSON comes before `types`,
 * and an earlier type before a later type. A client that names none of them gets JSON.
 */
export const preferredType = <Type extends string>(
  accept: string | undefined,
  types: ReadonlyArray<Type>
): Type | "application/json" => {
  const quality = (type: string) => qualityOf(accept ?? "", type)
  return types.reduce<Type | "application/json">(
    (best, type) => (quality(type) > quality(best) ? type : best),
    "application/json"
  )
}

export const acceptsCsv = (accept: string | undefined): boolean =>
  preferredType(accept, ["text/csv"]) === "text/csv"

/** The response that streams CSV. With a file name, browsers save the CSV as a file. */
export const csvResponse = <E>(text: Stream.Stream<string, E>, fileName?: string) =>
  HttpServerResponse.stream(Stream.encodeText(text), {
    contentType: CSV_TYPE,
    headers: {
      vary: "accept",
      ...(fileName === undefined
        ? {}
        : { "content-disposition": `attachment; filename="${fileName}.csv"` })
    }
  })

/**
 * The response with a page of a list, as JSON or CSV by the request's `Accept` header. In CSV, a
 * `link` header with `rel="next"` replaces `has_more`.
 */
export const listOrCsv = <A, B extends { readonly id: string } & Row>(
  page: Page<A>,
  view: (entry: A) => B,
  options: { readonly columns: ReadonlyArray<string>; readonly limit: number }
) =>
  Effect.gen(function* () {
    const { headers, url } = yield* HttpServerRequest.HttpServerRequest
    const list = listView(page, view)
    const vary = { vary: "accept" }
    if (!acceptsCsv(headers.accept)) return HttpServerResponse.jsonUnsafe(list, { headers: vary })
    const path = pathOf(url)
    const query = new URLSearchParams(url.slice(path.length))
    query.set("after", list.data.at(-1)?.id ?? "")
    query.set("limit", String(options.limit))
    const text = yield* Stream.mkString(
      csvText(options.columns)(Stream.fromIterable<Row>(list.data))
    )
    return HttpServerResponse.text(text, {
      contentType: CSV_TYPE,
      headers: {
        ...vary,
        ...(list.has_more ? { link: `<${path}?${query}>; rel="next"` } : {})
      }
    })
  })
