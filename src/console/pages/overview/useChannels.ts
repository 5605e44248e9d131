import { useApiQuery } from "../../gateway/hooks.tsx"

/** The polling interval of the overview. */
export const OVERVIEW_MILLIS = 30_000
const MOST_CHANNELS = 100

export const useChannels = () =>
  useApiQuery(
    ["channels", "overview"],
    (gateway) => gateway.channels.listChannels({ query: { limit: MOST_CHANNELS } }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
