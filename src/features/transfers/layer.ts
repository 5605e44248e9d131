/** The room of transfers. */
import { layerMoneyHandlers } from "./moneyHandlers.ts"
import { layerTransfers } from "./TransfersPostgres.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerTransfers

/** Its routes, over its ports. */
export const layerHandlers = layerMoneyHandlers
