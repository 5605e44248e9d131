/** State of channels that gateways share through the database: cooldowns, and the ends of calls. */
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
  /** The only organisation whose orders are refused; null is every organisation. */
  organizationId: Schema.NullOr(Schema.String),
  /** No other organisation orders there, so the vendor may fail for everybody. */
  isAlone: Schema.Boolean,
  /** The time until a trial is allowed; 0 from then on. */
  secondsLeft: Schema.Number,
  /** The duration of this cooldown. */
  seconds: Schema.Number,
  /** The start of the first cooldown since the last success. */
  since: Schema.Date,
  reason: Schema.String,
  /** The HTTP status of the vendor; null where it did not answer. */
  status: Schema.NullOr(Schema.Int)
})
export type Cooldown = typeof Cooldown.Type

/** A counter of a channel, such as the calls with one kind of end. */
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
  /** The vendor's message, without credentials and prompts. */
  message: Schema.String
})
export type ChannelFailure = typeof ChannelFailure.Type

export interface ChannelHour {
  /** Of the last hour. */
  readonly counts: ReadonlyArray<ChannelCount>
  /** The last one of each channel. */
  readonly failures: ReadonlyArray<ChannelFailure>
}

export type CooldownCause = Pick<Cooldown, "reason" | "status" | "isAlone">

/** Older ends of calls do not count for a cooldown. */
export const WINDOW_SECONDS = 60
/** A trial without a result after this time is given to another call. */
export const TRIAL_SECONDS = 60
/** Other organisations may try after this time already, as the order of the trial may hang. */
export const TRIAL_HEAD_START_SECONDS = 5

export class ChannelRecords extends Context.Service<
  ChannelRecords,
  {
    /** Adds the counts of one gateway. */
    add(counted: {
      readonly counts: ReadonlyArray<ChannelCount>
      readonly ends: ReadonlyArray<CallEnds>
      readonly failures: ReadonlyArray<ChannelFailure>
    }): Effect.Effect<void>
    /**
     * Ends of the calls of these channels within the last minute, without those before the end of the last
     * cooldown of their model or organisation.
     */
    latestEnds(channelIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<CallEnds>>
    /** All current cooldowns. */
    readonly cooldowns: Effect.Effect<ReadonlyArray<Cooldown>>
    /**
     * Begins a cooldown of `least` seconds, or after a failed trial one of twice the previous duration, up to
     * `most`. A target that is cooling down already is not changed.
     */
    beginCooldown(
      target: CooldownTarget,
      cause: CooldownCause,
      seconds: { readonly least: number; readonly most: number }
    ): Effect.Effect<void>
    /** True for the one caller that gets the trial. `by` is the organisation of its order. */
    takeTrial(target: CooldownTarget, by: string | null): Effect.Effect<boolean>
    /**
     * Ends a failed trial of a cooldown for all organisations. Where the trial of another organisation failed
     * before, this begins a cooldown of twice the duration and returns true. Otherwise another organisation
     * may try at once.
     */
    failTrial(target: CooldownTarget, by: string, mostSeconds: number): Effect.Effect<boolean>
    /** Ends a trial without a result, so that the next call may have it. */
    giveTrialBack(target: CooldownTarget): Effect.Effect<void>
    endCooldown(target: CooldownTarget): Effect.Effect<void>
    /** Sets `isAlone` to false: the cooldown continues for its organisation, and other orders are sent there. */
    contradict(target: CooldownTarget): Effect.Effect<void>
    readonly hour: Effect.Effect<ChannelHour>
    /** The number of running tasks, by channel. */
    readonly openTasks: Effect.Effect<ReadonlyMap<string, number>>
  }
>()("gateway/services/ChannelRecords") {}
