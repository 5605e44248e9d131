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

/**
 * Makes a function that runs an order in two places: one among the organisation's running orders, and
 * one among the paid calls this gateway has open at the channel, of which one organisation may have
 * half. Both are taken before the hold, and given back when nothing of the order runs any more,
 * whether or not its client has stayed.
 */
export const makePlaces = Effect.map(Settings, ({ channelInFlight, organizationInFlight }) => {
  const running = makeShares({ each: organizationInFlight })
  const ownCalls = makeShares({ each: Math.ceil(channelInFlight * SHARE_OF_CHANNEL) })
  const calls = makeShares({ each: channelInFlight })

  /** What refuses the order, and whose places it has when nothing does. */
  const take = (organizationId: string, channelId: string): RateLimited | null => {
    const own = `${organizationId} ${channelId}`
    if (!running.tryTake(organizationId)) {
      const bound = `${organizationInFlight} orders running at this gateway`
      return busy(`This organisation may have ${bound}`, null)
    }
    if (!ownCalls.tryTake(own)) {
      running.giveBack(organizationId)
      const bound = "as many orders as it may have at the channel of this model"
      return busy(`This organisation has ${bound}`, "model")
    }
    if (!calls.tryTake(channelId)) {
      running.giveBack(organizationId)
      ownCalls.giveBack(own)
      const bound = "busy with as many orders as it may have"
      return busy(`The channel of this model is ${bound}`, "model")
    }
    return null
  }

  const giveBack = (organizationId: string, channelId: string): void => {
    running.giveBack(organizationId)
    ownCalls.giveBack(`${organizationId} ${channelId}`)
    calls.giveBack(channelId)
  }

  return <A, E, R>(organizationId: string, channelId: string, order: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let isPlaced = false
      const placed = Effect.suspend((): Effect.Effect<A, E | RateLimited, R> => {
        const refused = take(organizationId, channelId)
        isPlaced = refused === null
        return refused === null ? order : Effect.fail(refused)
      })
      return Effect.onExitPrimitive(placed, () => {
        if (isPlaced) giveBack(organizationId, channelId)
        return undefined
      })
    })
})
