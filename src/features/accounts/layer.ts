/** Organisations, members, keys and operators, and the audit of what operators wrote. */
import { Layer } from "effect"
import { layerAccounts } from "./AccountsPostgres.ts"
import { layerAdminAudit } from "./AdminAuditPostgres.ts"
import { layerAccountsHandlers } from "./accountHandlers.ts"
import { layerOperators } from "./OperatorsPostgres.ts"
import { layerOperatorHandlers } from "./operatorHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerAccounts, layerOperators, layerAdminAudit)

/** Its routes, over its ports. */
export const layerHandlers = Layer.mergeAll(layerAccountsHandlers, layerOperatorHandlers)
