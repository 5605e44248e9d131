/**
 * The type of a checked and priced order of any kind, with the hooks that the steps of an order
 * call. Every kind of order has every hook, so that no step has to check whether a hook exists.
 */
import type { Array as Arr, Effect, Exit, Redacted } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { UpstreamError } from "../domain/Errors.ts"
import type { FileAddresses } from "../domain/files/fileReferences.ts"
import type { Metadata } from "../domain/money/metadata.ts"
import type { Quote } from "../domain/money/Quote.ts"
import type { OrderKind } from "../domain/orderIds.ts"
import type { RawAnswer } from "../domain/RawAnswer.ts"
import type { Doubt, VendorFailure, VendorLost } from "../domain/VendorOutcome.ts"
import type { Caller } from "../services/Access.ts"
import type { StoredAnswer } from "../services/IdempotencyKeys.ts"
import type { UsageEntry } from "../services/Ledger.ts"
import type { NewTask, TaskOutcome, UpstreamTask } from "../services/TaskRepo.ts"
import type { UsableMount } from "./OrderChecks.ts"
import type { OrderedFiles } from "./orderFiles.ts"

/** The data of a running order that its hooks get. */
export interface OrderRun {
  readonly id: string
  /** The URLs by which the vendor gets the order's files, by file id. */
  readonly addresses: FileAddresses
}

/** A mount that can make the order, with its paid call. */
export interface MountedCall<Product>
  extends Pick<UsableMount, "priority" | "weight" | "job" | "cost" | "maxTasks"> {
  /**
   * Makes the only paid call of the mount, which is never repeated. When the product is streamed
   * while the vendor works on it, the call captures the charge first.
   */
  readonly call: (run: OrderRun, chargeNow: ChargeNow) => Effect.Effect<Product, VendorFailure>
}

/** Captures the charge in the middle of a call; false when the hold had already been released. */
export type ChargeNow = (charge: Charge<void>) => Effect.Effect<boolean>

/** The ways to finish an order after the vendor has answered. */
export type Finish<Answer> =
  /** The vendor's acceptance is recorded; the task is charged when it ends. */
  | { readonly _tag: "Accept"; readonly upstream: UpstreamTask; readonly answer: Answer }
  /** The charge was captured in the middle of the call. */
  | { readonly _tag: "Charged"; readonly answer: Exit.Exit<Answer, UpstreamError> }
  | Charge<Answer>

/** The charge is captured, and the answer is stored for repeated requests. */
export interface Charge<Answer> {
  readonly _tag: "Charge"
  readonly chargeNano: bigint
  /** The end of the task; null where the order has no task. */
  readonly task: TaskOutcome | null
  /**
   * Calculates the amount that the vendor bills for the product, from a quote by the vendor's
   * prices.
   */
  readonly costBy: (cost: Quote) => bigint
  readonly usage: UsageEntry
  /**
   * A doubt that an operator has to clear with the vendor, although the order is charged; null
   * without a doubt.
   */
  readonly orphan: Doubt | null
  /** The answer to repeated requests; null where a task takes its place. */
  readonly repeatAnswer: (() => RepeatAnswer) | null
  /** The answer to the client; a failure when only a part of the product arrived. */
  readonly answer: Exit.Exit<Answer, UpstreamError>
}

export interface RepeatAnswer {
  readonly stored: StoredAnswer
  /** The part of the answer that the database does not store; null where there is none. */
  readonly remembered: RawAnswer | null
}

/** The terms of an order, from which its hold and its end are recorded. */
export interface OrderTerms {
  readonly kind: OrderKind
  readonly caller: Caller
  readonly model: Pick<Model, "id" | "modality">
  /** The price list that priced the order; null where the catalog's prices stand. */
  readonly priceList: string | null
  /** The price, stored with the hold. */
  readonly quote: Quote
  /** The client's metadata, which is stored with the usage. */
  readonly metadata: Metadata | null
  /**
   * A digest of the prompt, by which an operator who has the prompt finds the order; null without a
   * prompt.
   */
  readonly promptDigest: string | null
  /** The time after which the hold of an unanswered order is released. */
  readonly deadlineSeconds: number
  /** The organisation's files to which the order refers. */
  readonly files: OrderedFiles
  /**
   * Whether the files are sent as data URLs alone, since the vendor of a mount loads no address;
   * false if missing.
   */
  readonly needsBytes?: boolean
  /**
   * The task, which is written in the same transactions as the hold and its release; null for an
   * order without a task.
   */
  readonly task: OrderTask | null
  /** The part of a refusal that is stored for repeated requests. */
  readonly storableRefusal: (error: UpstreamError, orphan: Doubt | null) => UpstreamError
  /**
   * Removes the texts of the request from a vendor's message, which is then stored with the order;
   * null if the request contains too much text to search.
   */
  readonly redact: (message: string, run: OrderRun) => string | null
}

interface OrderTask {
  readonly created: NewTask
  readonly rejected: (error: UpstreamError, run: OrderRun) => TaskOutcome
  /** The end of a task whose vendor cancelled the job; null where no job is awaited. */
  readonly cancelled: TaskOutcome | null
}

/** How an order waits for a place at a channel that has as many tasks as it may have. */
export interface OrderWait<Answer> {
  readonly maxSeconds: number
  /** The order as JSON, from which any gateway submits it later. */
  readonly request: () => Redacted.Redacted
  /** The answer to the client, which has the id of the waiting order. */
  readonly answer: (id: string) => Answer
}

export interface PaidOrder<Product, Answer> extends OrderTerms {
  /** Null where the order is refused at a channel that has as many tasks as it may have. */
  readonly wait: OrderWait<Answer> | null
  /**
   * The mounts, each of which can make the complete order at this price. When the vendor of one
   * mount created nothing, the next mount is called.
   */
  readonly mounts: Arr.NonEmptyReadonlyArray<MountedCall<Product>>
  readonly finish: (product: Product, id: string) => Effect.Effect<Finish<Answer>>
  /**
   * The charge for a successful answer that could not be read. Null for orders whose answer only
   * accepts a task: the product cannot be fetched without the task's id, which was in that answer.
   */
  readonly chargeUnread: (failure: VendorLost, id: string) => Charge<never> | null
  /**
   * Whether a part of the answer was already sent to the client, after which no other mount may be
   * called.
   */
  readonly hasBegun: () => boolean
  /**
   * The vendor's failure that cut the product short, although the delivered part is charged; null
   * without such a failure.
   */
  readonly breakOffOf: (product: Product) => VendorFailure | null
  /**
   * Charges the part of the product that had arrived when the gateway was stopped in the middle of
   * the call; null where no part had arrived.
   */
  readonly finishPart: (id: string) => Effect.Effect<Finish<Answer>> | null
  /** Wraps the steps after the hold, which run while the order has its permits. */
  readonly around: (
    steps: Effect.Effect<Answer, UpstreamError>,
    id: string
  ) => Effect.Effect<Answer, UpstreamError>
}

/**
 * The hooks of an order without a streamed answer, which is answered when its vendor has finished.
 */
export const unstreamedHooks = {
  wait: null,
  hasBegun: () => false,
  breakOffOf: () => null,
  finishPart: () => null,
  around: <Answer>(steps: Effect.Effect<Answer, UpstreamError>) => steps
}
