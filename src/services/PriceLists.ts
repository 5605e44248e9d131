/** Price lists, as operators write and read them. Orders read them from the catalog's snapshot. */
import { Context, type Effect, Equal, Result, Schema } from "effect"
import type { CatalogDocument } from "../domain/catalog/CatalogDocument.ts"
import {
  type AppliedPriceList,
  PriceList,
  type PriceListTerms
} from "../domain/catalog/PriceList.ts"
import type { ProtocolTables } from "../domain/catalog/ProtocolTables.ts"
import { newestVersion, priceListFaults, priceListWarnings } from "../domain/catalog/priceLists.ts"
import { InvalidRequest, NotFound, PriceListInUse } from "../domain/Errors.ts"
import { nearestName } from "../domain/nearest.ts"
import { type FieldFault, withoutFaults } from "../domain/requestFields.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"

export const priceListPrefix = "pl_"

/** A price list with the number of organisations on it. */
export const PriceListRecord = Schema.Struct({
  ...PriceList.fields,
  createdAt: Schema.Date,
  organizations: Schema.Int
})
export type PriceListRecord = typeof PriceListRecord.Type

export interface PriceListWrite extends Pick<PriceListRecord, "name" | "watermark"> {
  /** A day such as `2027-01-31` of the deployment's time zone; null holds at once. */
  readonly holdsFrom: string | null
  readonly terms: PriceListTerms
  /** The operator who writes it. */
  readonly author: string
}

export interface PriceListWritten {
  readonly record: PriceListRecord
  readonly warnings: ReadonlyArray<FieldFault>
}

export const noSuchPriceList = new NotFound({ message: "No such price list" })

/**
 * Checks a list against the catalog in force. Fails with every fault by path; succeeds with
 * warnings. `names` are the names of the other lists.
 */
export const checkPriceList = (
  { name, terms }: PriceListWrite,
  catalog: CatalogDocument,
  protocols: ProtocolTables,
  names: ReadonlyArray<string>
): Result.Result<ReadonlyArray<FieldFault>, InvalidRequest> =>
  Result.map(
    withoutFaults([
      ...(names.includes(name)
        ? [{ path: "name", message: "Expected a name that no other price list has" }]
        : []),
      ...priceListFaults(terms, catalog, protocols)
    ]),
    () => priceListWarnings(terms, catalog, protocols)
  )

/** Whether a write changes the terms of a list or their day, and is therefore a new version of it. */
export const isNewVersion = (list: PriceList, { holdsFrom, terms }: PriceListWrite): boolean => {
  const newest = newestVersion(list)
  return newest.holdsFrom !== holdsFrom || !Equal.equals(newest.terms, terms)
}

export const inUse = (organizations: number): PriceListInUse =>
  new PriceListInUse({
    message:
      organizations === 1
        ? "An organisation is on this price list; move it to another list or to none first"
        : `${organizations} organisations are on this price list; move them to another list or to none first`,
    organizations
  })

/** The error for a field `price_list` which names no list; `orElse` is its other value. */
export const unknownPriceList = (
  id: string,
  lists: ReadonlyArray<AppliedPriceList>,
  orElse = "null"
): InvalidRequest => {
  const byName = lists.find(({ name }) => name === id)
  const near =
    byName?.id ??
    nearestName(
      id,
      lists.map((list) => list.id)
    )
  const suggestion =
    near === null ? "GET /admin/v1/price-lists lists them" : `did you mean ${near}?`
  return new InvalidRequest({
    message: `price_list: Expected the id of a price list, or ${orElse}; ${suggestion}`,
    param: "price_list"
  })
}

/** Changes take effect on every gateway within a second. Lists are newest first. */
export class PriceLists extends Context.Service<
  PriceLists,
  {
    list(page: PageRequest): Effect.Effect<Page<PriceListRecord>, InvalidRequest>
    find(id: string): Effect.Effect<PriceListRecord, NotFound>
    /** Creates a list, or refuses it with every fault by path. */
    create(write: PriceListWrite): Effect.Effect<PriceListWritten, InvalidRequest>
    /**
     * Replaces a list whole. Other terms, or another day, are a new version of the list: before its
     * day the version before stands. A repeat changes nothing.
     */
    replace(
      id: string,
      write: PriceListWrite
    ): Effect.Effect<PriceListWritten, InvalidRequest | NotFound>
    /** Removes a list. Fails while an organisation is on it. */
    remove(id: string): Effect.Effect<void, NotFound | PriceListInUse>
  }
>()("gateway/services/PriceLists") {}
