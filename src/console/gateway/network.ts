/** Whether the browser has a network. Without one, queries wait and other calls are refused. */
import { onlineManager } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"

const subscribe = (onChange: () => void) => onlineManager.subscribe(onChange)
const isOnline = () => onlineManager.isOnline()

export const useIsOnline = (): boolean => useSyncExternalStore(subscribe, isOnline)

/** The failure of a call that was not sent, since the browser is offline. */
export class Offline extends Error {
  readonly _tag = "Offline"
}

/** Refuses a call while the browser is offline, which would otherwise be sent at a later time. */
export const requireNetwork = (): void => {
  if (!isOnline()) throw new Offline()
}
