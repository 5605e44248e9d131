/** What happened to one order, from its hold to its end, for the operator. */
import { Context, type Effect, Schema, Struct } from "effect"
import type { TaskNotFound } from "../domain/Errors.ts"
import type { Quote } from "../domain/money/Quote.ts"
import { TaskState } from "../domain/taskStates.ts"
import { type AnsweredCall, CallPurpose, VendorCall } from "./CallLog.ts"
import type { RefusedJob, VendorJob } from "./Ledger.ts"
import type { OrphanRecord } from "./Orphans.ts"
import type { UsageRecord } from "./UsageLog.ts"

/** A call, and how often it was repeated with the same end; the answer is the newest one's. */
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

/** What only tasks have: an image or text that its client waits for is its hold. */
export const TaskFacts = Schema.Struct({
  listedProtocol: Schema.String,
  summary: Schema.Unknown,
  state: TaskState,
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
  /** The channels it was given to before. */
  readonly refusals: ReadonlyArray<RefusedJob>
  readonly quote: Quote
  readonly hold: HoldHistory
  readonly task: TaskFacts | null
  /** The newest ones where there are very many, in the order of their starts. */
  readonly calls: ReadonlyArray<LoggedCall>
  /** The one call that made it; those of the log come before it. */
  readonly call: AnsweredCall | null
  readonly totalCalls: number
  readonly capture: { readonly amountNano: bigint; readonly at: Date } | null
  readonly usage: UsageRecord | null
  readonly orphan: OrphanRecord | null
  /** The order came with an Idempotency-Key that is still known. */
  readonly hasIdempotencyKey: boolean
}

export class TaskHistory extends Context.Service<
  TaskHistory,
  {
    /** By the id of a task, image or text request, of any organisation. */
    find(id: string): Effect.Effect<JobHistory, TaskNotFound>
  }
>()("gateway/services/TaskHistory") {}

const holdStates = { open: "processing", captured: "succeeded", released: "failed" } as const

/** What was ordered. */
export const kindOf = ({ quote }: JobHistory): "video" | "image" | "text" => {
  if (quote.kind === "tokens") return "text"
  return quote.kind === "image" ? "image" : "video"
}

/** An image or text request has the states of a task, told by its hold. */
export const stateOf = (history: JobHistory): TaskState =>
  history.task === null || kindOf(history) === "image"
    ? holdStates[history.hold.state]
    : history.task.state

export interface Transition {
  readonly state: TaskState
  readonly at: Date
  /** Who brought it about: `create`, `image`, `text`, `poll` or `sweep`. */
  readonly by: string
}

/** Every state the order has been in, in time. */
export const transitionsOf = (history: JobHistory): ReadonlyArray<Transition> => {
  const { hold, task } = history
  const begun: ReadonlyArray<Transition> =
    task === null || kindOf(history) === "image"
      ? [{ state: "processing", at: hold.createdAt, by: kindOf(history) }]
      : [
          { state: "submitting", at: hold.createdAt, by: "create" },
          ...(task.acceptedAt === null
            ? []
            : [{ state: "processing" as const, at: task.acceptedAt, by: "create" }])
        ]
  return hold.closedAt === null
    ? begun
    : [...begun, { state: stateOf(history), at: hold.closedAt, by: hold.closedBy ?? "unknown" }]
}
