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
  /** False for a database that can be read alone: a standby, one without room, a role without the right. */
  readonly writable: boolean
}

/** Over the whole database. Amounts are nano-units. */
export interface Totals {
  readonly submittingTasks: number
  readonly processingTasks: number
  readonly openHolds: number
  /** Open holds a minute or more past their deadline, and tasks that were not accepted by theirs. */
  readonly lateHolds: number
  /** How long the first deadline of those has passed; 0 when nothing is late. */
  readonly oldestLateSeconds: number
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
