/**
 * The state of channels that gateways share through the database: cooldowns, and the results of
 * recent calls.
 */
import { Context, type Effect, Schema } from "effect"
import type { CooldownScope, OrganizationEnds } from "../../domain/channelCooldowns.ts"

/**
 * The target of a cooldown: a channel, one of its models, or one of its keys. A cooldown applies to
 * the orders of all organisations, or to the orders of one.
 */
export interface CooldownTarget extends CooldownScope {
  readonly channelId: string
  /** The key that cools down; null where the channel or a model cools down. */
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
  /** The model that cools down; null for the whole channel. */
  model: Schema.NullOr(Schema.String),
  /** The only organisation whose orders are refused; null for every organisation. */
  organizationId: Schema.NullOr(Schema.String),
  /**
   * For a cooldown of one organisation: true where no other organisation has recent calls in the
   * same scope, so that nothing shows whether the vendor works for others.
   */
  isAlone: Schema.Boolean,
  /** Seconds until a trial call is allowed; 0 from then on. */
  secondsLeft: Schema.Number,
  /** The whole duration of this cooldown. */
  seconds: Schema.Number,
  /** The start of the first cooldown after the last successful call. */
  since: Schema.Date,
  reason: Schema.String,
  /** The HTTP status of the vendor's response; null where there was no response. */
  status: Schema.NullOr(Schema.Int)
})
export type Cooldown = typeof Cooldown.Type

/** A counter of a channel, such as the number of calls with one kind of result. */
export const ChannelCount = Schema.Struct({
  channelId: Schema.String,
  name: Schema.String,
  count: Schema.Number
})
export type ChannelCount = typeof ChannelCount.Type

/** The results of an organisation's calls for a model of a channel. */
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
  /** The counters of the last hour. */
  readonly counts: ReadonlyArray<ChannelCount>
  /** The last failure of each channel. */
  readonly failures: ReadonlyArray<ChannelFailure>
}

export type CooldownCause = Pick<Cooldown, "reason" | "status" | "isAlone">

/** Only calls that ended within this time are counted when a cooldown is decided. */
export const WINDOW_SECONDS = 60
/**
 * After this time, a trial call without a result loses its claim, and another call may be the
 * trial.
 */
export const TRIAL_SECONDS = 60
/**
 * After this time without a result, another organisation may make a trial call too, because the
 * first trial call may hang for a long time.
 */
export const TRIAL_HEAD_START_SECONDS = 5

export class ChannelRecords extends Context.Service<
  ChannelRecords,
  {
    /** Adds the counts of one gateway. */
    add(batch: {
      readonly counts: ReadonlyArray<ChannelCount>
      readonly ends: ReadonlyArray<CallEnds>
      readonly failures: ReadonlyArray<ChannelFailure>
    }): Effect.Effect<void>
    /**
     * The results of the calls of these channels within the last minute. Calls that were made
     * before the last cooldown of their model or organisation ended are left out.
     */
    latestEnds(channelIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<CallEnds>>
    /** All current cooldowns. */
    readonly cooldowns: Effect.Effect<ReadonlyArray<Cooldown>>
    /**
     * Begins a cooldown of `min` seconds. After a failed trial call, the cooldown lasts twice as
     * long as the previous one, up to `max` seconds. A target that is already cooling down is not
     * changed.
     */
    beginCooldown(
      target: CooldownTarget,
      cause: CooldownCause,
      seconds: { readonly min: number; readonly max: number }
    ): Effect.Effect<void>
    /**
     * Claims the trial call of a cooldown; true for the one caller that may make it. `by` is the
     * organisation of its order.
     */
    takeTrial(target: CooldownTarget, by: string | null): Effect.Effect<boolean>
    /**
     * Ends a failed trial call of a cooldown that applies to all organisations. Where a trial of
     * another organisation failed before, this begins a cooldown of twice the duration and returns
     * true. Otherwise another organisation may make a trial immediately.
     */
    failTrial(target: CooldownTarget, by: string, mostSeconds: number): Effect.Effect<boolean>
    /**
     * Releases the claim of a trial call without a result, so that the next call may be the trial.
     */
    giveTrialBack(target: CooldownTarget): Effect.Effect<void>
    endCooldown(target: CooldownTarget): Effect.Effect<void>
    /**
     * Sets `isAlone` to false, because another organisation uses the channel successfully: the
     * cooldown continues for its own organisation only.
     */
    contradict(target: CooldownTarget): Effect.Effect<void>
    readonly hour: Effect.Effect<ChannelHour>
    /** The number of running tasks, by channel. */
    readonly openTasks: Effect.Effect<ReadonlyMap<string, number>>
  }
>()("gateway/services/ChannelRecords") {}
