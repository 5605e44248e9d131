/**
 * Orders that an operator has to clear up with their vendor: a job may have been made that no client paid
 * for, or an order is charged without a usable answer or against the vendor's count. An orphan is written
 * in the commit that closes its order.
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
  /** The trace of the vendor's answer that could not be used; null where none came. */
  answer: Schema.NullOr(AnswerTrace),
  /** The vendor's count, where the order was charged otherwise because it is implausible; else null. */
  usage: Schema.NullOr(ReportedUsage),
  heldNano: Schema.BigInt,
  /** The charge of the order in spite of the doubt; 0 where its hold was released. */
  chargeNano: Schema.BigInt,
  createdAt: Schema.Date,
  /** When an operator settled the case. */
  resolvedAt: Schema.NullOr(Schema.Date),
  note: Schema.NullOr(Schema.String)
})
export type OrphanRecord = typeof OrphanRecord.Type

/** A null matches every value. */
export interface OrphanFilter {
  /** Whether an operator settled the case. */
  readonly isResolved: boolean
  readonly organizationId: string | null
  readonly channelId: string | null
  readonly reason: string | null
}

export class Orphans extends Context.Service<
  Orphans,
  {
    /** Lists newest first. Fails with `InvalidRequest` where `page.after` is no orphan. */
    list(filter: OrphanFilter, page: PageRequest): Effect.Effect<Page<OrphanRecord>, InvalidRequest>
    /**
     * Marks the case as settled. A repeat keeps the time of the first call and replaces the note. Fails with
     * `NotFound` where no order of this id left an orphan.
     */
    resolve(id: string, note: string): Effect.Effect<OrphanRecord, NotFound>
  }
>()("gateway/services/Orphans") {}
