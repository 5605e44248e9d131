/** Places and queues of channels in memory. */
import { Clock, Effect, Latch, Layer, Option } from "effect"
import { positionOf } from "../../domain/queuePlace.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  ChannelQueue,
  type ClaimedOrder,
  type NewWaitingOrder,
  type Place,
  type SweptPlace
} from "../../services/channels/ChannelQueue.ts"

interface WaitingOrder extends NewWaitingOrder {
  readonly joinedAt: number
  readonly expiresAt: number
  hasHold: boolean
  nextTryAt: number
}

interface TakenPlace extends Place {
  readonly takenAt: number
}

const isOfSame = (
  one: Pick<Place, "organizationId">,
  other: Pick<Place, "organizationId">
): boolean => one.organizationId === other.organizationId

const placeOf = ({ channelId, organizationId, orderId }: Place): Place => ({
  channelId,
  organizationId,
  orderId
})

/** The places that are at least `seconds` old. */
const swept = <A extends Place>(
  places: ReadonlyArray<A>,
  startOf: (place: A) => number,
  now: number,
  seconds: number
): ReadonlyArray<SweptPlace> =>
  places
    .map((place) => ({ ...placeOf(place), ageSeconds: (now - startOf(place)) / 1000 }))
    .filter(({ ageSeconds }) => ageSeconds >= seconds)

export const layerChannelQueueMemory = Layer.effect(
  ChannelQueue,
  Effect.gen(function* () {
    const { leaseSeconds, submitDeadlineSeconds } = yield* Settings
    const places = new Map<string, TakenPlace>()
    const waitingOrders = new Map<string, WaitingOrder>()
    const turns = new Map<string, number>()
    let turnCount = 0
    const changes = yield* Latch.make(false)

    const turnKey = ({ channelId, organizationId }: Omit<Place, "orderId">): string =>
      JSON.stringify([channelId, organizationId])
    const lastTurnOf = (order: Omit<Place, "orderId">): number => turns.get(turnKey(order)) ?? 0
    /** The places of the channel, the oldest one first. */
    const placesAt = (channelId: string) =>
      [...places.values()].filter((place) => place.channelId === channelId)
    const queuedOrders = () => [...waitingOrders.values()].filter(({ hasHold }) => hasHold)
    const waitingAt = (channelId: string) =>
      queuedOrders()
        .filter((order) => order.channelId === channelId)
        .toSorted((one, other) => (one.orderId < other.orderId ? -1 : 1))
    const isFull = (channelId: string, maxTasks: number): boolean =>
      placesAt(channelId).length >= maxTasks
    const placesOf = (order: Place): number =>
      placesAt(order.channelId).filter(
        ({ organizationId }) => organizationId === order.organizationId
      ).length

    const isBehind = (order: Place): boolean =>
      waitingAt(order.channelId).some(
        (other) =>
          other.organizationId === order.organizationId &&
          other.orderId < order.orderId &&
          !places.has(other.orderId)
      )

    const candidate = (channelId: string, now: number): WaitingOrder | undefined =>
      waitingAt(channelId)
        .filter((order) => order.nextTryAt <= now)
        .filter((order) => places.has(order.orderId) || !isBehind(order))
        .toSorted(
          (one, other) =>
            Number(places.has(other.orderId)) - Number(places.has(one.orderId)) ||
            placesOf(one) - placesOf(other) ||
            lastTurnOf(one) - lastTurnOf(other)
        )[0]

    const claim = (channelId: string, maxTasks: number, now: number) => {
      const order = candidate(channelId, now)
      if (order === undefined) return Option.none<ClaimedOrder>()
      const { organizationId, orderId, request } = order
      if (!places.has(orderId)) {
        if (isFull(channelId, maxTasks)) return Option.none<ClaimedOrder>()
        places.set(orderId, { channelId, organizationId, orderId, takenAt: now })
        turnCount += 1
        turns.set(turnKey(order), turnCount)
      }
      order.nextTryAt = now + (leaseSeconds + submitDeadlineSeconds) * 1000
      return Option.some<ClaimedOrder>({ channelId, organizationId, orderId, request })
    }

    /** The orders that wait for a place, without those that have theirs already. */
    const withoutPlace = (channelId: string) =>
      waitingAt(channelId).filter(({ orderId }) => !places.has(orderId))

    /** The position of the last of these orders in the sequence of its organisation. */
    const positionAmong = (
      orders: ReadonlyArray<Omit<Place, "orderId">>,
      { channelId, organizationId }: Omit<Place, "orderId">,
      rank: number,
      maxTasks: number
    ): number => {
      const organizations = [...Map.groupBy(orders, (order) => order.organizationId)]
        .map(([organizationId, { length }]) => ({ channelId, organizationId, waiting: length }))
        .toSorted((one, other) => lastTurnOf(one) - lastTurnOf(other))
      const holders = placesAt(channelId).map((place) => place.organizationId)
      return positionOf({ organizations, places: holders }, maxTasks, { organizationId, rank })
    }

    return ChannelQueue.of({
      take: (place, maxTasks) =>
        Effect.map(Clock.currentTimeMillis, (takenAt) => {
          const { channelId, orderId } = place
          if (places.has(orderId)) return true
          if (waitingAt(channelId).length > 0 || isFull(channelId, maxTasks)) return false
          places.set(orderId, { ...place, takenAt })
          return true
        }),
      free: (orderId) =>
        Effect.tap(
          Effect.sync(() => void places.delete(orderId)),
          changes.open
        ),
      changed: Effect.tap(changes.await, changes.close),
      join: (order) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (waitingOrders.has(order.orderId)) return
          const expiresAt = now + order.maxWaitSeconds * 1000
          waitingOrders.set(order.orderId, {
            ...order,
            joinedAt: now,
            expiresAt,
            hasHold: false,
            nextTryAt: now
          })
        }),
      confirmHold: (orderId) =>
        Effect.sync(() => {
          const order = waitingOrders.get(orderId)
          if (order !== undefined) order.hasHold = true
          changes.openUnsafe()
        }),
      leave: (orderId) => Effect.sync(() => void waitingOrders.delete(orderId)),
      next: (channelId, maxTasks) =>
        Effect.map(Clock.currentTimeMillis, (now) => claim(channelId, maxTasks, now)),
      putBack: (orderId, seconds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const order = waitingOrders.get(orderId)
          if (order !== undefined) order.nextTryAt = now + seconds * 1000
          places.delete(orderId)
        }),
      position: (orderId, maxTasks) =>
        Effect.sync(() => {
          const order = waitingOrders.get(orderId)
          if (order?.hasHold !== true) return null
          if (places.has(orderId)) return 1
          const orders = withoutPlace(order.channelId)
          const rank = orders.filter((one) => isOfSame(one, order) && one.orderId <= orderId).length
          return positionAmong(orders, order, rank, maxTasks)
        }),
      positionOfNew: (channelId, organizationId, maxTasks) =>
        Effect.sync(() => {
          if (waitingAt(channelId).length === 0 && !isFull(channelId, maxTasks)) return null
          const newOrder = { channelId, organizationId }
          const orders = [...withoutPlace(channelId), newOrder]
          const rank = orders.filter((one) => isOfSame(one, newOrder)).length
          return positionAmong(orders, newOrder, rank, maxTasks)
        }),
      channels: Effect.sync(() => [...new Set(queuedOrders().map(({ channelId }) => channelId))]),
      lengths: Effect.map(Clock.currentTimeMillis, (now) => {
        const orders = queuedOrders().filter(({ orderId }) => !places.has(orderId))
        return [...Map.groupBy(orders, ({ channelId }) => channelId)].map(
          ([channelId, ofChannel]) => ({
            channelId,
            orders: ofChannel.length,
            oldestSeconds: (now - Math.min(...ofChannel.map(({ joinedAt }) => joinedAt))) / 1000
          })
        )
      }),
      expired: Effect.map(Clock.currentTimeMillis, (now) =>
        [...waitingOrders.values()].filter(({ expiresAt }) => expiresAt <= now).map(placeOf)
      ),
      places: (seconds) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          swept([...places.values()], ({ takenAt }) => takenAt, now, seconds)
        ),
      unconfirmed: (seconds) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          swept(
            [...waitingOrders.values()].filter(({ hasHold }) => !hasHold),
            ({ joinedAt }) => joinedAt,
            now,
            seconds
          )
        )
    })
  })
)
