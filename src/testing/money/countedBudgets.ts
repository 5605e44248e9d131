/** What counts in budgets in memory, what they refuse, and how they begin and change. */
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
import type { Counted, Now, StoredBudget, StoredUse } from "./storedBudgets.ts"

/** The period that is now; of all of time both are null. */
export const periodAt = (period: Budget["period"], { nowMillis, timeZone }: Now) => {
  if (period === "total") return { startedAt: null, resetsAt: null }
  const start = DateTime.makeZonedUnsafe(nowMillis, { timeZone }).pipe(DateTime.startOf(period))
  const next = DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 })
  return { startedAt: DateTime.toDateUtc(start), resetsAt: DateTime.toDateUtc(next) }
}

const nothing = { heldNano: 0n, capturedNano: 0n, hasRefused: false, told: 0 }

const useAt = ({ period, uses }: StoredBudget, now: Now): StoredUse => {
  const begun = periodAt(period, now).startedAt?.getTime() ?? 0
  const use = uses.get(begun) ?? { ...nothing }
  uses.set(begun, use)
  return use
}

const isUnder = (
  { subjectId }: Pick<Budget, "subjectId">,
  who: Pick<HoldRequest, "organizationId" | "memberId" | "keyId">
): boolean => [who.organizationId, who.memberId, who.keyId].includes(subjectId)

const byNarrowness = (one: StoredBudget, other: StoredBudget): number =>
  budgetScopes.indexOf(one.scope) - budgetScopes.indexOf(other.scope) ||
  budgetPeriods.indexOf(one.period) - budgetPeriods.indexOf(other.period) ||
  Number(one.amountNano - other.amountNano) ||
  (one.id < other.id ? -1 : 1)

/** Those that an order falls under, the narrowest first, with what counts in them now. */
export const budgetsOf = (
  { budgets }: Books,
  who: Pick<HoldRequest, "organizationId" | "memberId" | "keyId">,
  now: Now
): ReadonlyArray<Counted> =>
  [...budgets.values()]
    .filter((budget) => isUnder(budget, who))
    .toSorted(byNarrowness)
    .map((budget) => ({ budget, use: useAt(budget, now) }))

const usedNano = ({ heldNano, capturedNano }: StoredUse): bigint => heldNano + capturedNano

/** The narrowest one that has no room for the amount; null where all have. */
export const refusalOf = (
  counted: ReadonlyArray<Counted>,
  amountNano: bigint,
  now: Now
): { readonly by: Counted; readonly budget: SpentBudget } | null => {
  const by = counted.find(({ budget, use }) => usedNano(use) + amountNano > budget.amountNano)
  if (by === undefined) return null
  const { id, scope, period, isCap } = by.budget
  const { resetsAt } = periodAt(period, now)
  const budget = { id, scope, period, isCap, amountNano: by.budget.amountNano, resetsAt }
  return { by, budget: { ...budget, usedNano: usedNano(by.use) } }
}

/** Counts what an order holds, and then what it was charged; tells what is reached. */
export const countIn = (
  state: MemoryState,
  books: Books,
  counted: ReadonlyArray<Counted>,
  amounts: { readonly heldNano: bigint; readonly capturedNano: bigint },
  now: Now
): void => {
  for (const { budget, use } of counted) {
    use.heldNano += amounts.heldNano
    use.capturedNano += amounts.capturedNano
    notifyOfBudget(state, books, budget, use, now)
  }
}

/** Notes that a budget has refused an order. */
export const refuseBy = (
  state: MemoryState,
  books: Books,
  { budget, use }: Counted,
  now: Now
): void => {
  if (use.hasRefused) return
  use.hasRefused = true
  notifyOfBudget(state, books, budget, use, now, true)
}

/** Begins a budget with what its present period has held and captured already. */
export const beginBudget = (
  state: MemoryState,
  books: Books,
  { organizationId: _, ...budget }: NewBudget & Pick<Budget, "id" | "isCap">,
  now: Now
): StoredBudget => {
  const begun: StoredBudget = { ...budget, createdAt: new Date(now.nowMillis), uses: new Map() }
  books.budgets.set(begun.id, begun)
  const use = useAt(begun, now)
  const since = periodAt(begun.period, now).startedAt?.getTime() ?? 0
  for (const order of books.orders.values()) {
    if (!isUnder(begun, order.request) || order.held.at.getTime() < since) continue
    use.capturedNano += order.chargeNano
    if (order.state !== "open") continue
    use.heldNano += order.request.amountNano
    order.countsIn.push({ budget: begun, use })
  }
  notifyOfBudget(state, books, begun, use, now)
  return begun
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

/** A member's monthly cap; null is none. */
export const setCap = (
  state: MemoryState,
  books: Books,
  cap: { readonly id: string; readonly memberId: string; readonly amountNano: bigint | null },
  now: Now
): void => {
  const { id, memberId, amountNano } = cap
  const known = capOf(books, memberId)
  if (amountNano === null) {
    if (known !== undefined) books.budgets.delete(known.id)
    return
  }
  if (known !== undefined) {
    changeBudget(state, books, known, { amountNano }, now)
    return
  }
  const scope = { scope: "member", subjectId: memberId, period: "month", isCap: true } as const
  const budget = { id, organizationId: books.id, amountNano, thresholds: usualThresholds, ...scope }
  beginBudget(state, books, budget, now)
}
