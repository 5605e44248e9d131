/** Rows of reconciliations of the stores in memory. */
import type {
  ReconciledEntry,
  Reconciliation
} from "../../features/reconciliations/Reconciliations.ts"

export interface StoredReconciliation {
  readonly reconciliation: Reconciliation
  /** The compared entries, sorted by their numbers. */
  readonly entries: ReadonlyArray<ReconciledEntry>
}
