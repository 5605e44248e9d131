/** What running the gateway asks of its database. */
import { Context, type Effect } from "effect"

/** The last audit of the books, whichever gateway made it. */
export interface AuditState {
  /** Null before the first one. */
  readonly auditedAt: Date | null
  readonly ageSeconds: number | null
  readonly violations: number
  /** Organisations whose spending is stopped. */
  readonly stopped: number
}

export interface StoreReport {
  /** Every migration this gateway knows has been applied. */
  readonly migrated: boolean
  /** Null while it is not migrated. */
  readonly audit: AuditState | null
}

/** Over the whole database. Amounts are nano-units. */
export interface Totals {
  readonly submittingTasks: number
  readonly processingTasks: number
  readonly openHolds: number
  readonly poolNano: bigint
  readonly heldNano: bigint
}

export class OperationsStore extends Context.Service<
  OperationsStore,
  {
    readonly report: Effect.Effect<StoreReport>
    readonly totals: Effect.Effect<Totals>
    /**
     * True for the one gateway that shall audit the books now: nobody is at it, and the last time
     * was at least `everySeconds` ago.
     */
    takeAudit(everySeconds: number): Effect.Effect<boolean>
    /** Ends an audit; null when it came to no result. */
    endAudit(violations: number | null): Effect.Effect<void>
  }
>()("gateway/services/OperationsStore") {}
