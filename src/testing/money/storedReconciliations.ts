/** Reconciliations as the stores in memory keep them. */
import type {
  ReconciledEntry,
  Reconciliation
} from "../../features/reconciliations/Reconciliations.ts"

export interface StoredReconciliation {
  readonly reconciliation: Reconciliation
  /** In their order. */
  readonly entries: ReadonlyArray<ReconciledEntry>
}
