/**
 * The places of channels with a maximum number of tasks, and the orders that wait for a place, over
 * all gateways. A place is taken before the hold of an order, and freed after the order has ended.
 */
import { Context, type Effect, type Option, type Redacted, Schema } from "effect"

/** A place at a channel, of one order. */
export const Place = Schema.Struct({
  channelId: Schema.String,
  organizationId: Schema.String,
  orderId: Schema.String
})
export type Place = typeof Place.Type

/** The failure of a task that got no place within the time for which its order may wait. */
export const waitedTooLong = {
  errorCode: "max_wait_exceeded",
  errorMessage: "The channel of the model had no place within max_wait"
} as const

/**
 * The time after which an order in a queue, or with a place, and without a hold is dropped: its
 * gateway died before the hold, or the hold was refused.
 */
export const UNHELD_SECONDS = 60

export interface NewWaitingOrder extends Place {
  /** The order for the vendor as JSON. It has the prompt, and is stored encrypted. */
  readonly request: Redacted.Redacted
  readonly maxWaitSeconds: number
}

/** A place, or an order without a hold, as a sweep looks at it. */
export const SweptPlace = Schema.Struct({
  ...Place.fields,
  /** Seconds since the place was taken, or since the order joined the queue. */
  ageSeconds: Schema.Number
})
export type SweptPlace = typeof SweptPlace.Type

/** An order that has a place and is to be submitted. */
export interface ClaimedOrder extends Place {
  /** Null where no available master key decrypts the stored order. */
  readonly request: Redacted.Redacted | null
}

/** The orders that wait for a place at a channel. */
export const QueueLength = Schema.Struct({
  channelId: Schema.String,
  orders: Schema.Int,
  /** Seconds for which the oldest of them has waited. */
  oldestSeconds: Schema.Number
})
export type QueueLength = typeof QueueLength.Type

export class ChannelQueue extends Context.Service<
  ChannelQueue,
  {
    /**
     * Takes a place for an order that is submitted at once. False where the channel has `maxTasks`
     * tasks, or other orders wait for it. A repeat changes nothing.
     */
    take(place: Place, maxTasks: number): Effect.Effect<boolean>
    /** Frees the place of an order; a repeat changes nothing. */
    free(orderId: string): Effect.Effect<void>
    /** Waits until this process has freed a place or confirmed a hold since the last wait. */
    readonly changed: Effect.Effect<void>
    /** Adds an order to the queue of its channel. It takes no turn until its hold is confirmed. */
    join(order: NewWaitingOrder): Effect.Effect<void>
    /** Lets an order take its turns, now that its hold is written. */
    confirmHold(orderId: string): Effect.Effect<void>
    /** Removes an order from the queue, where it still waits. */
    leave(orderId: string): Effect.Effect<void>
    /**
     * Claims the next order of a queue with a place for it. The orders of an organisation keep their
     * sequence, and organisations take turns. None where the channel is full or nothing waits.
     */
    next(channelId: string, maxTasks: number): Effect.Effect<Option.Option<ClaimedOrder>>
    /** Frees the place of a claimed order, which is claimed again after this many seconds. */
    putBack(orderId: string, seconds: number): Effect.Effect<void>
    /**
     * The turn in which the order gets a place, by `positionOf`: 1 for the next one, and for one that
     * has its place and is about to be submitted; null where the order does not wait. Pauses of
     * orders that are tried again do not count. The cost grows with the queue of the channel.
     */
    position(orderId: string, maxTasks: number): Effect.Effect<number | null>
    /** The position that a new order of the organisation would have; null where it would not wait. */
    positionOfNew(
      channelId: string,
      organizationId: string,
      maxTasks: number
    ): Effect.Effect<number | null>
    /** The channels that orders wait for. */
    readonly channels: Effect.Effect<ReadonlyArray<string>>
    /** The orders without a place, of each channel that has any. */
    readonly lengths: Effect.Effect<ReadonlyArray<QueueLength>>
    /** Orders whose time to wait is over. */
    readonly expired: Effect.Effect<ReadonlyArray<Place>>
    /**
     * All places that were taken at least `seconds` ago, for a check whether their orders have
     * ended.
     */
    places(seconds: number): Effect.Effect<ReadonlyArray<SweptPlace>>
    /** Orders that joined at least `seconds` ago, and whose holds are not confirmed. */
    unconfirmed(seconds: number): Effect.Effect<ReadonlyArray<SweptPlace>>
  }
>()("gateway/services/ChannelQueue") {}
