/** Lists of orders, sums of usage over time, and receipts. */
import { Layer } from "effect"
import { layerAccountHandlers } from "./accountHandlers.ts"
import { layerOrderLists } from "./OrderListsPostgres.ts"
import { layerOrdersHandlers } from "./orderHandlers.ts"
import { layerOrderListsHandlers } from "./orderListHandlers.ts"
import { layerUsageSums } from "./UsageSumsPostgres.ts"
import { layerUsageSumsHandlers } from "./usageSumsHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerUsageSums, layerOrderLists)

/** Its routes, over its ports. */
export const layerHandlers = Layer.mergeAll(
  layerAccountHandlers,
  layerOrdersHandlers,
  layerUsageSumsHandlers,
  layerOrderListsHandlers
)
