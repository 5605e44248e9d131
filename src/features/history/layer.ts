/** The feature of order timelines, and of orphans. */
import { Layer } from "effect"
import { layerHistoryHandlers } from "./historyHandlers.ts"
import { layerOrphans } from "./OrphansPostgres.ts"
import { layerTaskHistory } from "./TaskHistoryPostgres.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerTaskHistory, layerOrphans)

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerHistoryHandlers
