/** The API key of this tab: its scopes and its owner. */
import type { Scope } from "../../services/Access.ts"
import { useAsk, useSession } from "./hooks.tsx"

/** The polling interval, so that a revoked key is noticed even by a tab without other requests. */
const EVERY_MILLIS = 30_000

export const useMe = () => {
  const { session } = useSession()
  return useAsk(["me"], (gateway) => gateway.account.readKey({}), {
    when: session.apiKey !== null,
    every: EVERY_MILLIS
  })
}

/** Whether the key has one of `scopes`. While the scopes are unknown, the answer is yes. */
export const useMay = (...scopes: ReadonlyArray<Scope>): boolean => {
  const { data } = useMe()
  return (
    data === undefined || scopes.length === 0 || scopes.some((one) => data.scopes.includes(one))
  )
}
