/** Models, channels and prices: what customers read, and what operators write. */
import { Layer } from "effect"
import { layerAdminHandlers } from "./adminHandlers.ts"
import { layerChargedUnits } from "./ChargedUnitsPostgres.ts"
import { layerChannelHandlers } from "./channelHandlers.ts"
import { layerModelsHandlers } from "./modelHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerChargedUnits

/** Its routes, over its ports. */
export const layerHandlers = Layer.mergeAll(
  layerModelsHandlers,
  layerAdminHandlers,
  layerChannelHandlers
)
