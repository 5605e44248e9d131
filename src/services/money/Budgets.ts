/**
 * What organisations, members and keys may spend in a day, in a month or at all. The ledger decides
 * by them in the commit of each hold. Amounts are nano-units.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { budgetPeriods, budgetScopes } from "../../domain/money/budgets.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const Budget = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  scope: Schema.Literals(budgetScopes),
  /** The organisation, the member or the key. */
  subjectId: Schema.String,
  period: Schema.Literals(budgetPeriods),
  amountNano: Schema.BigInt,
  /** Percents of the amount, each told once in a period. */
  thresholds: Schema.Array(Schema.Int),
  /** The member's monthly cap, which is set with the member. */
  isCap: Schema.Boolean,
  /** What counts in the present period. */
  heldNano: Schema.BigInt,
  capturedNano: Schema.BigInt,
  /** When the present period began, and the next one begins; null where it is all of time. */
  startedAt: Schema.NullOr(Schema.Date),
  resetsAt: Schema.NullOr(Schema.Date),
  createdAt: Schema.Date
})
export type Budget = typeof Budget.Type

export type NewBudget = Pick<
  Budget,
  "organizationId" | "scope" | "subjectId" | "period" | "amountNano" | "thresholds"
>

/** A field that is left out or undefined stays as it is. */
export interface BudgetChange {
  readonly amountNano?: bigint | undefined
  readonly thresholds?: ReadonlyArray<number> | undefined
}

export class Budgets extends Context.Service<
  Budgets,
  {
    /**
     * What its period has held and charged already counts, and refuses new orders where it is too
     * much. Fails where the organisation has no such member or key.
     */
    create(budget: NewBudget): Effect.Effect<Budget, NotFound>
    find(organizationId: string, id: string): Effect.Effect<Budget, NotFound>
    change(
      organizationId: string,
      id: string,
      change: BudgetChange
    ): Effect.Effect<Budget, NotFound>
    /** What had counted in it goes on without it. */
    remove(organizationId: string, id: string): Effect.Effect<void, NotFound>
    /** Newest first; of one subject, or of all. */
    list(
      organizationId: string,
      subjectId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<Budget>, InvalidRequest>
    /** Those that orders with this key fall under. */
    listApplicable(who: {
      readonly organizationId: string
      readonly memberId: string
      readonly keyId: string
    }): Effect.Effect<ReadonlyArray<Budget>>
  }
>()("gateway/services/Budgets") {}

export const budgetPrefix = "bg_"

export const noSuchBudget = new NotFound({ message: "No such budget" })

export const noSuchSubject = (scope: Budget["scope"]): NotFound =>
  new NotFound({
    message: `No such ${scope === "organization" ? "organisation" : scope} of this organisation`
  })
