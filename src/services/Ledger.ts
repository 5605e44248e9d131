/**
 * The money. A hold sets the expected price aside before a vendor is called; it is closed once,
 * captured at the actual price or released whole. Amounts are nano-units.
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
import type { ChargeBasis, ChargeUnit } from "../domain/money/charges.ts"
import type { Metadata } from "../domain/money/metadata.ts"
import { transferKinds } from "../domain/money/transfers.ts"
import type { Doubt, Refusal } from "../domain/VendorOutcome.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import type { AnsweredCall } from "./CallLog.ts"
import type { KeyAlreadyUsed, RequestKey, StoredAnswer } from "./IdempotencyKeys.ts"
import type { NewTask, TaskOutcome } from "./TaskRepo.ts"

export const VendorJob = Schema.Struct({
  channelId: Schema.String,
  protocol: Schema.String,
  upstreamModel: Schema.String
})
export type VendorJob = typeof VendorJob.Type

/** A channel that did not take an order, and certainly made nothing. */
export const RefusedJob = Schema.Struct({
  ...VendorJob.fields,
  reason: Schema.String,
  status: Schema.NullOr(Schema.Int),
  /** When it was given to the next one. */
  at: Schema.DateFromString
})
export type RefusedJob = typeof RefusedJob.Type

export interface Reassignment {
  readonly organizationId: string
  readonly holdId: string
  readonly job: VendorJob
  /** Like that of the hold, of this channel. */
  readonly cost: unknown
  /** Why the channel it was at made nothing. */
  readonly refusal: Refusal
}

export interface HoldRequest {
  readonly organizationId: string
  readonly memberId: string
  readonly keyId: string
  readonly model: string
  readonly modality: string
  /** Task id, or id of an image or text request, minted before any side effect: the hold's idempotency key. */
  readonly id: string
  readonly amountNano: bigint
  /** The most the order can come to, as its quote has it; the amount where this is left out. */
  readonly exposureNano?: bigint
  /** After this time an open hold is swept. */
  readonly ttlSeconds: number
  /** Everything the amount was computed from, in its JSON form; frozen with the hold. */
  readonly quote: unknown
  /** The client's notes; null or left out where it made none. */
  readonly metadata?: Metadata | null
  /** Of the prompt, which is not kept itself. */
  readonly promptDigest?: string | null
  /** What the vendor is expected to bill, in the quote's form; null where its mount has no cost. */
  readonly cost?: unknown
  /** What is being paid for, for the operator who may have to ask the vendor about it. */
  readonly job: VendorJob
  /** Written in the same commit. */
  readonly task: NewTask | null
  /** The client's key, which from this commit on stands for this request. */
  readonly key: RequestKey | null
}

/** What was used, as it is charged. */
export interface UsageEntry {
  readonly input: bigint
  /** Tokens, seconds, or for images their number. */
  readonly output: bigint
  readonly unit: ChargeUnit
  readonly unitPriceNano: bigint
  /** Where input is charged apart, by this price; `unitPriceNano` is of output then. */
  readonly inputUnitPriceNano?: bigint
  readonly basis: ChargeBasis
}

/**
 * Who closes a hold: the order itself (`create` for videos, `image`, `text`), the poller, the sweep, or
 * the ledger where nobody waits for the hold any more.
 */
export type Closer = "create" | "image" | "text" | "poll" | "sweep" | "withdrawn"

interface Close {
  readonly organizationId: string
  readonly holdId: string
  readonly by: Closer
  /**
   * State change written in the same commit. A task that is elsewhere by then keeps its hold open.
   */
  readonly task: TaskOutcome | null
  /** Kept for repeats of the request, in the same commit. */
  readonly answer: StoredAnswer | null
}

export interface Capture extends Close {
  /** Greater than zero; charged in full, also above the hold. */
  readonly chargeNano: bigint
  /** What the vendor bills for it; null or left out where its mount has no cost. */
  readonly costNano?: bigint | null
  readonly usage: UsageEntry
  /** The vendor's call that made what is charged, where one answer was all of it. */
  readonly call?: AnsweredCall | null
  /** Recorded for the operator when the charge rests on something the vendor did not say well. */
  readonly orphan?: Doubt | null
}

export interface Release extends Close {
  /** Recorded for the operator when the vendor may have made the job all the same. */
  readonly orphan: Doubt | null
  /** The client's key may order again: nothing came of this request. */
  readonly forgetKey: boolean
}

export interface Closed {
  /** False when nothing was changed by this call: somebody else closed it, or its task moved on. */
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

/** All by which a pool takes orders. */
export const Pool = Schema.Struct({
  ...Balance.fields,
  /** What open orders can come to above their holds. */
  uncoveredNano: Schema.BigInt,
  /** How far that may take the balance below zero. */
  creditNano: Schema.BigInt
})
export type Pool = typeof Pool.Type

/** What the pool has for another order's hold. */
export const availableOf = ({ balanceNano, heldNano }: Balance): bigint => balanceNano - heldNano

/**
 * What the pool and its credit leave beside all that the orders under way can come to; null where these
 * can come to no more than they hold.
 */
export const coverOf = (pool: Pool): bigint | null =>
  pool.uncoveredNano === 0n ? null : availableOf(pool) + pool.creditNano - pool.uncoveredNano

/** Whether the pool allows an order that holds so much. */
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

/** A line of the journal. `amountNano` is positive; debit and credit tell the direction. */
export const JournalEntry = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals([...transferKinds, "hold", "capture", "release"]),
  amountNano: Schema.BigInt,
  debit: Schema.String,
  credit: Schema.String,
  holdId: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String),
  /** Of adjustments: why, by whom, and which order's charge it corrects. */
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

/** Where money goes from and to: a charge comes from the pool, and the hold goes back whole. */
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
     * Sets the amount aside, if the pool and all budgets allow it, together with its task. Beside
     * the hold, the pool and its credit cover all that the orders under way can come to; the same id
     * again changes nothing. Budgets are checked before the pool, the narrowest first. `Overloaded` when the books cannot be
     * reached soon or the organisation's spending is stopped; a hold that was taken all the same, and
     * one whose caller goes away, is given back. Movements of one organisation that come together
     * share a commit.
     */
    hold(
      request: HoldRequest
    ): Effect.Effect<
      void,
      InsufficientBalance | MemberCapExceeded | BudgetExceeded | KeyAlreadyUsed | Overloaded
    >
    /**
     * Writes, before the next channel is called, that an open order is given to it, with its task; the
     * same again changes nothing. False when the order is not open any more.
     */
    reassign(reassignment: Reassignment): Effect.Effect<boolean>
    /** Charges and closes; the first close of a hold wins. Persists until the books can be reached. */
    capture(capture: Capture): Effect.Effect<Closed>
    /** Returns the whole hold; the first close of a hold wins. Persists like a capture. */
    release(release: Release): Effect.Effect<Closed>
    /**
     * Adds money once per reference; answers whether this call was the one that added it. The same
     * reference with another amount is a mismatch, never ignored.
     */
    deposit(
      organizationId: string,
      amountNano: bigint,
      reference: string
    ): Effect.Effect<boolean, NotFound | IdempotencyMismatch | InvalidRequest>
    balance(organizationId: string): Effect.Effect<Balance, NotFound>
    pool(organizationId: string): Effect.Effect<Pool, NotFound>
    /** Below it the balance is low, of which `balance.low` tells once; null is never. */
    lowBalance(organizationId: string): Effect.Effect<bigint | null, NotFound>
    setLowBalance(organizationId: string, lowNano: bigint | null): Effect.Effect<void, NotFound>
    /** The member's current calendar month. */
    memberMonth(organizationId: string, memberId: string): Effect.Effect<MemberMonth>
    /**
     * Newest first, by when an order was created: its hold, its capture and its release stand
     * together, however much later it was closed, and `createdAt` tells when each happened.
     */
    journal(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<JournalEntry>, InvalidRequest>
    /** Recomputes every invariant; an empty list is healthy. Of many it gives some of each pool. */
    readonly verify: Effect.Effect<ReadonlyArray<Violation>>
    /**
     * Organisations to be verified now, when it is asked every so many seconds: those of which
     * something recent, open or summed up does not fit together, those that may not spend, and in
     * turn all others, so that old rows are read again as well.
     */
    suspects(everySeconds: number): Effect.Effect<ReadonlyArray<string>>
    /** Recomputes every invariant of these organisations, from all of their rows. */
    verifyOf(organizationIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Violation>>
    /**
     * Stops new holds of exactly these organisations, each with the reason an operator reads; all
     * others may spend (again). Holds that are open are closed as ever.
     */
    stopSpending(reasons: ReadonlyMap<string, string>): Effect.Effect<void>
    /** Releases the holds of images and texts left open: past their time, or all of them. Answers how many. */
    sweepExpiredHolds(scope: "overdue" | "all"): Effect.Effect<number>
  }
>()("gateway/services/Ledger") {}
