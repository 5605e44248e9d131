/**
 * Lists of orders of every kind and their totals, for operators and members. Amounts are
 * nano-units.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../domain/Errors.ts"
import type { Tag } from "../domain/money/metadata.ts"
import { VendorBill } from "../domain/money/vendorBill.ts"
import { TaskState } from "../domain/taskStates.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import { VendorJob } from "./Ledger.ts"
import { HoldHistory } from "./TaskHistory.ts"

export const ListedOrder = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  memberId: Schema.String,
  keyId: Schema.String,
  model: Schema.String,
  modality: Schema.String,
  /** The job at the channel that executes, or executed, the order. */
  job: VendorJob,
  /** The vendor's id of the job; null where it is unknown. */
  upstreamId: Schema.NullOr(Schema.String),
  state: HoldHistory.fields.state,
  holdNano: Schema.BigInt,
  chargeNano: Schema.BigInt,
  overageNano: Schema.BigInt,
  /** The sum of the charge's corrections. */
  returnedNano: Schema.BigInt,
  costNano: Schema.NullOr(Schema.BigInt),
  vendorBill: Schema.NullOr(VendorBill),
  reportedCostNano: Schema.NullOr(Schema.BigInt),
  /** The price list that priced the order; null where the catalog's prices stood. */
  priceListId: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  promptDigest: Schema.NullOr(Schema.String),
  createdAt: Schema.Date,
  closedAt: Schema.NullOr(Schema.Date),
  /** The time at which the hold is released if the order is then still open. */
  expiresAt: Schema.Date,
  isTask: Schema.Boolean,
  /** Why a failed order has no product, for its member; null for every other order. */
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  /** The following fields belong to tasks, and are null for all other orders. */
  taskState: Schema.NullOr(TaskState),
  summary: Schema.Unknown,
  /** When the vendor accepted the task. */
  acceptedAt: Schema.NullOr(Schema.Date),
  /** When its owner deleted the task. */
  erasedAt: Schema.NullOr(Schema.Date),
  askedAt: Schema.NullOr(Schema.Date),
  nextPollAt: Schema.NullOr(Schema.Date)
})
export type ListedOrder = typeof ListedOrder.Type

/** Conditions on orders; null matches all. */
export interface OrderFilter {
  readonly organizationId: string | null
  readonly memberId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly modality: string | null
  readonly channelId: string | null
  /** The price list that priced the orders; `NO_PRICE_LIST` for the catalog's prices. */
  readonly priceListId: string | null
  readonly state: ListedOrder["state"] | null
  /** Only orders that were placed at this time or later match. */
  readonly from: Date | null
  /** Only orders that were placed before this time match. */
  readonly to: Date | null
  readonly tag: Tag | null
  /** The vendor's id of a task: if it is not null, only tasks match. */
  readonly upstreamId: string | null
  readonly promptDigest: string | null
  readonly tasksOnly: boolean
  readonly taskState: TaskState | null
}

/** The filter that every order matches. */
export const anyOrder: OrderFilter = {
  organizationId: null,
  memberId: null,
  keyId: null,
  model: null,
  modality: null,
  channelId: null,
  priceListId: null,
  state: null,
  from: null,
  to: null,
  tag: null,
  upstreamId: null,
  promptDigest: null,
  tasksOnly: false,
  taskState: null
}

/**
 * The conditions that totals support. Their times are beginnings of days in the deployment's time
 * zone.
 */
export type OrderSumFilter = Omit<OrderFilter, "upstreamId" | "promptDigest" | "taskState">

/**
 * The maximum length of the period of totals by a price list. The stored sums do not distinguish
 * price lists, so these totals are counted from the orders themselves.
 */
export const MAX_COUNTED_DAYS = 31

/** The member that an order belongs to. */
export interface OrderOwner {
  readonly organizationId: string
  readonly memberId: string
}

/** The same error for an unknown id and for the id of another owner's order. */
export const noSuchOrder = new NotFound({ message: "No such order" })

export interface OrderPage extends Page<ListedOrder> {
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** Totals over every order that matches the filter, not only over a page. */
export const OrderTotals = Schema.Struct({
  processing: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int,
  /** The sum of the holds of open orders. */
  heldNano: Schema.BigIntFromString,
  chargeNano: Schema.BigIntFromString,
  /** The corrections made in the period of the filter, also corrections of earlier orders. */
  returnedNano: Schema.BigIntFromString,
  costNano: Schema.BigIntFromString,
  /** The number of charges with an unknown cost. */
  withoutCost: Schema.Int,
  /** What vendors themselves report to bill, at the mounts' prices. */
  reportedCostNano: Schema.BigIntFromString,
  /** The number of charges without such a report, or without its price. */
  withoutReportedCost: Schema.Int
})
export type OrderTotals = typeof OrderTotals.Type

export class OrderLists extends Context.Service<
  OrderLists,
  {
    /**
     * Lists orders newest first. A page scans a bounded number of orders, so it may have fewer
     * entries than its limit, or none, although there is a next page. The cursor is the id of an
     * order that the list may scan; the order need not match the filter. In a member's list, the
     * cursor must be the id of one of the member's own orders.
     */
    list(filter: OrderFilter, page: PageRequest): Effect.Effect<OrderPage, InvalidRequest>
    /** Finds one order of a member. */
    find(owner: OrderOwner, id: string): Effect.Effect<ListedOrder, NotFound>
    /**
     * Adds up the stored sums and the open orders as of one moment. The duration does not depend on
     * the number of orders, except with a price list: then the orders of the period are counted,
     * which has to be bounded. The sums do not distinguish tasks from other orders, so totals of
     * tasks are exact only for open orders or for videos.
     */
    totals(filter: OrderSumFilter): Effect.Effect<OrderTotals>
  }
>()("gateway/features/usage/OrderLists") {}

/** The part of the totals that belongs to orders in one state. */
export const totalsOfState = (
  totals: OrderTotals,
  state: ListedOrder["state"] | null
): OrderTotals => ({
  ...totals,
  ...(state === null || state === "open" ? {} : { processing: 0, heldNano: 0n }),
  ...(state === null || state === "released" ? {} : { failed: 0 }),
  ...(state === null || state === "captured"
    ? {}
    : {
        succeeded: 0,
        chargeNano: 0n,
        returnedNano: 0n,
        costNano: 0n,
        withoutCost: 0,
        reportedCostNano: 0n,
        withoutReportedCost: 0
      })
})
