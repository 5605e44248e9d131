/** The feature of monthly statements. */
import { Layer } from "effect"
import { layerStatementSealer } from "./StatementSealer.ts"
import { layerStatements } from "./StatementsPostgres.ts"
import { layerOperatorStatementsHandlers, layerStatementsHandlers } from "./statementHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerStatements

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = Layer.mergeAll(
  layerStatementsHandlers,
  layerOperatorStatementsHandlers
)

/** The background jobs of the feature, which need its stores. */
export const layerJobs = layerStatementSealer
