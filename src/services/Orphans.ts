/** Jobs a vendor may have made that nobody paid for: an operator asks the vendor about them. */
import { Context, type Effect } from "effect"
import type { InvalidRequest, NotFound } from "../domain/Errors.ts"
import type { AnswerTrace } from "../domain/VendorOutcome.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import type { VendorJob } from "./Ledger.ts"

export interface OrphanRecord {
  /** Of the hold: a task id or image request id. */
  readonly id: string
  readonly organizationId: string
  readonly job: VendorJob
  readonly upstreamId: string | null
  readonly reason: string
  /** What is known of the vendor's answer that could not be used; null where none came. */
  readonly answer: AnswerTrace | null
  readonly heldNano: bigint
  readonly createdAt: Date
  /** Since when an operator has seen to it. */
  readonly resolvedAt: Date | null
  readonly note: string | null
}

export class Orphans extends Context.Service<
  Orphans,
  {
    /** Of all organisations, newest first; either those seen to or the others. */
    list(resolved: boolean, page: PageRequest): Effect.Effect<Page<OrphanRecord>, InvalidRequest>
    /** Marks it as seen to. A repeat keeps the first time, and takes the new note. */
    resolve(id: string, note: string): Effect.Effect<OrphanRecord, NotFound>
  }
>()("gateway/services/Orphans") {}
