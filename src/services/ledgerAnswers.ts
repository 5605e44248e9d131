/**
 * Maps the outcomes of ledger operations to results and errors, with the same messages for every
 * store.
 */
import { Clock, Effect, Schema } from "effect"
import {
  BudgetExceeded,
  IdempotencyMismatch,
  InsufficientBalance,
  InvalidRequest,
  MemberCapExceeded,
  NotFound,
  Overloaded
} from "../domain/Errors.ts"
import type { SpentBudget } from "../domain/money/budgets.ts"
import { formatNano } from "../domain/money/Money.ts"
import { gatewayStopped } from "../domain/VendorOutcome.ts"
import { KeyAlreadyUsed } from "./IdempotencyKeys.ts"
import type { HoldRequest, Release } from "./Ledger.ts"
import { noSuchRecord } from "./UsageLog.ts"

export const unknownOrganization = new NotFound({ message: "No such organisation" })

export const HoldResult = Schema.Literals([
  "held",
  "known",
  "key_used",
  "stopped",
  "unknown_member",
  "budget_exceeded",
  "insufficient_balance",
  "overexposed"
])

/** The outcome of a hold request. Amounts are nano-units. */
export interface HoldOutcome {
  readonly outcome: typeof HoldResult.Type
  readonly available: bigint
  /** The narrowest budget that refuses the hold; null where none does. */
  readonly budget: SpentBudget | null
}

/** Succeeds where the money is held, by this request or by an earlier one with the same id. */
export const answerHold = (outcome: HoldOutcome, request: HoldRequest, currency: string) =>
  outcome.outcome === "held" || outcome.outcome === "known"
    ? Effect.void
    : refuseHold(outcome.outcome, outcome, request, currency)

const refusalBy = (
  { id, scope, period, isCap, amountNano, usedNano, resetsAt }: SpentBudget,
  requiredAmount: string,
  currency: string,
  nowMillis: number
): MemberCapExceeded | BudgetExceeded => {
  const [amount, usedAmount] = [formatNano(amountNano), formatNano(usedNano)]
  const prefix = `This request needs ${requiredAmount} ${currency}`
  const resetText =
    resetsAt === null ? "" : `. The next ${period} begins at ${resetsAt.toISOString()}`
  const retryAfterSeconds =
    resetsAt === null ? null : Math.max(1, Math.ceil((resetsAt.getTime() - nowMillis) / 1000))
  if (isCap && retryAfterSeconds !== null) {
    const message = `${prefix}; of this month's cap of ${amount}, ${usedAmount} is used${resetText}`
    return new MemberCapExceeded({
      message,
      cap: amount,
      used: usedAmount,
      required: requiredAmount,
      retryAfterSeconds
    })
  }
  const owner = scope === "organization" ? "organisation" : scope
  const time = period === "total" ? "in total" : `a ${period}`
  return new BudgetExceeded({
    message: `${prefix}; of the ${owner}'s budget of ${amount} ${time}, ${usedAmount} is used${resetText}`,
    budget: id,
    scope,
    period,
    amount,
    used: usedAmount,
    required: requiredAmount,
    retryAfterSeconds
  })
}

const refuseHold = Effect.fnUntraced(function* (
  outcome: Exclude<typeof HoldResult.Type, "held" | "known">,
  amounts: HoldOutcome,
  { amountNano, memberId }: HoldRequest,
  currency: string
): Effect.fn.Return<
  never,
  KeyAlreadyUsed | Overloaded | InsufficientBalance | MemberCapExceeded | BudgetExceeded
> {
  const requiredAmount = formatNano(amountNano)
  switch (outcome) {
    case "key_used":
      return yield* new KeyAlreadyUsed()
    case "stopped":
      return yield* new Overloaded({
        message: "New orders of this organisation are stopped while its books are checked",
        retryAfterSeconds: 60
      })
    case "insufficient_balance": {
      const available = formatNano(amounts.available)
      return yield* new InsufficientBalance({
        message: `This request needs ${requiredAmount} ${currency}, and ${available} is available`,
        required: requiredAmount,
        available
      })
    }
    case "overexposed": {
      const available = formatNano(amounts.available)
      return yield* new InsufficientBalance({
        message:
          `This request needs ${requiredAmount} ${currency}. Orders under way may come to more than they hold, ` +
          `and would then leave ${available}: it can be ordered when they have ended`,
        required: requiredAmount,
        available
      })
    }
    case "budget_exceeded": {
      const { budget } = amounts
      if (budget === null) return yield* Effect.die(new Error("a budget refused and is not named"))
      return yield* refusalBy(budget, requiredAmount, currency, yield* Clock.currentTimeMillis)
    }
    case "unknown_member":
      return yield* Effect.die(new Error(`no member is called ${memberId}`))
  }
})

export const DepositOutcome = Schema.Literals(["applied", "repeated", "mismatch", "too_large"])
export type DepositOutcome = typeof DepositOutcome.Type

/**
 * Returns true where this call moved the money, and false where an earlier call with the reference
 * did.
 */
export const answerDeposit = Effect.fnUntraced(function* (
  outcome: DepositOutcome,
  mismatch = "This reference was deposited before with another amount"
) {
  if (outcome === "mismatch") {
    return yield* new IdempotencyMismatch({ message: mismatch, param: "reference" })
  }
  if (outcome === "too_large") {
    return yield* new InvalidRequest({
      message: "amount: The pool would hold more than it can count",
      param: "amount"
    })
  }
  return outcome === "applied"
})

export const AdjustmentOutcome = Schema.Literals([
  ...DepositOutcome.literals,
  "unknown_order",
  "beyond_charge",
  "insufficient_balance"
])
export type AdjustmentOutcome = typeof AdjustmentOutcome.Type

/**
 * Returns true where this call made the adjustment. `freeNano` is the available amount of the pool
 * for a withdrawal, and the refundable amount of the charge for a correction; null for other
 * outcomes.
 */
export const answerAdjustment = Effect.fnUntraced(function* (
  { outcome, freeNano }: { readonly outcome: AdjustmentOutcome; readonly freeNano: bigint | null },
  amountNano: bigint,
  currency: string
) {
  const [requiredAmount, available] = [formatNano(amountNano), formatNano(freeNano ?? 0n)]
  switch (outcome) {
    case "unknown_order":
      return yield* noSuchRecord
    case "beyond_charge":
      return yield* new InvalidRequest({
        message: `amount: Of this charge ${available} ${currency} can be given back`,
        param: "amount"
      })
    case "insufficient_balance":
      return yield* new InsufficientBalance({
        message: `This withdrawal needs ${requiredAmount} ${currency}, and ${available} is available`,
        required: requiredAmount,
        available
      })
    default:
      return yield* answerDeposit(outcome, "This reference was used before for another transfer")
  }
})

/**
 * The release of an order whose gateway stopped before it responded. The vendor may have completed
 * the order.
 */
export const releaseOfAbandoned = (organizationId: string, holdId: string): Release => ({
  organizationId,
  holdId,
  by: "sweep",
  task: null,
  orphan: { upstreamId: null, reason: "gateway_stopped" },
  failure: gatewayStopped,
  answer: null,
  forgetKey: false
})

/**
 * The time-out of a release. After it, the next sweep releases the hold again; the first release
 * may still succeed before that.
 */
const RELEASE_TIMEOUT = "10 seconds"

/**
 * Runs a release with a time-out and never fails, so that one hold that cannot be closed does not
 * stop the others. A failure is logged with the id of the hold.
 */
export const releaseOrLog =
  (holdId: string) =>
  <A>(release: Effect.Effect<A>): Effect.Effect<void> =>
    release.pipe(
      Effect.timeout(RELEASE_TIMEOUT),
      Effect.catchCause((cause) =>
        Effect.logError("hold: release failed", cause).pipe(
          Effect.annotateLogs({ order_id: holdId })
        )
      )
    )
