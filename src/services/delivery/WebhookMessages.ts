/**
 * Messages to the receivers of webhooks. They are written in the commit of what they tell: where a
 * task ends, a balance falls, a cap refuses, a channel rests, an orphan is left or books are broken.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { taskDialects } from "../../domain/orderIds.ts"
import { TaskState } from "../../domain/taskStates.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { TaskResult } from "../TaskRepo.ts"

/** The task a message tells of, as it is when the message is sent. */
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

/** A message that this gateway sends, until its claim is over. */
export const ClaimedMessage = Schema.Struct({
  organizationId: Schema.String,
  /** The same however often it is sent. */
  id: Schema.String,
  endpointId: Schema.String,
  receiver: Schema.String,
  url: Schema.String,
  /** It is not the endpoint's own address. */
  isCallback: Schema.Boolean,
  /** The endpoint failed the last time. */
  isFailing: Schema.Boolean,
  type: Schema.String,
  happenedAt: Schema.Date,
  taskId: Schema.NullOr(Schema.String),
  /** In whose words the task was ordered, and its id is told; null where the message tells of none. */
  dialect: Schema.NullOr(Schema.Literals(taskDialects)),
  /** Null where the message tells of no task, or of one that is not known any more. */
  task: Schema.NullOr(TaskSnapshot),
  data: Schema.Unknown,
  /** Attempts so far. */
  tries: Schema.Int,
  lease: Schema.BigInt
})
export type ClaimedMessage = typeof ClaimedMessage.Type

export interface MessageClaims {
  /** Of all receivers together. */
  readonly limit: number
  /** Of those of them that fail. */
  readonly maxFailing: number
  /** Of one receiver, less what it counts in `running`; of one that fails there is one at a time. */
  readonly maxPerReceiver: number
  readonly maxPerOrganization: number
  /** Attempts that run at this gateway, by receiver and by organisation. */
  readonly runningByReceiver: ReadonlyMap<string, number>
  readonly runningByOrganization: ReadonlyMap<string, number>
}

/** One attempt to deliver a message. */
export const DeliveryAttempt = Schema.Struct({
  at: Schema.Date,
  /** Null where no answer came. */
  status: Schema.NullOr(Schema.Int),
  durationMs: Schema.Int,
  /** How the answer begins. */
  answer: Schema.NullOr(Schema.String),
  /** Why no answer came. */
  error: Schema.NullOr(Schema.String)
})
export type DeliveryAttempt = typeof DeliveryAttempt.Type

/** What becomes of a message after an attempt. */
export type AttemptEnd =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Again"; readonly afterSeconds: number }
  | { readonly _tag: "Failed" }
  /** The receiver said that it wants no more: its endpoint is disabled. */
  | { readonly _tag: "Gone" }

export const DeliveryState = Schema.Literals(["pending", "delivered", "failed"])
export type DeliveryState = typeof DeliveryState.Type

/** A message in the log of its endpoint. */
export const Delivery = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  state: DeliveryState,
  /** Null for what tells of no task. */
  taskId: Schema.NullOr(Schema.String),
  /** Of a callback: where it goes. */
  callbackUrl: Schema.NullOr(Schema.String),
  happenedAt: Schema.Date,
  nextAttemptAt: Schema.NullOr(Schema.Date),
  /** The last ones, the newest last. */
  attempts: Schema.Array(DeliveryAttempt)
})
export type Delivery = typeof Delivery.Type

export const noSuchDelivery = (id: string) =>
  new NotFound({ message: `The endpoint has no delivery that is called ${JSON.stringify(id)}` })

/**
 * A claim lasts so much longer than an attempt may: by then its gateway has written its end, or is
 * gone.
 */
export const LEASE_MARGIN_SECONDS = 15

/** Attempts of one message that its log shows. */
export const MAX_LISTED_ATTEMPTS = 20

export class WebhookMessages extends Context.Service<
  WebhookMessages,
  {
    /** Claims due messages for this gateway; receivers take turns. None is claimed twice at a time. */
    claimDue(claims: MessageClaims): Effect.Effect<ReadonlyArray<ClaimedMessage>>
    /** Writes an attempt down. Nothing changes where the message was claimed again since. */
    recordAttempt(
      message: ClaimedMessage,
      attempt: Omit<DeliveryAttempt, "at">,
      end: AttemptEnd
    ): Effect.Effect<void>
    /** What was and is to be told to an endpoint, newest first. */
    list(
      endpointId: string,
      state: DeliveryState | null,
      page: PageRequest
    ): Effect.Effect<Page<Delivery>, InvalidRequest>
    /** Sends one message again, now. */
    redeliver(endpointId: string, id: string): Effect.Effect<void, NotFound>
    /** Sends all again that tell of what happened since then; answers how many. */
    redeliverSince(endpointId: string, since: Date): Effect.Effect<number>
    /** Forgets what ended long ago. */
    readonly prune: Effect.Effect<number>
  }
>()("gateway/services/WebhookMessages") {}
