/** The feature of price lists. */
import { layerPriceLists } from "./PriceListsPostgres.ts"
import { layerPriceListHandlers } from "./priceListHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerPriceLists

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerPriceListHandlers
