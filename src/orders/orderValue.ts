/** An order of any kind, checked and priced: a value that says how its steps are done. */
import type { Array as Arr, Effect, Exit } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { UpstreamError } from "../domain/Errors.ts"
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

/** One way to have an order made. */
export interface MountedCall<Made>
  extends Pick<UsableMount, "priority" | "weight" | "job" | "cost"> {
  /**
   * The one paid call there, which is never repeated. Where what is made leaves while it is made, the
   * call takes the charge before.
   */
  readonly call: (id: string, charge: ChargeNow) => Effect.Effect<Made, VendorFailure>
}

/** Takes the charge in the middle of a call; false where the order had been given up. */
export type ChargeNow = (finish: ChargeOf<void>) => Effect.Effect<boolean>

/** What finishing an order means, once the vendor has done its part. */
export type Finish<Answer> =
  /** The vendor's acceptance is recorded; the task is charged when it ends. */
  | { readonly _tag: "Accept"; readonly upstream: UpstreamTask; readonly answer: Answer }
  /** The charge was taken in the middle of the call. */
  | { readonly _tag: "Charged"; readonly answer: Exit.Exit<Answer, UpstreamError> }
  | ChargeOf<Answer>

/** The charge is taken now, and the answer kept for repeats of the request. */
export interface ChargeOf<Answer> {
  readonly _tag: "Charge"
  readonly chargeNano: bigint
  /** How its task ends, where it has one. */
  readonly task?: TaskOutcome
  /** What a vendor bills for what came, by a quote of its prices. */
  readonly costBy: (cost: Quote) => bigint
  readonly usage: UsageEntry
  /** What an operator should ask the vendor about, although the order is charged. */
  readonly orphan?: Doubt | null
  /** Absent where a task stands for the answer. */
  readonly keep?: () => {
    readonly stored: StoredAnswer
    /** What the database does not keep of the answer; null where there is no such thing. */
    readonly remembered: RawAnswer | null
  }
  /** A failure where only a part of what was ordered came. */
  readonly answer: Exit.Exit<Answer, UpstreamError>
}

export interface PaidOrder<Made, Answer> {
  readonly kind: OrderKind
  readonly caller: Caller
  readonly model: Pick<Model, "id" | "modality">
  /** Each would make the whole order at this price; the next one is called where one made nothing. */
  readonly mounts: Arr.NonEmptyReadonlyArray<MountedCall<Made>>
  /** Frozen with the hold. */
  readonly quote: Quote
  /** The client's notes, which are kept with the usage. */
  readonly metadata: Metadata | null
  /** By which an operator who has the prompt finds the order; null where there is none. */
  readonly promptDigest: string | null
  /** From the hold to the moment it is given back without an answer. */
  readonly deadlineSeconds: number
  /** Written with the hold, and its end with the hold given back. */
  readonly task?: {
    readonly created: NewTask
    readonly rejected: (error: UpstreamError) => TaskOutcome
  }
  /** Something of the answer has reached the client: no other mount may be called. */
  readonly hasBegun?: () => boolean
  /** Why the vendor broke off what counts as made; null where it did not. */
  readonly brokenOffBy?: (made: Made) => VendorFailure | null
  readonly finish: (made: Made, id: string) => Effect.Effect<Finish<Answer>>
  /**
   * What is charged where an answer of success came that could not be read. Absent where such an answer
   * only accepts a task: nobody could get what comes of it.
   */
  readonly finishUnread?: (failure: VendorLost, id: string) => ChargeOf<never>
  /** Where the gateway stops in the middle of the call: what is charged for; null for nothing. */
  readonly finishPart?: (id: string) => Effect.Effect<Finish<Answer>> | null
  /** What is kept of a refusal for repeats of the request; all but its media where this is left out. */
  readonly storableRefusal?: (error: UpstreamError, orphan: Doubt | null) => UpstreamError
  /** What goes on around the steps after the hold, for as long as the order keeps its places. */
  readonly around?: (
    steps: Effect.Effect<Answer, UpstreamError>,
    id: string
  ) => Effect.Effect<Answer, UpstreamError>
}
