/** What gateways that share a database tell each other of channels: what rests, and how calls ended. */
import { Context, type Effect, Schema } from "effect"

/** A channel, or one of its keys. */
export interface Restable {
  readonly channelId: string
  /** Null is the channel itself. */
  readonly keyName: string | null
}

export const Rest = Schema.Struct({
  channelId: Schema.String,
  keyName: Schema.NullOr(Schema.String),
  /** Until it may be tried again; 0 when it may. */
  secondsLeft: Schema.Number,
  /** How long it is. */
  seconds: Schema.Number,
  /** Since it was well. */
  since: Schema.Date,
  reason: Schema.String,
  /** The vendor's, where it answered. */
  status: Schema.NullOr(Schema.Int)
})
export type Rest = typeof Rest.Type

/** How often something was at a channel, such as an end of a call. */
export const ChannelCount = Schema.Struct({
  channelId: Schema.String,
  name: Schema.String,
  count: Schema.Number
})
export type ChannelCount = typeof ChannelCount.Type

export const ChannelFailure = Schema.Struct({
  channelId: Schema.String,
  at: Schema.Date,
  reason: Schema.String,
  status: Schema.NullOr(Schema.Int),
  /** The vendor's words, without credentials and prompts. */
  message: Schema.String
})
export type ChannelFailure = typeof ChannelFailure.Type

export interface ChannelHour {
  /** Of the last hour. */
  readonly counts: ReadonlyArray<ChannelCount>
  /** The last one of each channel. */
  readonly failures: ReadonlyArray<ChannelFailure>
}

/** How long counts tell whether a channel is failing. */
export const WINDOW_SECONDS = 60
/** One that tries and is not heard of again has stopped. */
export const TRIAL_SECONDS = 60

export class ChannelRecords extends Context.Service<
  ChannelRecords,
  {
    /**
     * Adds to the counts, and answers those of the same channels' last minute, as far as it came after
     * their last rest.
     */
    add(
      counts: ReadonlyArray<ChannelCount>,
      failures: ReadonlyArray<ChannelFailure>
    ): Effect.Effect<ReadonlyArray<ChannelCount>>
    /** All that rest. */
    readonly rests: Effect.Effect<ReadonlyArray<Rest>>
    /**
     * Lets it rest for `least` seconds, or where it was tried in vain for twice as long as before, up
     * to `most`. One that rests already is left as it is.
     */
    beginRest(
      of: Restable,
      why: Pick<Rest, "reason" | "status">,
      seconds: { readonly least: number; readonly most: number }
    ): Effect.Effect<void>
    /** True for the one caller who shall try what has rested. */
    takeTrial(of: Restable): Effect.Effect<boolean>
    /** The trial told nothing: the next one may have it. */
    giveTrialBack(of: Restable): Effect.Effect<void>
    endRest(of: Restable): Effect.Effect<void>
    readonly hour: Effect.Effect<ChannelHour>
    /** How many tasks run at each channel that has any. */
    readonly openTasks: Effect.Effect<ReadonlyMap<string, number>>
  }
>()("gateway/services/ChannelRecords") {}
