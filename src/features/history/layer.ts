/** The timeline of each order, and orders that need an operator. */
import { Layer } from "effect"
import { layerHistoryHandlers } from "./historyHandlers.ts"
import { layerOrphans } from "./OrphansPostgres.ts"
import { layerTaskHistory } from "./TaskHistoryPostgres.ts"

/** Its ports over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerTaskHistory, layerOrphans)

/** Its routes, over its ports. */
export const layerHandlers = layerHistoryHandlers
