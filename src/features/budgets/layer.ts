/** The feature of budgets. */
import { layerBudgets } from "./BudgetsPostgres.ts"
import { layerBudgetHandlers } from "./budgetHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerBudgets

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerBudgetHandlers
