/**
 * The feature of organisations, members, keys and operators, and of the audit log of operators'
 * writes.
 */
import { Layer } from "effect"
import { layerAccounts } from "./AccountsPostgres.ts"
import { layerAdminAudit } from "./AdminAuditPostgres.ts"
import { layerAccountsHandlers } from "./accountHandlers.ts"
import { layerOperators } from "./OperatorsPostgres.ts"
import { layerOperatorHandlers } from "./operatorHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerAccounts, layerOperators, layerAdminAudit)

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = Layer.mergeAll(layerAccountsHandlers, layerOperatorHandlers)
