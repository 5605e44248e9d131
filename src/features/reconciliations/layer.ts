/** The feature of reconciliations. */
import { layerReconciliations } from "./ReconciliationsPostgres.ts"
import { layerReconciliationHandlers } from "./reconciliationHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerReconciliations

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerReconciliationHandlers
