/** Reads the balance of a caller's pool, the month of its member, and the budgets of its key. */
import { Effect } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Ledger } from "../../services/Ledger.ts"
import { type Budget, Budgets } from "../../services/money/Budgets.ts"
import { budgetView } from "./money/budgetView.ts"
import { formatNanoOrNull, poolView } from "./views.ts"

/** The scopes of budgets, the narrowest first. */
const scopes: ReadonlyArray<Budget["scope"]> = ["key", "member", "organization"]

export const makeReadBalance = Effect.gen(function* () {
  const ledger = yield* Ledger
  const budgets = yield* Budgets
  const { currency } = yield* Settings
  return Effect.fnUntraced(function* (caller: Caller) {
    const { organizationId, memberId } = caller
    // The organisation of a key exists as long as the key does.
    const pool = yield* Effect.orDie(ledger.pool(organizationId))
    const month = yield* ledger.memberMonth(organizationId, memberId)
    const applicableBudgets = yield* budgets.listApplicable(caller)
    return {
      currency,
      ...poolView(pool),
      month: {
        cap: formatNanoOrNull(month.capNano),
        used: formatNano(month.capturedNano),
        held: formatNano(month.heldNano)
      },
      budgets: applicableBudgets
        .toSorted((one, other) => scopes.indexOf(one.scope) - scopes.indexOf(other.scope))
        .map(budgetView)
    }
  })
})
