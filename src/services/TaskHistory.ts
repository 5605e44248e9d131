/** The history of one order from its hold to its end, for operators. */
import { Context, type Effect, Schema, Struct } from "effect"
import type { AppliedPriceList } from "../domain/catalog/PriceList.ts"
import { TaskNotFound } from "../domain/Errors.ts"
import type { Quote } from "../domain/money/Quote.ts"
import { TaskState } from "../domain/taskStates.ts"
import type { OrderFailure } from "../domain/VendorOutcome.ts"
import { type AnsweredCall, CallPurpose, VendorCall } from "./CallLog.ts"
import type { RefusedJob, VendorJob } from "./Ledger.ts"
import type { OrphanRecord } from "./Orphans.ts"
import type { UsageRecord } from "./UsageLog.ts"

/**
 * A vendor call, or several consecutive calls with the same outcome as one entry; its response is
 * the response of the newest call.
 */
export const LoggedCall = Schema.Struct({
  id: Schema.String,
  channelId: Schema.String,
  purpose: CallPurpose,
  ...Struct.omit(VendorCall.fields, ["outcome"]),
  repeats: Schema.Int,
  lastAt: Schema.Date
})
export type LoggedCall = typeof LoggedCall.Type

export const HoldHistory = Schema.Struct({
  amountNano: Schema.BigInt,
  state: Schema.Literals(["open", "captured", "released"]),
  capturedNano: Schema.BigInt,
  overageNano: Schema.BigInt,
  createdAt: Schema.Date,
  expiresAt: Schema.Date,
  closedAt: Schema.NullOr(Schema.Date),
  closedBy: Schema.NullOr(Schema.String)
})
export type HoldHistory = typeof HoldHistory.Type

/** The fields that only tasks have; an image or text request has a hold and no task. */
export const TaskFacts = Schema.Struct({
  listedProtocol: Schema.String,
  summary: Schema.Unknown,
  state: TaskState,
  /** Whether the task was ordered while its channel was full. */
  isQueued: Schema.Boolean,
  upstreamId: Schema.NullOr(Schema.String),
  completionTokens: Schema.NullOr(Schema.BigInt),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  submitDeadline: Schema.Date,
  deadline: Schema.Date,
  acceptedAt: Schema.NullOr(Schema.Date),
  askedAt: Schema.NullOr(Schema.Date),
  nextPollAt: Schema.NullOr(Schema.Date),
  unknownSince: Schema.NullOr(Schema.Date),
  finishedAt: Schema.NullOr(Schema.Date),
  erasedAt: Schema.NullOr(Schema.Date)
})
export type TaskFacts = typeof TaskFacts.Type

export interface JobHistory {
  readonly organizationId: string
  readonly id: string
  readonly memberId: string
  readonly keyId: string
  readonly model: string
  readonly job: VendorJob
  /** The channels that refused the order before, in the order of the attempts. */
  readonly refusals: ReadonlyArray<RefusedJob>
  /** Why the released order has no product; null where its task tells, and for every other order. */
  readonly failure: OrderFailure | null
  readonly quote: Quote
  /** The price list that priced the order; null where the catalog's prices stood. */
  readonly priceList: AppliedPriceList | null
  readonly hold: HoldHistory
  readonly task: TaskFacts | null
  /**
   * Logged calls, sorted by their start time. The list is limited to the newest calls; `totalCalls`
   * counts all of them.
   */
  readonly calls: ReadonlyArray<LoggedCall>
  /**
   * The call that produced the result of an image or text request; null where there is none. All
   * logged calls were made before it.
   */
  readonly call: AnsweredCall | null
  readonly totalCalls: number
  readonly capture: { readonly amountNano: bigint; readonly at: Date } | null
  readonly usage: UsageRecord | null
  readonly orphan: OrphanRecord | null
  /** Whether the order has an idempotency key that is still stored. */
  readonly hasIdempotencyKey: boolean
}

export class TaskHistory extends Context.Service<
  TaskHistory,
  {
    /**
     * Finds a task, image request or text request of any organisation by its id, after the call log
     * of this gateway is flushed. Changes nothing. Fails with `TaskNotFound` for every other id.
     */
    find(id: string): Effect.Effect<JobHistory, TaskNotFound>
  }
>()("gateway/services/TaskHistory") {}

export const noSuchTask = (id: string) =>
  new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })

const holdStates = { open: "processing", captured: "succeeded", released: "failed" } as const

/** The kind of the order, derived from the kind of its quote. */
export const kindOf = ({ quote }: JobHistory): "video" | "image" | "text" => {
  switch (quote.kind) {
    case "token_video":
    case "second_video":
    case "video_table":
      return "video"
    case "image":
    case "image_tokens":
      return "image"
    case "tokens":
    case "characters":
    case "audio_seconds":
    case "searches":
      return "text"
  }
}

/** The state of the order: the state of its video task, or that which follows from its hold. */
export const stateOf = (history: JobHistory): TaskState =>
  history.task === null || kindOf(history) !== "video"
    ? holdStates[history.hold.state]
    : history.task.state

export interface Transition {
  readonly state: TaskState
  readonly at: Date
  /** What caused the transition: `create`, `image`, `text`, `poll` or `sweep`. */
  readonly by: string
}

/** Every state the order has been in, oldest first. */
export const transitionsOf = (history: JobHistory): ReadonlyArray<Transition> => {
  const { hold, task } = history
  const opening: ReadonlyArray<Transition> =
    task === null || kindOf(history) === "image"
      ? [{ state: "processing", at: hold.createdAt, by: kindOf(history) }]
      : [
          {
            state: task.isQueued ? "waiting" : "submitting",
            at: hold.createdAt,
            by: "create"
          },
          ...(task.acceptedAt === null
            ? []
            : [{ state: "processing" as const, at: task.acceptedAt, by: "create" }])
        ]
  return hold.closedAt === null
    ? opening
    : [...opening, { state: stateOf(history), at: hold.closedAt, by: hold.closedBy ?? "unknown" }]
}
