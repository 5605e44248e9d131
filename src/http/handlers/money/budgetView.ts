import { formatNano } from "../../../domain/money/Money.ts"
import type { Budget } from "../../../services/money/Budgets.ts"
import type { BudgetView } from "../../api/admin/budgets.ts"

export const budgetView = (budget: Budget): BudgetView => {
  const { amountNano, heldNano, capturedNano, startedAt, resetsAt } = budget
  const usedNano = heldNano + capturedNano
  return {
    object: "budget",
    id: budget.id,
    organization_id: budget.organizationId,
    scope: budget.scope,
    subject_id: budget.subjectId,
    period: budget.period,
    amount: formatNano(amountNano),
    thresholds: budget.thresholds,
    held: formatNano(heldNano),
    charged: formatNano(capturedNano),
    used: formatNano(usedNano),
    available: formatNano(usedNano < amountNano ? amountNano - usedNano : 0n),
    exceeded: usedNano > amountNano,
    is_member_cap: budget.isCap,
    started_at: startedAt?.toISOString() ?? null,
    resets_at: resetsAt?.toISOString() ?? null,
    created_at: budget.createdAt.toISOString()
  }
}
