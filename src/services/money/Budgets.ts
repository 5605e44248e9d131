/**
 * Budgets: limits on what an organisation, a member or a key may spend in a day, a month or in
 * total. The ledger enforces them in the transaction of each hold. Amounts are nano-units.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { budgetPeriods, budgetScopes } from "../../domain/money/budgets.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const Budget = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  scope: Schema.Literals(budgetScopes),
  /** The id of the organisation, the member or the key. */
  subjectId: Schema.String,
  period: Schema.Literals(budgetPeriods),
  amountNano: Schema.BigInt,
  /** Percentages of the amount; each sends a notification once in a period. */
  thresholds: Schema.Array(Schema.Int),
  /** True for a member's monthly cap, which is set with the member. */
  isCap: Schema.Boolean,
  /** The amounts of holds and of charges that count in the current period. */
  heldNano: Schema.BigInt,
  capturedNano: Schema.BigInt,
  /** Start of the current period and of the next one; null for the period `total`. */
  startedAt: Schema.NullOr(Schema.Date),
  resetsAt: Schema.NullOr(Schema.Date),
  createdAt: Schema.Date
})
export type Budget = typeof Budget.Type

export type NewBudget = Pick<
  Budget,
  "organizationId" | "scope" | "subjectId" | "period" | "amountNano" | "thresholds"
>

/** A change of a budget. Fields that are absent or undefined stay unchanged. */
export interface BudgetChange {
  readonly amountNano?: bigint | undefined
  readonly thresholds?: ReadonlyArray<number> | undefined
}

export class Budgets extends Context.Service<
  Budgets,
  {
    /**
     * Creates a budget. Holds and charges of the current period count in it immediately; where they
     * exceed the amount, new orders are refused. Fails where the organisation has no such member or
     * key.
     */
    create(budget: NewBudget): Effect.Effect<Budget, NotFound>
    find(organizationId: string, id: string): Effect.Effect<Budget, NotFound>
    change(
      organizationId: string,
      id: string,
      change: BudgetChange
    ): Effect.Effect<Budget, NotFound>
    /** Deletes a budget. Open orders that count in the budget are not affected. */
    remove(organizationId: string, id: string): Effect.Effect<void, NotFound>
    /** Lists newest first; a null `subjectId` lists the budgets of all subjects. */
    list(
      organizationId: string,
      subjectId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<Budget>, InvalidRequest>
    /**
     * The budgets of all organisations of which at least this percentage is used, newest first;
     * budgets without any use are left out.
     */
    listUsed(minPercent: number, page: PageRequest): Effect.Effect<Page<Budget>, InvalidRequest>
    /** The budgets that apply to orders with this key. */
    listApplicable(caller: {
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
