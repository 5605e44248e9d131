/**
 * The budgets of the store in memory: counts orders in budgets, finds the budget that refuses an
 * order, and creates and changes budgets.
 */
import { DateTime } from "effect"
import {
  budgetPeriods,
  budgetScopes,
  type SpentBudget,
  usualThresholds
} from "../../domain/money/budgets.ts"
import type { HoldRequest } from "../../services/Ledger.ts"
import type { Budget, BudgetChange, NewBudget } from "../../services/money/Budgets.ts"
import { notifyOfBudget } from "../delivery/notifications.ts"
import type { Books, MemoryState } from "../memory/MemoryStore.ts"
import type { BudgetUse, Now, StoredBudget, StoredUse } from "./storedBudgets.ts"

/** The current period; both ends are null for the period `total`. */
export const periodAt = (period: Budget["period"], { nowMillis, timeZone }: Now) => {
  if (period === "total") return { startedAt: null, resetsAt: null }
  const start = DateTime.makeZonedUnsafe(nowMillis, { timeZone }).pipe(DateTime.startOf(period))
  const next = DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 })
  return { startedAt: DateTime.toDateUtc(start), resetsAt: DateTime.toDateUtc(next) }
}

const emptyUse = { heldNano: 0n, capturedNano: 0n, hasRefused: false, lastThreshold: 0 }

const useAt = ({ period, uses }: StoredBudget, now: Now): StoredUse => {
  const startMillis = periodAt(period, now).startedAt?.getTime() ?? 0
  const use = uses.get(startMillis) ?? { ...emptyUse }
  uses.set(startMillis, use)
  return use
}

type Caller = Pick<HoldRequest, "organizationId" | "memberId" | "keyId">

const appliesTo = (
  { subjectId }: Pick<Budget, "subjectId">,
  { organizationId, memberId, keyId }: Caller
): boolean => [organizationId, memberId, keyId].includes(subjectId)

const compareNarrowness = (one: StoredBudget, other: StoredBudget): number =>
  budgetScopes.indexOf(one.scope) - budgetScopes.indexOf(other.scope) ||
  budgetPeriods.indexOf(one.period) - budgetPeriods.indexOf(other.period) ||
  Number(one.amountNano - other.amountNano) ||
  (one.id < other.id ? -1 : 1)

/**
 * The budgets that apply to an order, the narrowest first, with the use of their current period.
 */
export const budgetsOf = ({ budgets }: Books, caller: Caller, now: Now): ReadonlyArray<BudgetUse> =>
  [...budgets.values()]
    .filter((budget) => appliesTo(budget, caller))
    .toSorted(compareNarrowness)
    .map((budget) => ({ budget, use: useAt(budget, now) }))

const usedNano = ({ heldNano, capturedNano }: StoredUse): bigint => heldNano + capturedNano

/** The narrowest budget that the amount would exceed; null where no budget refuses it. */
export const refusalOf = (
  budgetUses: ReadonlyArray<BudgetUse>,
  amountNano: bigint,
  now: Now
): { readonly exceeded: BudgetUse; readonly budget: SpentBudget } | null => {
  const exceeded = budgetUses.find(
    ({ budget, use }) => usedNano(use) + amountNano > budget.amountNano
  )
  if (exceeded === undefined) return null
  const { id, scope, period, isCap, amountNano: limitNano } = exceeded.budget
  const budget = {
    id,
    scope,
    period,
    isCap,
    amountNano: limitNano,
    usedNano: usedNano(exceeded.use),
    resetsAt: periodAt(period, now).resetsAt
  }
  return { exceeded, budget }
}

/**
 * Adds the hold or the charge of an order to the budgets in which it counts, and sends
 * notifications of thresholds that are reached.
 */
export const addToBudgets = (
  state: MemoryState,
  books: Books,
  budgetUses: ReadonlyArray<BudgetUse>,
  amounts: { readonly heldNano: bigint; readonly capturedNano: bigint },
  now: Now
): void => {
  for (const { budget, use } of budgetUses) {
    use.heldNano += amounts.heldNano
    use.capturedNano += amounts.capturedNano
    notifyOfBudget(state, books, budget, use, now)
  }
}

/**
 * Records that a budget has refused an order. The first refusal in a period sends notifications.
 */
export const recordRefusal = (
  state: MemoryState,
  books: Books,
  { budget, use }: BudgetUse,
  now: Now
): void => {
  if (use.hasRefused) return
  use.hasRefused = true
  notifyOfBudget(state, books, budget, use, now, true)
}

/**
 * Creates a budget. The holds and charges of the current period count in the budget immediately.
 */
export const beginBudget = (
  state: MemoryState,
  books: Books,
  { organizationId: _, ...budget }: NewBudget & Pick<Budget, "id" | "isCap">,
  now: Now
): StoredBudget => {
  const storedBudget: StoredBudget = {
    ...budget,
    createdAt: new Date(now.nowMillis),
    uses: new Map()
  }
  books.budgets.set(storedBudget.id, storedBudget)
  const use = useAt(storedBudget, now)
  const startMillis = periodAt(storedBudget.period, now).startedAt?.getTime() ?? 0
  for (const order of books.orders.values()) {
    if (!appliesTo(storedBudget, order.request) || order.held.at.getTime() < startMillis) continue
    use.capturedNano += order.chargeNano
    if (order.state !== "open") continue
    use.heldNano += order.request.amountNano
    order.countsIn.push({ budget: storedBudget, use })
  }
  notifyOfBudget(state, books, storedBudget, use, now)
  return storedBudget
}

export const changeBudget = (
  state: MemoryState,
  books: Books,
  budget: StoredBudget,
  change: BudgetChange,
  now: Now
): void => {
  budget.amountNano = change.amountNano ?? budget.amountNano
  budget.thresholds = change.thresholds ?? budget.thresholds
  notifyOfBudget(state, books, budget, useAt(budget, now), now)
}

export const capOf = ({ budgets }: Books, memberId: string): StoredBudget | undefined =>
  [...budgets.values()].find(({ isCap, subjectId }) => isCap && subjectId === memberId)

/** Sets a member's monthly cap; a null amount removes it. */
export const setCap = (
  state: MemoryState,
  books: Books,
  cap: { readonly id: string; readonly memberId: string; readonly amountNano: bigint | null },
  now: Now
): void => {
  const { id, memberId, amountNano } = cap
  const storedBudget = capOf(books, memberId)
  if (amountNano === null) {
    if (storedBudget !== undefined) books.budgets.delete(storedBudget.id)
    return
  }
  if (storedBudget !== undefined) {
    changeBudget(state, books, storedBudget, { amountNano }, now)
    return
  }
  const budget = {
    id,
    organizationId: books.id,
    scope: "member",
    subjectId: memberId,
    period: "month",
    amountNano,
    thresholds: usualThresholds,
    isCap: true
  } as const
  beginBudget(state, books, budget, now)
}
