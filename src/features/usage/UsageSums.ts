/**
 * Sums of usage by time. The sums are written in the commits that close and correct orders, so they
 * always agree with the records, and the time to read them does not depend on the number of
 * records.
 */
import { Context, type Effect, Schema } from "effect"
import type { SumGroup, SumStep } from "../../domain/money/usageSums.ts"

/** Conditions on the orders in a sum; null matches all. */
export interface SumFilter {
  readonly organizationId: string | null
  readonly memberId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly channelId: string | null
  /** Orders with the tag; a value of null matches every value. */
  readonly tag: { readonly name: string; readonly value: string | null } | null
}

export interface SumQuery {
  /** Null: one sum over the complete time. */
  readonly step: SumStep | null
  readonly by: SumGroup | null
  /** Any moment within the first hour, day or month. */
  readonly from: Date
  /** Hours, days and months that begin at this moment or later are excluded. */
  readonly to: Date
  readonly filter: SumFilter
  /** The cursor: only rows whose name sorts after this one; null for all rows. */
  readonly afterName: string | null
  readonly limit: number
}

/**
 * A sum of usage. An order counts at the time it was placed, a correction at the time it was made.
 * Amounts are nano-units.
 */
export const UsageSum = Schema.Struct({
  start: Schema.Date,
  /** The name of the group; empty if there are no groups. */
  name: Schema.String,
  /** The number of charges. */
  count: Schema.Int,
  /** The number of orders that ended without a charge. */
  failed: Schema.Int,
  chargeNano: Schema.BigIntFromString,
  /** The vendors' bill for the charges with a known cost. */
  costNano: Schema.BigIntFromString,
  /** The number of charges with an unknown cost. */
  withoutCost: Schema.Int,
  /** What vendors themselves report to bill, at the mounts' prices. */
  reportedCostNano: Schema.BigIntFromString,
  /** The number of charges without such a report, or without its price. */
  withoutReportedCost: Schema.Int,
  /** The sum of corrections. */
  returnedNano: Schema.BigIntFromString,
  /** The charged units. */
  tokens: Schema.BigIntFromString,
  seconds: Schema.BigIntFromString,
  images: Schema.BigIntFromString,
  clips: Schema.BigIntFromString,
  characters: Schema.BigIntFromString,
  searches: Schema.BigIntFromString
})
export type UsageSum = typeof UsageSum.Type

export class UsageSums extends Context.Service<
  UsageSums,
  {
    /** Reads the sums in order of time and name; a group without orders has no row. */
    read(query: SumQuery): Effect.Effect<ReadonlyArray<UsageSum>>
  }
>()("gateway/features/usage/UsageSums") {}
