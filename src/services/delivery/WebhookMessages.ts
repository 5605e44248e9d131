/**
 * Webhook messages to their receivers. A message is written in the commit of its event: a task
 * ends, a balance falls below its threshold, a budget reaches a threshold, a channel starts or ends
 * a cooldown, an orphan is written, or the ledger has violations.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { taskDialects } from "../../domain/orderIds.ts"
import { TaskState } from "../../domain/taskStates.ts"
import { VideoStills } from "../../domain/video/videoStills.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { TaskResult } from "../TaskRepo.ts"

/**
 * The state of a task at the time when a message about it is sent, or when its results are copied.
 */
export const TaskSnapshot = Schema.Struct({
  id: Schema.String,
  memberId: Schema.String,
  channelId: Schema.String,
  protocol: Schema.String,
  /** The account that created the job, as in `Task`. */
  accountVersion: Schema.NullOr(Schema.Int),
  keyName: Schema.NullOr(Schema.String),
  state: TaskState,
  videoUrl: Schema.NullOr(Schema.String),
  stills: Schema.NullOr(VideoStills),
  result: Schema.NullOr(Schema.fromJsonString(TaskResult)),
  completionTokens: Schema.NullOr(Schema.BigIntFromString),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  isArchived: Schema.Boolean,
  /** Whether the product was ordered with the vendor's mark. */
  isMarked: Schema.Boolean
})

/** A message that this gateway has claimed for sending. The claim is a lease. */
export const ClaimedMessage = Schema.Struct({
  organizationId: Schema.String,
  /** The message id, which is the same for every attempt. */
  id: Schema.String,
  endpointId: Schema.String,
  receiver: Schema.String,
  url: Schema.String,
  /**
   * Whether the address is the callback address of an order; otherwise it belongs to an endpoint.
   */
  isCallback: Schema.Boolean,
  /** Whether the last attempt at the endpoint failed. */
  isFailing: Schema.Boolean,
  type: Schema.String,
  happenedAt: Schema.Date,
  taskId: Schema.NullOr(Schema.String),
  /**
   * The dialect of the order, which decides the form of the task's id; null where there is no task.
   */
  dialect: Schema.NullOr(Schema.Literals(taskDialects)),
  /** The task of the message; null where the message is about no task, or about a deleted one. */
  task: Schema.NullOr(TaskSnapshot),
  data: Schema.Unknown,
  /** The number of attempts before this one. */
  tries: Schema.Int,
  lease: Schema.BigInt
})
export type ClaimedMessage = typeof ClaimedMessage.Type

/** The limits of one claim. */
export interface MessageClaims {
  /** Maximum number of messages over all receivers. */
  readonly limit: number
  /** Maximum number of messages to receivers whose last attempt failed. */
  readonly maxFailing: number
  /**
   * Maximum number of concurrent attempts to one receiver, including those in `runningByReceiver`.
   * A receiver whose last attempt failed gets one attempt at a time.
   */
  readonly maxPerReceiver: number
  /**
   * Maximum number of concurrent attempts for one organisation, including those in
   * `runningByOrganization`.
   */
  readonly maxPerOrganization: number
  /** The running attempts of this gateway. */
  readonly runningByReceiver: ReadonlyMap<string, number>
  readonly runningByOrganization: ReadonlyMap<string, number>
}

/** One attempt to deliver a message. */
export const DeliveryAttempt = Schema.Struct({
  at: Schema.Date,
  /** The HTTP status; null where no response arrived. */
  status: Schema.NullOr(Schema.Int),
  durationMs: Schema.Int,
  /** The beginning of the response body. */
  answer: Schema.NullOr(Schema.String),
  /** Why no response arrived. */
  error: Schema.NullOr(Schema.String)
})
export type DeliveryAttempt = typeof DeliveryAttempt.Type

/** What happens to a message after an attempt: it is delivered, due again, or given up. */
export type AttemptEnd =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Again"; readonly afterSeconds: number }
  | { readonly _tag: "Failed" }
  /** The receiver answered 410 Gone, and its endpoint is disabled. */
  | { readonly _tag: "Gone" }

export const DeliveryState = Schema.Literals(["pending", "delivered", "failed"])
export type DeliveryState = typeof DeliveryState.Type

/** A message in the log of its endpoint. */
export const Delivery = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  state: DeliveryState,
  /** The id of the task; null where the message is about no task. */
  taskId: Schema.NullOr(Schema.String),
  /** The address of a callback; null for a message to an endpoint. */
  callbackUrl: Schema.NullOr(Schema.String),
  happenedAt: Schema.Date,
  nextAttemptAt: Schema.NullOr(Schema.Date),
  /** The last `MAX_LISTED_ATTEMPTS` attempts, the newest last. */
  attempts: Schema.Array(DeliveryAttempt)
})
export type Delivery = typeof Delivery.Type

/** Which messages to an endpoint are listed; a null field matches all. */
export interface DeliveryFilter {
  readonly state: DeliveryState | null
  readonly taskId: string | null
}

export const noSuchDelivery = (id: string) =>
  new NotFound({ message: `The endpoint has no delivery that is called ${JSON.stringify(id)}` })

/**
 * The time by which a claim lasts longer than the longest possible attempt. A claim that ends
 * without a recorded result therefore belongs to a gateway that has stopped.
 */
export const LEASE_MARGIN_SECONDS = 15

/** Maximum number of attempts per message in the list of deliveries. */
export const MAX_LISTED_ATTEMPTS = 20

export class WebhookMessages extends Context.Service<
  WebhookMessages,
  {
    /**
     * Claims due messages for this gateway; the receivers take turns. A claim ends
     * `LEASE_MARGIN_SECONDS` after the longest possible attempt; before that, no other call claims
     * the message.
     */
    claimDue(claims: MessageClaims): Effect.Effect<ReadonlyArray<ClaimedMessage>>
    /**
     * Records an attempt and its result, and updates the endpoint accordingly. A repeated call
     * changes nothing. A call for a message that was claimed again since changes nothing either.
     */
    recordAttempt(
      message: ClaimedMessage,
      attempt: Omit<DeliveryAttempt, "at">,
      end: AttemptEnd
    ): Effect.Effect<void>
    /**
     * Lists the messages to an endpoint, newest first. Fails with `InvalidRequest` where
     * `page.after` is not a message to the endpoint.
     */
    list(
      endpointId: string,
      filter: DeliveryFilter,
      page: PageRequest
    ): Effect.Effect<Page<Delivery>, InvalidRequest>
    /**
     * Makes one message due immediately, and starts its retry schedule again from the first
     * attempt. A repeated call has the same effect. Fails with `NotFound` where the endpoint has no
     * such message.
     */
    redeliver(endpointId: string, id: string): Effect.Effect<void, NotFound>
    /**
     * Makes all messages about events since this time due immediately, as `redeliver` does, and
     * returns their number.
     */
    redeliverSince(endpointId: string, since: Date): Effect.Effect<number>
    /**
     * Deletes finished messages that are older than the retention time of the call log, and returns
     * their number.
     */
    readonly prune: Effect.Effect<number>
  }
>()("gateway/services/WebhookMessages") {}
