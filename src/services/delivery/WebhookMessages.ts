/**
 * Messages to the receivers of webhooks. A message is written in the commit of its event: a task ends, a
 * balance falls, a budget is reached, a channel starts or ends a cooldown, an orphan is written, or the
 * books are broken.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { taskDialects } from "../../domain/orderIds.ts"
import { TaskState } from "../../domain/taskStates.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { TaskResult } from "../TaskRepo.ts"

/** A task as it is when a message about it is sent, or when its results are copied. */
export const TaskSnapshot = Schema.Struct({
  id: Schema.String,
  memberId: Schema.String,
  state: TaskState,
  videoUrl: Schema.NullOr(Schema.String),
  result: Schema.NullOr(Schema.fromJsonString(TaskResult)),
  completionTokens: Schema.NullOr(Schema.BigIntFromString),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  isArchived: Schema.Boolean
})

/** A message that this gateway sends until its claim ends. */
export const ClaimedMessage = Schema.Struct({
  organizationId: Schema.String,
  /** The id, which stays the same for every attempt. */
  id: Schema.String,
  endpointId: Schema.String,
  receiver: Schema.String,
  url: Schema.String,
  /** Whether the order named the address, instead of an endpoint. */
  isCallback: Schema.Boolean,
  /** Whether the last attempt at the endpoint failed. */
  isFailing: Schema.Boolean,
  type: Schema.String,
  happenedAt: Schema.Date,
  taskId: Schema.NullOr(Schema.String),
  /** The dialect of the order, which decides the form of the task's id; null where there is no task. */
  dialect: Schema.NullOr(Schema.Literals(taskDialects)),
  /** Null where the message is about no task, or about one that was deleted. */
  task: Schema.NullOr(TaskSnapshot),
  data: Schema.Unknown,
  /** Attempts before this one. */
  tries: Schema.Int,
  lease: Schema.BigInt
})
export type ClaimedMessage = typeof ClaimedMessage.Type

/** How many messages one claim may take. */
export interface MessageClaims {
  /** Messages of all receivers together. */
  readonly limit: number
  /** Messages to receivers that fail. */
  readonly maxFailing: number
  /** Concurrent attempts at one receiver, those in `runningByReceiver` included; one that fails gets one. */
  readonly maxPerReceiver: number
  /** Concurrent attempts of one organisation, those in `runningByOrganization` included. */
  readonly maxPerOrganization: number
  /** Attempts that this gateway has under way. */
  readonly runningByReceiver: ReadonlyMap<string, number>
  readonly runningByOrganization: ReadonlyMap<string, number>
}

/** One attempt to deliver a message. */
export const DeliveryAttempt = Schema.Struct({
  at: Schema.Date,
  /** Null where no answer came. */
  status: Schema.NullOr(Schema.Int),
  durationMs: Schema.Int,
  /** The beginning of the answer. */
  answer: Schema.NullOr(Schema.String),
  /** Why no answer came. */
  error: Schema.NullOr(Schema.String)
})
export type DeliveryAttempt = typeof DeliveryAttempt.Type

/** The result of an attempt for its message. */
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
  /** Null where the message is about no task. */
  taskId: Schema.NullOr(Schema.String),
  /** The address of a callback; null for a message to an endpoint. */
  callbackUrl: Schema.NullOr(Schema.String),
  happenedAt: Schema.Date,
  nextAttemptAt: Schema.NullOr(Schema.Date),
  /** The last `MAX_LISTED_ATTEMPTS`, the newest last. */
  attempts: Schema.Array(DeliveryAttempt)
})
export type Delivery = typeof Delivery.Type

export const noSuchDelivery = (id: string) =>
  new NotFound({ message: `The endpoint has no delivery that is called ${JSON.stringify(id)}` })

/**
 * The time by which a claim lasts longer than an attempt may take. After it, the gateway has either
 * recorded the result or is gone.
 */
export const LEASE_MARGIN_SECONDS = 15

/** Attempts that the list of deliveries shows for a message. */
export const MAX_LISTED_ATTEMPTS = 20

export class WebhookMessages extends Context.Service<
  WebhookMessages,
  {
    /**
     * Claims due messages for this gateway, one receiver after the other in turns. No other call claims a
     * message before its claim ends, `LEASE_MARGIN_SECONDS` after the longest attempt.
     */
    claimDue(claims: MessageClaims): Effect.Effect<ReadonlyArray<ClaimedMessage>>
    /**
     * Records an attempt and its result, and what the result says of the endpoint. A repeat changes nothing,
     * nor does a call for a message that was claimed again since.
     */
    recordAttempt(
      message: ClaimedMessage,
      attempt: Omit<DeliveryAttempt, "at">,
      end: AttemptEnd
    ): Effect.Effect<void>
    /**
     * Lists the messages to an endpoint, newest first; a null state matches all. Fails with `InvalidRequest`
     * where `page.after` is none of them.
     */
    list(
      endpointId: string,
      state: DeliveryState | null,
      page: PageRequest
    ): Effect.Effect<Page<Delivery>, InvalidRequest>
    /**
     * Makes one message due again now, with all attempts of the schedule. A repeat does the same again. Fails
     * with `NotFound` where the endpoint has no such message.
     */
    redeliver(endpointId: string, id: string): Effect.Effect<void, NotFound>
    /** Makes every message of events since then due again now, and answers how many they are. */
    redeliverSince(endpointId: string, since: Date): Effect.Effect<number>
    /** Deletes messages that ended longer ago than the call log is kept, and answers how many. */
    readonly prune: Effect.Effect<number>
  }
>()("gateway/services/WebhookMessages") {}
