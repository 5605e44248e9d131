/** The open orders, for statements that read them beside other rows. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeRows } from "../client/rows.ts"

const OpenIdsRow = Schema.Struct({ ids: Schema.Array(Schema.String) })
const decode = decodeRows(OpenIdsRow)

/**
 * The ids of the open orders of an organisation, or of all where it is null. The statement that
 * takes them reads their rows again, and so counts none that has been closed meanwhile: a cluster
 * cannot call `open_orders` within a statement that it sends to a node.
 */
export const openOrderIds = (sql: SqlClient.SqlClient, organizationId: string | null) =>
  Effect.map(
    decode(sql`
      SELECT coalesce(array_agg(id), '{}') AS ids FROM open_orders(${organizationId}::text)`),
    (rows) => rows.flatMap(({ ids }) => ids)
  )
