/** The feature of order lists, sums of usage over time, and receipts. */
import { Layer } from "effect"
import { layerAccountHandlers } from "./accountHandlers.ts"
import { layerOrderLists } from "./OrderListsPostgres.ts"
import { layerOrdersHandlers } from "./orderHandlers.ts"
import { layerOrderListsHandlers } from "./orderListHandlers.ts"
import { layerUsageSums } from "./UsageSumsPostgres.ts"
import { layerUsageSumsHandlers } from "./usageSumsHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerUsageSums, layerOrderLists)

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = Layer.mergeAll(
  layerAccountHandlers,
  layerOrdersHandlers,
  layerUsageSumsHandlers,
  layerOrderListsHandlers
)
