/**
 * The catalog read, previewed and replaced. It is sent as it is written, so that what is wrong with it is told in the
 * gateway's words, with paths.
 */
import { Effect, Schema } from "effect"
import { CatalogDocument } from "../../../../domain/catalog/CatalogDocument.ts"
import { CatalogChanges, CatalogPreview } from "../../../../features/catalog/AdminApi.ts"
import type { Ask } from "../../../gateway/client.ts"
import { failureOf, told } from "../../../gateway/failures.ts"
import { request } from "../../../gateway/files.ts"
import type { Session } from "../../../gateway/session.ts"
import type { CatalogText, ListName } from "./catalogEntries.ts"
import type { CatalogRead } from "./keptDraft.ts"

const PATH = "/admin/v1/catalog"
const encode = Schema.encodeSync(CatalogDocument)
const versionOf = (etag: string | undefined): number => Number(/\d+/.exec(etag ?? "")?.[0])

export const readCatalog: Ask<CatalogRead> = (gateway) =>
  Effect.map(
    gateway.admin.readCatalog({ responseMode: "decoded-and-response" }),
    ([document, { headers }]) => ({
      version: versionOf(headers.etag),
      document: encode(document)
    })
  )

const sent = <S extends Schema.Top & { readonly DecodingServices: never }>(
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

/** What the document would change and warn of; with a month also what its orders would have come to. */
export const previewCatalog = (session: Session, document: unknown, replay?: string) =>
  sent(
    session,
    replay === undefined
      ? `${PATH}/preview`
      : `${PATH}/preview?${new URLSearchParams({ replay }).toString()}`,
    { method: "POST", body: JSON.stringify(document) },
    CatalogPreview
  )
export type Preview = typeof CatalogPreview.Type

/** Only in the place of that version. */
export const applyCatalog = (session: Session, document: CatalogText, onVersion: number) =>
  sent(
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

/** What is wrong with the document, by path; null where the call failed for something else. */
export const faultsOf = (error: unknown): ReadonlyArray<CatalogFault> | null => {
  const failure = failureOf(error)
  if (failure.code !== "invalid_request" || failure.param === null) return null
  const { param: path, message } = failure
  return told(failure, Faults)?.faults ?? [{ path, message: message.replace(`${path}: `, "") }]
}

/** Those of one entry, by their paths in it. */
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

const Meanwhile = Schema.Struct({
  version: Schema.Int,
  changed: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      by: Schema.NullOr(Schema.String),
      at: Schema.String
    })
  )
})
export type Meanwhile = typeof Meanwhile.Type

/** Who changed the catalog since; undefined where nobody did. */
export const meanwhileOf = (error: unknown): Meanwhile | undefined => {
  const failure = failureOf(error)
  return failure.code === "precondition_failed" ? told(failure, Meanwhile) : undefined
}
