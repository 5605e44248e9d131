/** The room of budgets. */
import { layerBudgets } from "./BudgetsPostgres.ts"
import { layerBudgetHandlers } from "./budgetHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerBudgets

/** Its routes, over its ports. */
export const layerHandlers = layerBudgetHandlers
