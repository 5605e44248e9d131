/** The room of reconciliations. */
import { layerReconciliations } from "./ReconciliationsPostgres.ts"
import { layerReconciliationHandlers } from "./reconciliationHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerReconciliations

/** Its routes, over its ports. */
export const layerHandlers = layerReconciliationHandlers
