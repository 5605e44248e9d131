/** Reads price lists with their versions. */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { PriceList } from "../../domain/catalog/PriceList.ts"
import { columnsOf, rowsOf } from "../client/rows.ts"

/** The SQL of the fields of a list that are not columns of `price_lists`, with the alias `l`. */
export const priceListExpressions = {
  versions: `(
    SELECT jsonb_agg(jsonb_build_object(
             'version', v.version, 'holdsFrom', v.holds_from, 'terms', v.terms,
             'createdAt', v.created_at, 'author', v.author) ORDER BY v.version)
      FROM price_list_versions v WHERE v.list_id = l.id)`
}

/** The price list of an order with this alias, as `AppliedPriceList`; null where it has none. */
export const appliedPriceList = (order: string): string =>
  `(SELECT jsonb_build_object('id', l.id, 'name', l.name)
      FROM price_lists l WHERE l.id = ${order}.price_list_id)`

const columns = columnsOf(PriceList, "l", priceListExpressions)

const StoredPriceList = Schema.Struct({
  ...PriceList.fields,
  revision: Schema.BigInt,
  isRemoved: Schema.Boolean
})

export const storedPriceLists = rowsOf(StoredPriceList)

/**
 * Selects all price lists, with those that were removed, if there is a higher revision than this one; no
 * row otherwise.
 */
export const priceListsSince = (sql: SqlClient.SqlClient, revision: bigint) =>
  sql`
    SELECT ${sql.literal(columns)}, l.revision, l.removed_at IS NOT NULL AS "isRemoved"
      FROM price_lists l
     WHERE (SELECT max(revision) FROM price_lists) > ${revision}`
