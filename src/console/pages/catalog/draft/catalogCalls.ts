/**
 * Reads, previews and replaces the catalog. The document is sent as it was written, so that the
 * gateway reports all faults with their paths.
 */
import { Effect, Schema } from "effect"
import { CatalogDocument } from "../../../../domain/catalog/CatalogDocument.ts"
import { CatalogChanges, CatalogPreview } from "../../../../features/catalog/AdminApi.ts"
import type { ApiCall } from "../../../gateway/client.ts"
import { decodeDetails, failureOf } from "../../../gateway/failures.ts"
import { request } from "../../../gateway/files.ts"
import type { Session } from "../../../gateway/session.ts"
import type { CatalogText, ListName } from "./catalogEntries.ts"
import type { CatalogVersion } from "./storedDraft.ts"

const PATH = "/admin/v1/catalog"
const encode = Schema.encodeSync(CatalogDocument)
const versionOf = (etag: string | undefined): number => Number(/\d+/.exec(etag ?? "")?.[0])

export const readCatalog: ApiCall<CatalogVersion> = (gateway) =>
  Effect.map(
    gateway.admin.readCatalog({ responseMode: "decoded-and-response" }),
    ([document, { headers }]) => ({
      version: versionOf(headers.etag),
      document: encode(document)
    })
  )

/** Sends a body as it was written, and decodes the answer. */
export const sendJson = <S extends Schema.Top & { readonly DecodingServices: never }>(
  session: Session,
  path: string,
  init: RequestInit,
  answer: S
): Effect.Effect<S["Type"], unknown> =>
  Effect.flatMap(
    Effect.tryPromise({
      try: async (signal): Promise<unknown> =>
        (
          await request(session, path, {
            ...init,
            signal,
            headers: { "content-type": "application/json", ...init.headers }
          })
        ).json(),
      catch: (error) => error
    }),
    Schema.decodeUnknownEffect(answer)
  )

export interface ReplayOptions {
  readonly month: string
  /** The price list of all orders, or `none`; null for the list of each organisation. */
  readonly priceList: string | null
}

/** The changes and warnings of a document; with a month also a replay of the orders of that month. */
export const previewCatalog = (session: Session, document: unknown, replay?: ReplayOptions) => {
  const query =
    replay === undefined
      ? ""
      : `?${new URLSearchParams({
          replay: replay.month,
          ...(replay.priceList === null ? {} : { price_list: replay.priceList })
        }).toString()}`
  return sendJson(
    session,
    `${PATH}/preview${query}`,
    { method: "POST", body: JSON.stringify(document) },
    CatalogPreview
  )
}
export type Preview = typeof CatalogPreview.Type

/** Replaces the catalog, if it still has the given version. */
export const applyCatalog = (session: Session, document: CatalogText, onVersion: number) =>
  sendJson(
    session,
    PATH,
    {
      method: "PUT",
      body: JSON.stringify(document),
      headers: { "if-match": `"${onVersion}"` }
    },
    CatalogChanges
  )

export interface CatalogFault {
  readonly path: string
  readonly message: string
}

const Faults = Schema.Struct({
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
})

/** The faults of the document by path; null where the call failed for another reason. */
export const faultsOf = (error: unknown): ReadonlyArray<CatalogFault> | null => {
  const failure = failureOf(error)
  if (failure.code !== "invalid_request" || failure.param === null) return null
  const { param: path, message } = failure
  return (
    decodeDetails(failure, Faults)?.faults ?? [{ path, message: message.replace(`${path}: `, "") }]
  )
}

/** The faults of one entry, with paths relative to the entry. */
export const faultsAt = (
  faults: ReadonlyArray<CatalogFault>,
  list: ListName,
  index: number
): ReadonlyArray<CatalogFault> => {
  const at = `${list}[${index}]`
  return faults
    .filter(({ path }) => path === at || path.startsWith(`${at}.`))
    .map(({ path, message }) => ({ path: path.slice(at.length + 1), message }))
}

const NewerVersions = Schema.Struct({
  version: Schema.Int,
  changed: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      by: Schema.NullOr(Schema.String),
      at: Schema.String
    })
  )
})
export type NewerVersions = typeof NewerVersions.Type

/**
 * The versions since the draft began, with their authors; undefined where the error is another one.
 */
export const newerVersionsOf = (error: unknown): NewerVersions | undefined => {
  const failure = failureOf(error)
  return failure.code === "precondition_failed" ? decodeDetails(failure, NewerVersions) : undefined
}
