/** The feature of transfers. */
import { layerMoneyHandlers } from "./moneyHandlers.ts"
import { layerTransfers } from "./TransfersPostgres.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerTransfers

/** The feature's routes, over its stores. */
export const layerHandlers = layerMoneyHandlers
