/**
 * Orphans: orders that an operator has to clarify with their vendor, because the vendor may have
 * completed a job that no client paid for, or because the order was charged without a usable
 * response or against the vendor's count. An orphan is written in the commit that closes its order.
 */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest, NotFound } from "../domain/Errors.ts"
import { AnswerTrace, ReportedUsage } from "../domain/VendorOutcome.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import { VendorJob } from "./Ledger.ts"

export const OrphanRecord = Schema.Struct({
  /** The id of the order: a task, an image request or a text request. */
  id: Schema.String,
  organizationId: Schema.String,
  job: VendorJob,
  upstreamId: Schema.NullOr(Schema.String),
  reason: Schema.String,
  /** The trace of the vendor response that could not be used; null where no response arrived. */
  answer: Schema.NullOr(AnswerTrace),
  /**
   * The usage that the vendor reported. Set only where that usage is implausible, so that the order
   * was charged by another count; otherwise null.
   */
  usage: Schema.NullOr(ReportedUsage),
  heldNano: Schema.BigInt,
  /** The charge of the order, taken despite the doubt; 0 where its hold was released. */
  chargeNano: Schema.BigInt,
  createdAt: Schema.Date,
  /** When an operator resolved the orphan; null before that. */
  resolvedAt: Schema.NullOr(Schema.Date),
  note: Schema.NullOr(Schema.String)
})
export type OrphanRecord = typeof OrphanRecord.Type

/** Filter of the list. A null field matches every value. */
export interface OrphanFilter {
  /** Whether an operator has resolved the orphan. */
  readonly isResolved: boolean
  readonly organizationId: string | null
  readonly channelId: string | null
  readonly reason: string | null
}

export class Orphans extends Context.Service<
  Orphans,
  {
    /**
     * Lists newest first. Fails with `InvalidRequest` where `page.after` is not the id of an
     * orphan.
     */
    list(filter: OrphanFilter, page: PageRequest): Effect.Effect<Page<OrphanRecord>, InvalidRequest>
    /**
     * Marks the orphan as resolved. A repeat keeps the time of the first call and replaces the
     * note. Fails with `NotFound` where no order with this id has an orphan.
     */
    resolve(id: string, note: string): Effect.Effect<OrphanRecord, NotFound>
  }
>()("gateway/services/Orphans") {}
