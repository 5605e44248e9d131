/** What the key of this tab may do, and whose it is. */
import type { Scope } from "../../services/Access.ts"
import { useAsk, useSession } from "./hooks.tsx"

/** A key that is revoked is noticed so often, also by a tab that asks nothing else. */
const EVERY_MILLIS = 30_000

export const useMe = () => {
  const { session } = useSession()
  return useAsk(["me"], (gateway) => gateway.account.readKey({}), {
    when: session.apiKey !== null,
    every: EVERY_MILLIS
  })
}

/** Whether the key may do what asks for one of `scopes`; what is not known yet may be tried. */
export const useMay = (...scopes: ReadonlyArray<Scope>): boolean => {
  const { data } = useMe()
  return (
    data === undefined || scopes.length === 0 || scopes.some((one) => data.scopes.includes(one))
  )
}
