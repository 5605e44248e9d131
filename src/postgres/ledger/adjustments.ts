/** Adjustments as rows of the transfers: money that an operator moved, or refunded of a charge. */
import type { SqlClient } from "effect/sql"
import { Adjustment } from "../../services/money/Transfers.ts"
import { columnsOf, retryBriefly, rowsOf } from "../client/rows.ts"

export const adjustmentColumns = columnsOf(Adjustment, "t", { amountNano: "t.amount" })

/** The corrections of one charge, oldest first. */
export const correctionsOf = (sql: SqlClient.SqlClient, organizationId: string, orderId: string) =>
  rowsOf(Adjustment)(
    retryBriefly(sql`
      SELECT ${sql.literal(adjustmentColumns)} FROM transfers t
       WHERE organization_id = ${organizationId} AND order_id = ${orderId} ORDER BY id`)
  )
