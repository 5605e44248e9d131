/** The API key of this tab: its scopes and its owner. */
import type { Scope } from "../../services/Access.ts"
import { useApiQuery, useSession } from "./hooks.tsx"

/** The polling interval, so that a revoked key is noticed even by a tab without other requests. */
const EVERY_MILLIS = 30_000

export const useMe = () => {
  const { session } = useSession()
  return useApiQuery(["me"], (gateway) => gateway.account.readKey({}), {
    isEnabled: session.apiKey !== null,
    intervalMillis: EVERY_MILLIS
  })
}

/** Whether the key has one of `scopes`. While the scopes are unknown, the answer is yes. */
export const useHasScopes = (...scopes: ReadonlyArray<Scope>): boolean => {
  const { data } = useMe()
  return (
    data === undefined || scopes.length === 0 || scopes.some((scope) => data.scopes.includes(scope))
  )
}
