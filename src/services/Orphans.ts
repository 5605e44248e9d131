/**
 * Jobs a vendor may have made that no client paid for, and those that are charged without their answer
 * or against the vendor's count: an operator asks the vendor about them.
 */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest, NotFound } from "../domain/Errors.ts"
import { AnswerTrace, ReportedUsage } from "../domain/VendorOutcome.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import { VendorJob } from "./Ledger.ts"

export const OrphanRecord = Schema.Struct({
  /** Of the hold: a task id or image request id. */
  id: Schema.String,
  organizationId: Schema.String,
  job: VendorJob,
  upstreamId: Schema.NullOr(Schema.String),
  reason: Schema.String,
  /** What is known of the vendor's answer that could not be used; null where none came. */
  answer: Schema.NullOr(AnswerTrace),
  /** What the vendor counted of an order that was charged otherwise; null where that is not why. */
  usage: Schema.NullOr(ReportedUsage),
  heldNano: Schema.BigInt,
  /** What the order is charged all the same; 0 where its hold was given back. */
  chargeNano: Schema.BigInt,
  createdAt: Schema.Date,
  /** Since when an operator has seen to it. */
  resolvedAt: Schema.NullOr(Schema.Date),
  note: Schema.NullOr(Schema.String)
})
export type OrphanRecord = typeof OrphanRecord.Type

/** Null is any. */
export interface OrphanFilter {
  /** Whether an operator has seen to it. */
  readonly resolved: boolean
  readonly organizationId: string | null
  readonly channelId: string | null
  readonly reason: string | null
}

export class Orphans extends Context.Service<
  Orphans,
  {
    /** Newest first; either those seen to or the others. */
    list(filter: OrphanFilter, page: PageRequest): Effect.Effect<Page<OrphanRecord>, InvalidRequest>
    /** Marks it as seen to. A repeat keeps the first time, and takes the new note. */
    resolve(id: string, note: string): Effect.Effect<OrphanRecord, NotFound>
  }
>()("gateway/services/Orphans") {}
