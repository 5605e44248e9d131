/** The price lists as choices of a field. */
import { useApiQuery } from "../../gateway/hooks.tsx"

const MOST = 100

/** The newest price lists. */
export const usePriceLists = () =>
  useApiQuery(["price-lists", "names"], (gateway) =>
    gateway.priceLists.listPriceLists({ query: { limit: MOST } })
  )
