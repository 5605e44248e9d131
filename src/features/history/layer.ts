/** The feature of order timelines, and of orphans. */
import { Layer } from "effect"
import { layerHistoryHandlers } from "./historyHandlers.ts"
import { layerOrphans } from "./OrphansPostgres.ts"
import { layerTaskHistory } from "./TaskHistoryPostgres.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerTaskHistory, layerOrphans)

/** The feature's routes, over its stores. */
export const layerHandlers = layerHistoryHandlers
