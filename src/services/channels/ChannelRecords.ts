/** What gateways that share a database tell each other of channels: what rests, and how calls ended. */
import { Context, type Effect, Schema } from "effect"
import type { CooldownScope, OrganizationEnds } from "../../domain/channelCooldowns.ts"

/** A channel or a model of it, for all organisations or for one of them; or one of its keys. */
export interface CooldownTarget extends CooldownScope {
  readonly channelId: string
  /** Null is the channel itself. */
  readonly keyName: string | null
}

export const keyTarget = (channelId: string, keyName: string): CooldownTarget => ({
  channelId,
  keyName,
  model: null,
  organizationId: null
})

export const Cooldown = Schema.Struct({
  channelId: Schema.String,
  keyName: Schema.NullOr(Schema.String),
  /** Null is the whole channel. */
  model: Schema.NullOr(Schema.String),
  /** Whose orders alone are refused; null is everybody's. */
  organizationId: Schema.NullOr(Schema.String),
  /** Nobody but this organisation orders there: for all that is known its vendor fails for everybody. */
  isAlone: Schema.Boolean,
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
export type Cooldown = typeof Cooldown.Type

/** How often something was at a channel, such as an end of a call. */
export const ChannelCount = Schema.Struct({
  channelId: Schema.String,
  name: Schema.String,
  count: Schema.Number
})
export type ChannelCount = typeof ChannelCount.Type

/** How an organisation's calls for a model of a channel ended. */
export interface CallEnds extends OrganizationEnds {
  readonly channelId: string
}

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

/** What has to be known of a rest when it begins. */
export type CooldownCause = Pick<Cooldown, "reason" | "status" | "isAlone">

/** How long ends of calls tell whether a channel is failing. */
export const WINDOW_SECONDS = 60
/** One that tries and is not heard of again has stopped. */
export const TRIAL_SECONDS = 60
/** For so long a trial keeps other organisations from trying as well: its order may be one that hangs. */
export const TRIAL_HEAD_START_SECONDS = 5

export class ChannelRecords extends Context.Service<
  ChannelRecords,
  {
    /** Adds to what is known of channels. */
    add(counted: {
      readonly counts: ReadonlyArray<ChannelCount>
      readonly ends: ReadonlyArray<CallEnds>
      readonly failures: ReadonlyArray<ChannelFailure>
    }): Effect.Effect<void>
    /**
     * How the calls of the channels ended within the last minute, as far as they ended after the last
     * rest of their model or organisation.
     */
    latestEnds(channelIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<CallEnds>>
    /** All that rest. */
    readonly cooldowns: Effect.Effect<ReadonlyArray<Cooldown>>
    /**
     * Lets it rest for `least` seconds, or where it was tried in vain for twice as long as before, up
     * to `most`. One that rests already is left as it is.
     */
    beginCooldown(
      of: CooldownTarget,
      why: CooldownCause,
      seconds: { readonly least: number; readonly most: number }
    ): Effect.Effect<void>
    /** True for the one caller who shall try what has rested. `by` is the organisation it tries for. */
    takeTrial(of: CooldownTarget, by: string | null): Effect.Effect<boolean>
    /**
     * The organisation's trial of what rests for all has failed. Only after one of another organisation
     * does it rest again, for twice as long, and true is answered: until then others may try at once.
     */
    failTrial(of: CooldownTarget, by: string, mostSeconds: number): Effect.Effect<boolean>
    /** The trial told nothing: the next one may have it. */
    giveTrialBack(of: CooldownTarget): Effect.Effect<void>
    endCooldown(of: CooldownTarget): Effect.Effect<void>
    /** The rest goes on for its organisation; the orders of others are made there. */
    contradict(of: CooldownTarget): Effect.Effect<void>
    readonly hour: Effect.Effect<ChannelHour>
    /** How many tasks run at each channel that has any. */
    readonly openTasks: Effect.Effect<ReadonlyMap<string, number>>
  }
>()("gateway/services/ChannelRecords") {}
