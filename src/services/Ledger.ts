/**
 * The ledger of money. A hold reserves the expected price before a vendor is called. It is closed
 * once: captured at the actual price, or released whole. Amounts are nano-units.
 */
import { Context, type Effect, Schema } from "effect"
import type {
  BudgetExceeded,
  IdempotencyMismatch,
  InsufficientBalance,
  InvalidRequest,
  MemberCapExceeded,
  NotFound,
  Overloaded
} from "../domain/Errors.ts"
import type { ChargePart } from "../domain/money/chargeParts.ts"
import type { ChargeBasis, ChargeUnit } from "../domain/money/charges.ts"
import type { Metadata } from "../domain/money/metadata.ts"
import { transferKinds } from "../domain/money/transfers.ts"
import type { VendorBill } from "../domain/money/vendorBill.ts"
import type { Doubt, OrderFailure, Refusal } from "../domain/VendorOutcome.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import type { AnsweredCall } from "./CallLog.ts"
import type { KeyAlreadyUsed, RequestKey, StoredAnswer } from "./IdempotencyKeys.ts"
import type { NewTask, TaskOutcome } from "./TaskRepo.ts"

export const VendorJob = Schema.Struct({
  channelId: Schema.String,
  protocol: Schema.String,
  upstreamModel: Schema.String,
  /**
   * The price of a unit that the vendor reports as billed, a decimal of currency units as in the
   * catalog; missing where the mount has none.
   */
  billUnitPrice: Schema.optionalKey(Schema.String)
})
export type VendorJob = typeof VendorJob.Type

/** The vendor job of a channel that refused an order and certainly produced nothing for it. */
export const RefusedJob = Schema.Struct({
  ...VendorJob.fields,
  reason: Schema.String,
  status: Schema.NullOr(Schema.Int),
  /** The vendor's own message, without the texts of the request; null or missing without one. */
  message: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** When the order was assigned to the next channel. */
  at: Schema.DateFromString
})
export type RefusedJob = typeof RefusedJob.Type

export interface Reassignment {
  readonly organizationId: string
  readonly holdId: string
  readonly job: VendorJob
  /** The expected vendor bill on the new channel, in the same form as `HoldRequest.cost`. */
  readonly cost: unknown
  /** Why the previous channel produced nothing. */
  readonly refusal: Refusal & { readonly message?: string | null }
}

export interface HoldRequest {
  readonly organizationId: string
  readonly memberId: string
  readonly keyId: string
  readonly model: string
  readonly modality: string
  /** The price list that priced the order; null or left out where the catalog's prices stand. */
  readonly priceList?: string | null
  /**
   * The id of the task, image request or text request, generated before any side effect. It is the
   * hold's idempotency key.
   */
  readonly id: string
  readonly amountNano: bigint
  /** The upper bound of the order's charge, from its quote; equal to `amountNano` when left out. */
  readonly exposureNano?: bigint
  /** Time to live: after it, the sweep releases a hold that is still open. */
  readonly ttlSeconds: number
  /**
   * All data that the amount was computed from, in its JSON form; stored unchanged with the hold.
   */
  readonly quote: unknown
  /** The client's metadata; null or left out where it sent none. */
  readonly metadata?: Metadata | null
  /** The digest of the prompt. The prompt itself is not stored. */
  readonly promptDigest?: string | null
  /** The expected vendor bill, in the form of the quote; null where the mount has no cost. */
  readonly cost?: unknown
  /**
   * The vendor job that the hold pays for. It is stored so that an operator can ask the vendor
   * about the order.
   */
  readonly job: VendorJob
  /** The order's task, written in the same commit as the hold. */
  readonly task: NewTask | null
  /**
   * The client's idempotency key; null where the client sent none. It is stored in the commit of
   * the hold, and belongs to this request from then on.
   */
  readonly key: RequestKey | null
}

/** The usage of an order, as it is charged. */
export interface UsageEntry {
  readonly input: bigint
  /** The number of tokens, seconds or images. */
  readonly output: bigint
  readonly unit: ChargeUnit
  readonly unitPriceNano: bigint
  /**
   * The price of an input unit where input has its own price; `unitPriceNano` is then the price of
   * an output unit.
   */
  readonly inputUnitPriceNano?: bigint
  /** The units with prices of their own: of `input` and `output`, or beside both. */
  readonly parts?: ReadonlyArray<ChargePart>
  readonly basis: ChargeBasis
}

/**
 * Who closes a hold: the order itself (`create` for videos, `image`, `text`), the poller (`poll`),
 * the sweep, or the ledger where the caller has stopped waiting for the hold (`withdrawn`).
 */
export type Closer = "create" | "image" | "text" | "poll" | "sweep" | "withdrawn"

interface Close {
  readonly organizationId: string
  readonly holdId: string
  readonly by: Closer
  /**
   * The state change of the task, written in the commit that closes the hold; null if no task
   * changes. If the task is no longer in the state `from`, the hold stays open.
   */
  readonly task: TaskOutcome | null
  /** The response for repeats of the request, stored in the same commit. */
  readonly answer: StoredAnswer | null
}

export interface Capture extends Close {
  /**
   * The charge of the order, greater than zero. It is taken in full, even where it exceeds the
   * hold.
   */
  readonly chargeNano: bigint
  /** The vendor's bill for the order; null or left out where its mount has no cost. */
  readonly costNano?: bigint | null
  /** What the vendor says that it bills; null or left out where it says nothing. */
  readonly vendorBill?: VendorBill | null
  /** The vendor's own bill at the price of its unit; null or left out where one is unknown. */
  readonly reportedCostNano?: bigint | null
  readonly usage: UsageEntry
  /**
   * The vendor call whose response contains the whole result of the order; null or left out where
   * there is no such call.
   */
  readonly call?: AnsweredCall | null
  /**
   * The doubt to record as an orphan, where the vendor's response leaves a doubt about the charge;
   * null or left out where there is none.
   */
  readonly orphan?: Doubt | null
}

export interface Release extends Close {
  /**
   * The doubt to record as an orphan, where the vendor may have completed the job although the hold
   * is released; null where there is none.
   */
  readonly orphan: Doubt | null
  /**
   * Why the order has no product; null or left out where its task tells.
   */
  readonly failure?: OrderFailure | null
  /**
   * True where this request produced nothing. Its idempotency key is then deleted, so that a repeat
   * with the same key creates a new order.
   */
  readonly forgetKey: boolean
}

export interface Closed {
  /**
   * False when this call changed nothing: the hold was already closed, or its task has changed
   * state.
   */
  readonly won: boolean
  readonly state: "captured" | "released" | "open"
  readonly capturedNano: bigint
  readonly overageNano: bigint
}

export const Balance = Schema.Struct({
  balanceNano: Schema.BigInt,
  heldNano: Schema.BigInt
})
export type Balance = typeof Balance.Type

/** The balance of a pool and the limits that decide whether the pool accepts an order. */
export const Pool = Schema.Struct({
  ...Balance.fields,
  /** The total amount by which the charges of open orders may exceed their holds. */
  uncoveredNano: Schema.BigInt,
  /** The credit limit: how far charges above their holds may take the balance below zero. */
  creditNano: Schema.BigInt,
  /**
   * How far holds may take the balance below zero as well: the credit limit of a pool whose holds
   * may use it; absent for other pools.
   */
  overdraftNano: Schema.optionalKey(Schema.BigInt)
})
export type Pool = typeof Pool.Type

/** The amount that is available for new holds, with the credit that they may use. */
export const availableOf = ({
  balanceNano,
  heldNano,
  overdraftNano = 0n
}: Balance & Pick<Pool, "overdraftNano">): bigint => balanceNano - heldNano + overdraftNano

/**
 * The amount that remains for a new hold if every open order is charged its upper bound: the free
 * balance plus the credit limit, less the amount by which these charges exceed their holds. Null
 * where no open order can be charged more than its hold.
 */
export const coverOf = ({
  balanceNano,
  heldNano,
  creditNano,
  uncoveredNano
}: Pool): bigint | null =>
  uncoveredNano === 0n ? null : balanceNano - heldNano + creditNano - uncoveredNano

/** Whether the pool allows a hold of this amount. */
export const allowsHold = (pool: Pool, holdNano: bigint): boolean => {
  const cover = coverOf(pool)
  return holdNano <= availableOf(pool) && (cover === null || holdNano <= cover)
}

export const MemberMonth = Schema.Struct({
  capNano: Schema.NullOr(Schema.BigInt),
  capturedNano: Schema.BigInt,
  heldNano: Schema.BigInt
})
export type MemberMonth = typeof MemberMonth.Type

/**
 * A line of the journal. `amountNano` is positive; the debit and credit accounts show the
 * direction.
 */
export const JournalEntry = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals([...transferKinds, "hold", "capture", "release"]),
  amountNano: Schema.BigInt,
  debit: Schema.String,
  credit: Schema.String,
  holdId: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String),
  /**
   * For adjustments only: the reason, the operator, and the order whose charge a correction
   * refunds.
   */
  reason: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String),
  correctedId: Schema.NullOr(Schema.String),
  createdAt: Schema.Date
})
export type JournalEntry = typeof JournalEntry.Type

const prefixOf = { hold: "hold_", capture: "tr_", release: "release_" }

/** The id of the journal entry of an order. */
export const journalId = (kind: keyof typeof prefixOf, orderId: string): string =>
  prefixOf[kind] + orderId

/**
 * The accounts of each entry of an order. A capture debits the pool, and the release returns the
 * whole hold to the pool.
 */
export const accountsOf = {
  hold: { debit: "pool", credit: "held" },
  capture: { debit: "pool", credit: "revenue" },
  release: { debit: "held", credit: "pool" }
} as const

export const Violation = Schema.Struct({
  invariant: Schema.String,
  organizationId: Schema.String,
  subject: Schema.String,
  detail: Schema.String
})
export type Violation = typeof Violation.Type

export class Ledger extends Context.Service<
  Ledger,
  {
    /**
     * Reserves the amount and creates the order's task in the same commit, if the pool and all
     * budgets allow it. In addition, the balance of the pool and its credit limit must cover the
     * upper bounds of all open orders. A repeat with the same id changes nothing. Budgets are
     * checked before the pool, the narrowest first. Fails with `Overloaded` when the database
     * cannot be reached soon or the organisation's spending is stopped. If the hold is created
     * after such a failure, or after its caller has stopped waiting, it is released. Concurrent
     * ledger operations of one organisation share a commit.
     */
    hold(
      request: HoldRequest
    ): Effect.Effect<
      void,
      InsufficientBalance | MemberCapExceeded | BudgetExceeded | KeyAlreadyUsed | Overloaded
    >
    /**
     * Assigns an open order and its task to the next channel, before that channel is called. A
     * repeat changes nothing. False when the order is not open.
     */
    reassign(reassignment: Reassignment): Effect.Effect<boolean>
    /**
     * Charges the order and closes its hold; the first close of a hold wins. Retries until the
     * database can be reached.
     */
    capture(capture: Capture): Effect.Effect<Closed>
    /** Releases the whole hold; the first close of a hold wins. Retries like a capture. */
    release(release: Release): Effect.Effect<Closed>
    /**
     * Adds money to the pool, once per reference. Returns true where this call added the money,
     * false where an earlier call with the reference did. A repeat of the reference with another
     * amount fails with `IdempotencyMismatch`.
     */
    deposit(
      organizationId: string,
      amountNano: bigint,
      reference: string
    ): Effect.Effect<boolean, NotFound | IdempotencyMismatch | InvalidRequest>
    balance(organizationId: string): Effect.Effect<Balance, NotFound>
    pool(organizationId: string): Effect.Effect<Pool, NotFound>
    /**
     * The low-balance threshold: a balance below it sends `balance.low` once; null turns this off.
     */
    lowBalance(organizationId: string): Effect.Effect<bigint | null, NotFound>
    setLowBalance(organizationId: string, lowNano: bigint | null): Effect.Effect<void, NotFound>
    /** The cap, the charges and the holds of a member in the current calendar month. */
    memberMonth(organizationId: string, memberId: string): Effect.Effect<MemberMonth>
    /**
     * Lists entries newest first, sorted by the time at which their order was created: hold,
     * capture and release of an order are adjacent, even if the order was closed much later.
     * `createdAt` is the time of each entry itself.
     */
    journal(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<JournalEntry>, InvalidRequest>
    /**
     * Recomputes every invariant; an empty list means that the ledger is consistent. The length of
     * the list is limited: where there are too many violations, it contains some violations of each
     * pool.
     */
    readonly verify: Effect.Effect<ReadonlyArray<Violation>>
    /**
     * The organisations to verify now: those whose recent rows, open rows or sums are inconsistent,
     * those whose spending is stopped, and some of the others, the longest unverified first. With one
     * call every `everySeconds`, each organisation gets its turn.
     */
    suspects(everySeconds: number): Effect.Effect<ReadonlyArray<string>>
    /** Recomputes every invariant of these organisations from all of their rows. */
    verifyOf(organizationIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Violation>>
    /**
     * Stops new holds of exactly these organisations, each with a reason for the operator. All
     * other organisations may spend again, including those that were stopped before. Open holds of
     * stopped organisations can still be closed.
     */
    stopSpending(reasons: ReadonlyMap<string, string>): Effect.Effect<void>
    /**
     * Releases open holds of image and text requests and returns their number: the expired holds
     * for `overdue`, every open hold for `all`.
     */
    sweepExpiredHolds(scope: "overdue" | "all"): Effect.Effect<number>
  }
>()("gateway/services/Ledger") {}
