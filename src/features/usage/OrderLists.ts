/** Orders of every kind as operators and members look for them, and what they come to. Amounts are nano-units. */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Tag } from "../../domain/money/metadata.ts"
import { TaskState } from "../../domain/taskStates.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { VendorJob } from "../../services/Ledger.ts"
import { HoldHistory } from "../../services/TaskHistory.ts"

export const ListedOrder = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  memberId: Schema.String,
  keyId: Schema.String,
  model: Schema.String,
  modality: Schema.String,
  /** Where it is, or was made. */
  job: VendorJob,
  /** The vendor's id of it, where it is known. */
  upstreamId: Schema.NullOr(Schema.String),
  state: HoldHistory.fields.state,
  holdNano: Schema.BigInt,
  chargeNano: Schema.BigInt,
  overageNano: Schema.BigInt,
  /** What was given back of the charge since. */
  returnedNano: Schema.BigInt,
  costNano: Schema.NullOr(Schema.BigInt),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  promptDigest: Schema.NullOr(Schema.String),
  createdAt: Schema.Date,
  closedAt: Schema.NullOr(Schema.Date),
  /** When it is given back, if it does not end before. */
  expiresAt: Schema.Date,
  isTask: Schema.Boolean,
  /** What follows is of tasks alone, and null of all else. */
  taskState: Schema.NullOr(TaskState),
  summary: Schema.Unknown,
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  /** When the vendor took it. */
  acceptedAt: Schema.NullOr(Schema.Date),
  /** When its owner deleted it. */
  erasedAt: Schema.NullOr(Schema.Date),
  askedAt: Schema.NullOr(Schema.Date),
  nextPollAt: Schema.NullOr(Schema.Date)
})
export type ListedOrder = typeof ListedOrder.Type

/** Null is any. */
export interface OrderFilter {
  readonly organizationId: string | null
  readonly memberId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly modality: string | null
  readonly channelId: string | null
  readonly state: ListedOrder["state"] | null
  /** Ordered then or later. */
  readonly from: Date | null
  /** Ordered before it. */
  readonly to: Date | null
  readonly tag: Tag | null
  /** Tasks alone have one. */
  readonly upstreamId: string | null
  readonly promptDigest: string | null
  readonly tasksOnly: boolean
  readonly taskState: TaskState | null
}

/** What sums of orders may be asked by. The times are the beginnings of days in the deployment's zone. */
export type OrderSumFilter = Omit<OrderFilter, "upstreamId" | "promptDigest" | "taskState">

/** Whose an order is. */
export interface OrderOwner {
  readonly organizationId: string
  readonly memberId: string
}

/** One error for a foreign and an unknown id. */
export const noSuchOrder = new NotFound({ message: "No such order" })

export interface OrderPage extends Page<ListedOrder> {
  /** Where the next page goes on; null on the last one. */
  readonly next: string | null
}

/** Of all orders that a filter is about. */
export const OrderTotals = Schema.Struct({
  processing: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int,
  /** Of those that are open. */
  heldNano: Schema.BigIntFromString,
  chargeNano: Schema.BigIntFromString,
  /** Given back of charges in the time of the filter, also of earlier orders. */
  returnedNano: Schema.BigIntFromString,
  costNano: Schema.BigIntFromString,
  /** Charges whose cost is not known. */
  withoutCost: Schema.Int
})
export type OrderTotals = typeof OrderTotals.Type

export class OrderLists extends Context.Service<
  OrderLists,
  {
    /**
     * Newest first, of one organisation or of all. A page looks at a bounded number of orders, so that
     * it may have fewer entries than asked for, or none, and a next one all the same. The cursor is
     * the id of any order that the list could come to, shown or not; of a member's list it is its own.
     */
    list(filter: OrderFilter, page: PageRequest): Effect.Effect<OrderPage, InvalidRequest>
    /** One order of a member. */
    find(owner: OrderOwner, id: string): Effect.Effect<ListedOrder, NotFound>
    /**
     * At one moment, read off sums and off what is open: as quick however many orders there are. The
     * sums do not tell tasks from other orders, so of tasks only what is open is told, or videos.
     */
    totals(filter: OrderSumFilter): Effect.Effect<OrderTotals>
  }
>()("gateway/features/usage/OrderLists") {}

/** The part of the totals that orders of one state have. */
export const totalsOfState = (
  totals: OrderTotals,
  state: ListedOrder["state"] | null
): OrderTotals => ({
  ...totals,
  ...(state === null || state === "open" ? {} : { processing: 0, heldNano: 0n }),
  ...(state === null || state === "released" ? {} : { failed: 0 }),
  ...(state === null || state === "captured"
    ? {}
    : { succeeded: 0, chargeNano: 0n, returnedNano: 0n, costNano: 0n, withoutCost: 0 })
})
