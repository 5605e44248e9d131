/**
 * The value of a checked and priced order, whatever its kind, with the hooks that its steps call. Every kind
 * has every hook, so that no step has to check whether one exists.
 */
import type { Array as Arr, Effect, Exit } from "effect"
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

/** The run of an order, as its hooks get it. */
export interface OrderRun {
  readonly id: string
  /** The addresses of the order's files for its vendor, by their ids. */
  readonly addresses: FileAddresses
}

/** A mount at which the order can be made, and its call. */
export interface MountedCall<Product>
  extends Pick<UsableMount, "priority" | "weight" | "job" | "cost"> {
  /**
   * Makes the one paid call of the mount, which is never repeated. Where the product is streamed while the
   * vendor works on it, the call takes the charge first.
   */
  readonly call: (run: OrderRun, chargeNow: ChargeNow) => Effect.Effect<Product, VendorFailure>
}

/** Takes the charge in the middle of a call; false where the hold had been given back. */
export type ChargeNow = (charge: Charge<void>) => Effect.Effect<boolean>

/** How an order is finished when the vendor has answered. */
export type Finish<Answer> =
  /** The vendor's acceptance is recorded; the task is charged when it ends. */
  | { readonly _tag: "Accept"; readonly upstream: UpstreamTask; readonly answer: Answer }
  /** The charge was taken in the middle of the call. */
  | { readonly _tag: "Charged"; readonly answer: Exit.Exit<Answer, UpstreamError> }
  | Charge<Answer>

/** The charge is taken now, and the answer is stored for repeats of the request. */
export interface Charge<Answer> {
  readonly _tag: "Charge"
  readonly chargeNano: bigint
  /** How its task ends; null where the order has none. */
  readonly task: TaskOutcome | null
  /** The vendor's bill for the product, by a quote of the vendor's prices. */
  readonly costBy: (cost: Quote) => bigint
  readonly usage: UsageEntry
  /** The doubt for an operator to clear with the vendor, although the order is charged; null without one. */
  readonly orphan: Doubt | null
  /** The answer to repeats of the request; null where a task stands for it. */
  readonly repeatAnswer: (() => RepeatAnswer) | null
  /** A failure where only a part of the product came. */
  readonly answer: Exit.Exit<Answer, UpstreamError>
}

export interface RepeatAnswer {
  readonly stored: StoredAnswer
  /** The part of the answer that the database does not store; null where there is none. */
  readonly remembered: RawAnswer | null
}

/** The terms of an order, from which its hold and its end are written. */
export interface OrderTerms {
  readonly kind: OrderKind
  readonly caller: Caller
  readonly model: Pick<Model, "id" | "modality">
  /** The price, stored with the hold. */
  readonly quote: Quote
  /** The client's metadata, which is stored with the usage. */
  readonly metadata: Metadata | null
  /** The digest by which an operator who has the prompt finds the order; null without a prompt. */
  readonly promptDigest: string | null
  /** The time after which an unanswered order's hold is given back. */
  readonly deadlineSeconds: number
  /** The organisation's files that the order refers to. */
  readonly files: OrderedFiles
  /** The task, which is written in the commits of the hold and of its return; null for an order without one. */
  readonly task: OrderTask | null
  /** The part of a refusal that is stored for repeats of the request. */
  readonly storableRefusal: (error: UpstreamError, orphan: Doubt | null) => UpstreamError
}

interface OrderTask {
  readonly created: NewTask
  readonly rejected: (error: UpstreamError, run: OrderRun) => TaskOutcome
}

export interface PaidOrder<Product, Answer> extends OrderTerms {
  /** Each can make the complete order at this price; the next one is called where one made nothing. */
  readonly mounts: Arr.NonEmptyReadonlyArray<MountedCall<Product>>
  readonly finish: (product: Product, id: string) => Effect.Effect<Finish<Answer>>
  /**
   * The charge for a successful answer that could not be read; null where such an answer only accepts a
   * task, whose product could not be fetched without its id.
   */
  readonly chargeUnread: (failure: VendorLost, id: string) => Charge<never> | null
  /** Whether a part of the answer was sent to the client, so that no other mount may be called. */
  readonly hasBegun: () => boolean
  /** The vendor's failure that broke off a product which is charged all the same; null without one. */
  readonly breakOffOf: (product: Product) => VendorFailure | null
  /** Finishes the part that came before the gateway stopped in the middle of the call; null for no part. */
  readonly finishPart: (id: string) => Effect.Effect<Finish<Answer>> | null
  /** Wraps the steps after the hold, which run while the order has its permits. */
  readonly around: (
    steps: Effect.Effect<Answer, UpstreamError>,
    id: string
  ) => Effect.Effect<Answer, UpstreamError>
}

/** The hooks of an order without a stream, which is answered when its vendor has finished. */
export const unstreamedHooks = {
  hasBegun: () => false,
  breakOffOf: () => null,
  finishPart: () => null,
  around: <Answer>(steps: Effect.Effect<Answer, UpstreamError>) => steps
}
