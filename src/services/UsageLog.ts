/** The usage detail: one record per charge, written with the charge. */
import { Context, type Effect } from "effect"
import type { InvalidRequest } from "../domain/Errors.ts"
import type { Page, PageRequest } from "./Page.ts"

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

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /** Newest first; of one member, or of the whole organisation. */
    list(
      organizationId: string,
      memberId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
  }
>()("gateway/services/UsageLog") {}
