/** What every store of places and queues must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { ChannelQueue, type Place } from "../../src/services/channels/ChannelQueue.ts"

let count = 0
const fresh = (name: string): string => {
  count += 1
  return `${name}-${process.pid}-${String(count).padStart(6, "0")}`
}

const placeAt = (channelId: string, organizationId: string): Place => ({
  channelId,
  organizationId,
  orderId: fresh("order")
})

const join = Effect.fnUntraced(function* (place: Place) {
  const queue = yield* ChannelQueue
  yield* queue.join({ ...place, request: Redacted.make(place.orderId), maxWaitSeconds: 60 })
  yield* queue.confirmHold(place.orderId)
})

export const channelQueueSuite = (it: Vitest.MethodsNonLive<ChannelQueue>): void => {
  it.effect("of many orders at once no more get a place than the channel has", () =>
    Effect.gen(function* () {
      const queue = yield* ChannelQueue
      const channel = fresh("channel")
      const places = Array.from({ length: 12 }, () => placeAt(channel, "o"))
      const answers = yield* Effect.forEach(places, (place) => queue.take(place, 5), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        answers.filter((isTaken) => isTaken),
        5
      )
      const first = places[answers.indexOf(true)]
      assert.isDefined(first)
      assert.isTrue(yield* queue.take(first, 5), "a repeat")
      yield* queue.free(first.orderId)
      yield* queue.free(first.orderId)
      assert.isTrue(yield* queue.take(placeAt(channel, "o"), 5))
      assert.isFalse(yield* queue.take(placeAt(channel, "o"), 5))
      const old = yield* queue.places(0)
      assert.lengthOf(
        old.filter(({ channelId }) => channelId === channel),
        5
      )
    })
  )

  it.effect("organisations take turns, and each keeps its sequence", () =>
    Effect.gen(function* () {
      const queue = yield* ChannelQueue
      const channel = fresh("channel")
      const crowd = Array.from({ length: 4 }, () => placeAt(channel, "crowd"))
      const few = Array.from({ length: 2 }, () => placeAt(channel, "few"))
      yield* Effect.forEach([...crowd, ...few], join)
      assert.isFalse(yield* queue.take(placeAt(channel, "late"), 1), "others wait")
      assert.deepStrictEqual(
        yield* Effect.forEach([...crowd, ...few], ({ orderId }) => queue.position(orderId, 1)),
        [1, 3, 5, 6, 2, 4]
      )
      assert.strictEqual(yield* queue.positionOfNew(channel, "late", 1), 3)
      const lengthOf = Effect.map(queue.lengths, (lengths) =>
        lengths.find(({ channelId }) => channelId === channel)
      )
      const length = yield* lengthOf
      assert.strictEqual(length?.orders, 6)
      assert.isAtLeast(length?.oldestSeconds ?? -1, 0)
      const claimedIds: Array<string> = []
      for (let n = 0; n < 6; n++) {
        const next = yield* queue.next(channel, 1)
        assert.isTrue(Option.isSome(next))
        const { orderId, request } = Option.getOrThrow(next)
        assert.strictEqual(request === null ? null : Redacted.value(request), orderId)
        assert.isTrue(Option.isNone(yield* queue.next(channel, 1)), "the channel is full")
        // An order with a place does not wait for one, although it is submitted only now.
        assert.strictEqual((yield* lengthOf)?.orders ?? 0, 5 - n)
        claimedIds.push(orderId)
        yield* queue.leave(orderId)
        yield* queue.free(orderId)
      }
      const ids = [crowd[0], few[0], crowd[1], few[1], crowd[2], crowd[3]]
      assert.deepStrictEqual(
        claimedIds,
        ids.map((place) => place?.orderId ?? "")
      )
      assert.isNull(yield* queue.position(claimedIds[0] ?? "", 1))
      assert.isNull(yield* queue.positionOfNew(channel, "late", 1))
    })
  )

  it.effect.each([1, 2, 3])(
    "with %i places the positions are the turns of the claims",
    (maxTasks) =>
      Effect.gen(function* () {
        const queue = yield* ChannelQueue
        const channel = fresh("channel")
        const earlier = Array.from({ length: maxTasks }, () => placeAt(channel, "crowd"))
        for (const place of earlier) assert.isTrue(yield* queue.take(place, maxTasks))
        const orders = ["crowd", "crowd", "few", "crowd", "one", "crowd", "few", "crowd"].map(
          (organizationId) => placeAt(channel, organizationId)
        )
        const places = [...earlier]
        const claimedIds: Array<string> = []
        const claimNext = Effect.gen(function* () {
          const oldest = places.shift()
          if (oldest !== undefined) yield* queue.free(oldest.orderId)
          const place = Option.getOrThrow(yield* queue.next(channel, maxTasks))
          assert.strictEqual(yield* queue.position(place.orderId, maxTasks), 1, "it has its place")
          yield* queue.leave(place.orderId)
          places.push(place)
          claimedIds.push(place.orderId)
        })
        yield* Effect.forEach(orders, (order, index) =>
          Effect.gen(function* () {
            const expected = yield* queue.positionOfNew(channel, order.organizationId, maxTasks)
            yield* join(order)
            assert.strictEqual(yield* queue.position(order.orderId, maxTasks), expected)
            // Turns that are over decide who is next.
            if (index === 3) yield* claimNext
          })
        )
        const left = orders.filter(({ orderId }) => !claimedIds.includes(orderId))
        const positions = new Map<string, number | null>()
        for (const { orderId } of left) {
          positions.set(orderId, yield* queue.position(orderId, maxTasks))
        }
        claimedIds.length = 0
        for (const _ of left) yield* claimNext
        assert.deepStrictEqual(
          claimedIds.map((id) => positions.get(id)),
          left.map((_, index) => index + 1)
        )
      })
  )

  it.effect("an order that is put back is the next of its organisation, after its pause", () =>
    Effect.gen(function* () {
      const queue = yield* ChannelQueue
      const channel = fresh("channel")
      const [first, second, other] = [
        placeAt(channel, "one"),
        placeAt(channel, "one"),
        placeAt(channel, "other")
      ]
      yield* Effect.forEach([first, second, other], join)
      assert.strictEqual(Option.getOrThrow(yield* queue.next(channel, 5)).orderId, first.orderId)
      yield* queue.putBack(first.orderId, 60)
      const next = Option.getOrThrow(yield* queue.next(channel, 5))
      assert.strictEqual(next.orderId, other.orderId)
      assert.isTrue(Option.isNone(yield* queue.next(channel, 5)), "its successor waits behind it")
      yield* queue.putBack(first.orderId, 0)
      const ids = [yield* queue.next(channel, 5), yield* queue.next(channel, 5)]
      assert.deepStrictEqual(
        ids.map((claimedIds) => Option.getOrThrow(claimedIds).orderId),
        [first.orderId, second.orderId]
      )
      assert.include(yield* queue.channels, channel)
    })
  )

  it.effect("an order without a hold has no turn, and keeps no other from its own", () =>
    Effect.gen(function* () {
      const queue = yield* ChannelQueue
      const channel = fresh("channel")
      const [unheld, next, other] = [
        placeAt(channel, "one"),
        placeAt(channel, "one"),
        placeAt(channel, "other")
      ]
      yield* queue.join({ ...unheld, request: Redacted.make("x"), maxWaitSeconds: 60 })
      assert.isNull(yield* queue.positionOfNew(channel, "one", 1))
      assert.isTrue(yield* queue.take(other, 1), "nothing waits for the place")
      yield* queue.free(other.orderId)
      yield* join(next)
      assert.isNull(yield* queue.position(unheld.orderId, 1))
      assert.strictEqual(yield* queue.position(next.orderId, 1), 1)
      assert.strictEqual(Option.getOrThrow(yield* queue.next(channel, 5)).orderId, next.orderId)
      assert.isTrue(Option.isNone(yield* queue.next(channel, 5)))
      const unconfirmed = (yield* queue.unconfirmed(0)).filter(
        ({ channelId }) => channelId === channel
      )
      assert.deepStrictEqual(
        unconfirmed.map(({ orderId }) => orderId),
        [unheld.orderId]
      )
      assert.isEmpty(yield* queue.unconfirmed(3600))
      yield* queue.confirmHold(unheld.orderId)
      assert.strictEqual(Option.getOrThrow(yield* queue.next(channel, 5)).orderId, unheld.orderId)
    })
  )

  it.effect("an order has expired when its time to wait is over", () =>
    Effect.gen(function* () {
      const queue = yield* ChannelQueue
      const place = placeAt(fresh("channel"), "o")
      yield* queue.join({ ...place, request: Redacted.make("x"), maxWaitSeconds: 0 })
      assert.deepInclude(yield* queue.expired, place)
      yield* queue.leave(place.orderId)
      assert.notDeepInclude(yield* queue.expired, place)
    })
  )
}
