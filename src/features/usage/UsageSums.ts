/**
 * What orders came to, summed up by time. The sums are kept in the commits that close and correct
 * orders, so that they are the records' at every moment and cost the same however many those are.
 */
import { Context, type Effect, Schema } from "effect"
import type { SumGroup, SumStep } from "../../domain/money/usageSums.ts"

/** Null is any. */
export interface SumFilter {
  readonly organizationId: string | null
  readonly memberId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly channelId: string | null
  /** Orders with such a note, or with this text in it. */
  readonly tag: { readonly name: string; readonly value: string | null } | null
}

export interface SumQuery {
  /** Null takes the whole time as one. */
  readonly step: SumStep | null
  readonly by: SumGroup | null
  /** Of the hour, day or month that it is in. */
  readonly from: Date
  /** What begins then or later does not count. */
  readonly to: Date
  readonly filter: SumFilter
  /** Lines with a later name only; null is all of them. */
  readonly afterName: string | null
  readonly most: number
}

/** An order counts when it was ordered, and what was given back when it was. Amounts are nano-units. */
export const UsageSum = Schema.Struct({
  start: Schema.Date,
  /** Empty where lines are not told apart. */
  name: Schema.String,
  /** Charges. */
  count: Schema.Int,
  /** Orders that ended without a charge. */
  failed: Schema.Int,
  chargeNano: Schema.BigIntFromString,
  /** What vendors bill, of the charges whose cost is known. */
  costNano: Schema.BigIntFromString,
  /** Charges whose cost is not known. */
  withoutCost: Schema.Int,
  /** What was given back of charges. */
  returnedNano: Schema.BigIntFromString,
  /** What was charged for. */
  tokens: Schema.BigIntFromString,
  seconds: Schema.BigIntFromString,
  images: Schema.BigIntFromString
})
export type UsageSum = typeof UsageSum.Type

export class UsageSums extends Context.Service<
  UsageSums,
  {
    /** In order of time and name; what comes to nothing has no line. */
    read(query: SumQuery): Effect.Effect<ReadonlyArray<UsageSum>>
  }
>()("gateway/features/usage/UsageSums") {}
