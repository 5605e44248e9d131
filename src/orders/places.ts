/** How many orders run at a time: of an organisation, and at a channel. */
import { Effect } from "effect"
import { RateLimited } from "../domain/Errors.ts"
import { Settings } from "../runtime/Settings.ts"
import { makeShares } from "../runtime/Shares.ts"

/** Of a channel's places: so that one organisation leaves some to the others. */
const SHARE_OF_CHANNEL = 0.5

const busy = (what: string, param: "model" | null) =>
  new RateLimited({
    message: `${what} at a time; send this one again when another is answered`,
    param,
    retryAfterSeconds: 1
  })

/** Takes the order from the channel it is at to another; answers why it has no place there. */
export type MoveTo = (channelId: string) => RateLimited | null

/**
 * Makes a function that runs an order in two places: one among the organisation's running orders, and
 * one among the paid calls this gateway has open at a channel, of which one organisation may have
 * half. Both are taken before the hold, and given back when nothing of the order runs any more,
 * whether or not its client has stayed.
 */
export const makePlaces = Effect.map(Settings, ({ channelInFlight, organizationInFlight }) => {
  const running = makeShares({ perOwner: organizationInFlight })
  const ownCalls = makeShares({ perOwner: Math.ceil(channelInFlight * SHARE_OF_CHANNEL) })
  const calls = makeShares({ perOwner: channelInFlight })

  /** The places of one order at channels, of which it has one at a time. */
  const makeChannelPlace = (organizationId: string) => {
    let taken: { readonly own: string; readonly channelId: string } | null = null
    const leave = (): void => {
      if (taken === null) return
      ownCalls.release(taken.own)
      calls.release(taken.channelId)
      taken = null
    }
    const moveTo: MoveTo = (channelId) => {
      leave()
      const own = `${organizationId} ${channelId}`
      if (!ownCalls.tryReserve(own)) {
        const bound = "as many orders as it may have at the channel of this model"
        return busy(`This organisation has ${bound}`, "model")
      }
      if (!calls.tryReserve(channelId)) {
        ownCalls.release(own)
        const bound = "busy with as many orders as it may have"
        return busy(`The channel of this model is ${bound}`, "model")
      }
      taken = { own, channelId }
      return null
    }
    return { moveTo, leave }
  }

  return <A, E, R>(organizationId: string, order: (moveTo: MoveTo) => Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let isPlaced = false
      const { moveTo, leave } = makeChannelPlace(organizationId)
      const placed = Effect.suspend((): Effect.Effect<A, E | RateLimited, R> => {
        isPlaced = running.tryReserve(organizationId)
        if (isPlaced) return order(moveTo)
        const bound = `${organizationInFlight} orders running at this gateway`
        return Effect.fail(busy(`This organisation may have ${bound}`, null))
      })
      return Effect.onExitPrimitive(placed, () => {
        leave()
        if (isPlaced) running.release(organizationId)
        return undefined
      })
    })
})
