/** The room of statements. */
import { Layer } from "effect"
import { layerStatementSealer } from "./StatementSealer.ts"
import { layerStatements } from "./StatementsPostgres.ts"
import { layerOperatorStatementsHandlers, layerStatementsHandlers } from "./statementHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerStatements

/** Its routes, over its ports. */
export const layerHandlers = Layer.mergeAll(
  layerStatementsHandlers,
  layerOperatorStatementsHandlers
)

/** What runs in the background, over its ports. */
export const layerJobs = layerStatementSealer
