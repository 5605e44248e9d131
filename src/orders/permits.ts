/** Limits the number of concurrent orders of an organisation and at a channel. */
import { Effect } from "effect"
import { RateLimited } from "../domain/Errors.ts"
import { Settings } from "../runtime/Settings.ts"
import { makeShares } from "../runtime/Shares.ts"

/**
 * The maximum share of a channel's permits for one organisation, so that permits are left for
 * others.
 */
const SHARE_OF_CHANNEL = 0.5

const busy = (limit: string, param: "model" | null) =>
  new RateLimited({
    message: `${limit} at a time; send this one again when another is answered`,
    param,
    retryAfterSeconds: 1
  })

/**
 * Moves the order's permit to another channel; returns the refusal when that channel has no free
 * permit.
 */
export type MoveTo = (channelId: string) => RateLimited | null

/**
 * Makes a function that runs an order with two permits: one for running orders of its organisation,
 * and one for paid calls of this gateway at the channel. One organisation may have half of a
 * channel's permits. Both permits are taken before the hold. They are released when no step of the
 * order runs any more, whether or not its client is still connected.
 */
export const makePermits = Effect.map(Settings, ({ channelInFlight, organizationInFlight }) => {
  const runningOrders = makeShares({ perOwner: organizationInFlight })
  const callsOfOrganization = makeShares({
    perOwner: Math.ceil(channelInFlight * SHARE_OF_CHANNEL)
  })
  const callsOfChannel = makeShares({ perOwner: channelInFlight })

  /** Makes an order's permit at a channel; the order has only one at a time. */
  const makeChannelPermit = (organizationId: string) => {
    let held: { readonly organization: string; readonly channelId: string } | null = null
    const release = (): void => {
      if (held === null) return
      callsOfOrganization.release(held.organization)
      callsOfChannel.release(held.channelId)
      held = null
    }
    const moveTo: MoveTo = (channelId) => {
      release()
      const organization = `${organizationId} ${channelId}`
      if (!callsOfOrganization.tryReserve(organization)) {
        return busy(
          "This organisation has as many orders as it may have at the channel of this model",
          "model"
        )
      }
      if (!callsOfChannel.tryReserve(channelId)) {
        callsOfOrganization.release(organization)
        return busy("The channel of this model is busy with as many orders as it may have", "model")
      }
      held = { organization, channelId }
      return null
    }
    return { moveTo, release }
  }

  return <A, E, R>(organizationId: string, order: (moveTo: MoveTo) => Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let isRunning = false
      const { moveTo, release } = makeChannelPermit(organizationId)
      const running = Effect.suspend((): Effect.Effect<A, E | RateLimited, R> => {
        isRunning = runningOrders.tryReserve(organizationId)
        if (isRunning) return order(moveTo)
        const limit = `This organisation may have ${organizationInFlight} orders running at this gateway`
        return Effect.fail(busy(limit, null))
      })
      return Effect.onExitPrimitive(running, () => {
        release()
        if (isRunning) runningOrders.release(organizationId)
        return undefined
      })
    })
})
