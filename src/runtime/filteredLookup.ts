/**
 * DNS look-ups for new connections, which drop addresses that may not be called. The addresses are
 * checked at the moment of the connection, because a name may resolve to other addresses at any
 * time.
 */
import type { LookupFunction } from "node:net"
import { Effect } from "effect"
import { Agent } from "undici"

export interface LookupPolicy {
  readonly isAllowed: (address: string) => boolean
  /** The failure of a name without any allowed address. */
  readonly refusal: { readonly message: string; readonly code: string }
}

/** Resolves a name to its allowed addresses. */
export const filteredLookup =
  (resolve: LookupFunction, { isAllowed, refusal }: LookupPolicy): LookupFunction =>
  (host, options, callback) =>
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const all = typeof addresses === "string" ? [] : addresses
      const allowedAddresses = all.filter(({ address }) => isAllowed(address))
      const [first] = allowedAddresses
      if (first === undefined) {
        const refusalError = new Error(refusal.message)
        callback(Object.assign(refusalError, { code: refusal.code, syscall: "getaddrinfo" }), [])
      } else if (options.all === true) callback(null, allowedAddresses)
      else callback(null, first.address, first.family)
    })

/** An agent that resolves names by the look-up and sets no time-outs; destroyed with its scope. */
export const makeAgent = (lookup: LookupFunction) =>
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { lookup } })),
    (agent) => Effect.promise(() => agent.destroy())
  )
