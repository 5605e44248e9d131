/** The feature of models, channels and prices: customers read them, operators write them. */
import { Layer } from "effect"
import { layerAdminHandlers } from "./adminHandlers.ts"
import { layerChargedUnits } from "./ChargedUnitsPostgres.ts"
import { layerChannelHandlers } from "./channelHandlers.ts"
import { layerModelsHandlers } from "./modelHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerChargedUnits

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = Layer.mergeAll(
  layerModelsHandlers,
  layerAdminHandlers,
  layerChannelHandlers
)
