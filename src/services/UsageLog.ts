/** The usage detail: one record per charge, written with the charge. */
import { Context, type Effect } from "effect"
import { type InvalidRequest, NotFound } from "../domain/Errors.ts"
import type { Quote } from "../domain/money/Quote.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"

export interface UsageRecord {
  readonly id: string
  readonly memberId: string
  readonly model: string
  readonly modality: string
  readonly input: bigint
  readonly output: bigint
  readonly unit: string
  readonly unitPriceNano: bigint
  /** Price of an input token, where input is charged apart; `unitPriceNano` is of output then. */
  readonly inputUnitPriceNano: bigint | null
  readonly chargeNano: bigint
  readonly basis: string
  readonly taskId: string | null
  readonly createdAt: Date
}

/** A line of the journal that belongs to a charge; `amountNano` is positive. */
export interface ReceiptEntry {
  readonly id: string
  readonly kind: "hold" | "capture" | "release"
  readonly amountNano: bigint
  readonly debit: string
  readonly credit: string
  readonly at: Date
}

/** A charge with everything it follows from. */
export interface Receipt {
  readonly record: UsageRecord
  /** Frozen with the hold. */
  readonly quote: Quote
  readonly holdNano: bigint
  /** What was charged above the hold. */
  readonly overageNano: bigint
  /** In time. */
  readonly entries: ReadonlyArray<ReceiptEntry>
}

/** One error for a foreign and an unknown id. */
export const noSuchRecord = new NotFound({ message: "No such usage record" })

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /** Newest first; of one member, or of the whole organisation. */
    list(
      organizationId: string,
      memberId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
    /** Of one member, or of the whole organisation; what belongs to anybody else is not found. */
    receipt(
      organizationId: string,
      memberId: string | null,
      id: string
    ): Effect.Effect<Receipt, NotFound>
  }
>()("gateway/services/UsageLog") {}
