/**
 * An order of any kind, checked and priced: a value that says how its steps are done. Every hook is there
 * for every kind, so that the steps ask for none of them whether it exists.
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

/** What the hooks of an order get to know when it runs. */
export interface OrderRun {
  readonly id: string
  /** Where the vendor finds the order's files, by their ids. */
  readonly addresses: FileAddresses
}

/** One way to have an order made. */
export interface MountedCall<Product>
  extends Pick<UsableMount, "priority" | "weight" | "job" | "cost"> {
  /**
   * The one paid call there, which is never repeated. Where the product leaves while the vendor works on
   * it, the call takes the charge before.
   */
  readonly call: (run: OrderRun, chargeNow: ChargeNow) => Effect.Effect<Product, VendorFailure>
}

/** Takes the charge in the middle of a call; false where the order had been given up. */
export type ChargeNow = (charge: Charge<void>) => Effect.Effect<boolean>

/** What finishing an order means, once the vendor has done its part. */
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
  /** What a vendor bills for the product, by a quote of its prices. */
  readonly costBy: (cost: Quote) => bigint
  readonly usage: UsageEntry
  /** What an operator should ask the vendor about, although the order is charged. */
  readonly orphan: Doubt | null
  /** The answer to repeats of the request; null where a task stands for it. */
  readonly repeatAnswer: (() => RepeatAnswer) | null
  /** A failure where only a part of what was ordered came. */
  readonly answer: Exit.Exit<Answer, UpstreamError>
}

export interface RepeatAnswer {
  readonly stored: StoredAnswer
  /** The part of the answer that the database does not store; null where there is none. */
  readonly remembered: RawAnswer | null
}

/** The terms of an order, which its hold and its end are written by. */
export interface OrderTerms {
  readonly kind: OrderKind
  readonly caller: Caller
  readonly model: Pick<Model, "id" | "modality">
  /** Frozen with the hold. */
  readonly quote: Quote
  /** The client's notes, which are stored with the usage. */
  readonly metadata: Metadata | null
  /** By which an operator who has the prompt finds the order; null where there is none. */
  readonly promptDigest: string | null
  /** From the hold to the moment it is given back without an answer. */
  readonly deadlineSeconds: number
  /** The organisation's files that the order refers to, which its vendor is given. */
  readonly files: OrderedFiles
  /** Written with the hold, and its end with the hold given back; null for an order without a task. */
  readonly task: OrderTask | null
  /** The part of a refusal that is stored for repeats of the request. */
  readonly storableRefusal: (error: UpstreamError, orphan: Doubt | null) => UpstreamError
}

interface OrderTask {
  readonly created: NewTask
  readonly rejected: (error: UpstreamError, run: OrderRun) => TaskOutcome
}

export interface PaidOrder<Product, Answer> extends OrderTerms {
  /** Each would make the whole order at this price; the next one is called where one made nothing. */
  readonly mounts: Arr.NonEmptyReadonlyArray<MountedCall<Product>>
  readonly finish: (product: Product, id: string) => Effect.Effect<Finish<Answer>>
  /**
   * What is charged where an answer of success came that could not be read; null where such an answer
   * only accepts a task, whose product nobody could get.
   */
  readonly chargeUnread: (failure: VendorLost, id: string) => Charge<never> | null
  /** Whether something of the answer has reached the client, so that no other mount may be called. */
  readonly hasBegun: () => boolean
  /** Why the vendor broke off what counts as made; null where it did not. */
  readonly breakOffOf: (product: Product) => VendorFailure | null
  /** Where the gateway stops in the middle of the call: what is charged for; null for nothing. */
  readonly finishPart: (id: string) => Effect.Effect<Finish<Answer>> | null
  /** What goes on around the steps after the hold, for as long as the order holds its permits. */
  readonly around: (
    steps: Effect.Effect<Answer, UpstreamError>,
    id: string
  ) => Effect.Effect<Answer, UpstreamError>
}

/** The hooks of an order that is answered whole, when its vendor has done its part. */
export const hooksOfWhole = {
  hasBegun: () => false,
  breakOffOf: () => null,
  finishPart: () => null,
  around: <Answer>(steps: Effect.Effect<Answer, UpstreamError>) => steps
}
