/** The feature of transfers. */
import { layerMoneyHandlers } from "./moneyHandlers.ts"
import { layerTransfers } from "./TransfersPostgres.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerTransfers

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerMoneyHandlers
