/** What happened to one order, from its hold to its end, for the operator. */
import { Context, type Effect } from "effect"
import type { TaskNotFound } from "../domain/Errors.ts"
import type { Quote } from "../domain/money/Quote.ts"
import type { TaskState } from "../domain/video/VideoTask.ts"
import type { CallSubject, VendorCall } from "./CallLog.ts"
import type { VendorJob } from "./Ledger.ts"
import type { OrphanRecord } from "./Orphans.ts"
import type { NewTask, Task } from "./TaskRepo.ts"
import type { UsageRecord } from "./UsageLog.ts"

/** A call, and how often it was repeated with the same end; the answer is the newest one's. */
export interface LoggedCall extends Omit<VendorCall, "outcome"> {
  readonly id: string
  readonly purpose: CallSubject["purpose"]
  readonly repeats: number
  readonly lastAt: Date
}

export interface HoldHistory {
  readonly amountNano: bigint
  readonly state: "open" | "captured" | "released"
  readonly capturedNano: bigint
  readonly overageNano: bigint
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly closedAt: Date | null
  readonly closedBy: string | null
}

/** What only video tasks have: an image or text request is its hold. */
export interface VideoHistory
  extends Omit<NewTask, "submitSeconds">,
    Pick<Task, "state" | "completionTokens" | "errorCode" | "errorMessage"> {
  readonly upstreamId: string | null
  readonly submitDeadline: Date
  readonly deadline: Date
  readonly acceptedAt: Date | null
  readonly askedAt: Date | null
  readonly nextPollAt: Date | null
  readonly unknownSince: Date | null
  readonly finishedAt: Date | null
}

export interface JobHistory {
  readonly organizationId: string
  readonly id: string
  readonly memberId: string
  readonly job: VendorJob
  readonly quote: Quote
  readonly hold: HoldHistory
  readonly video: VideoHistory | null
  /** The newest ones where there are very many, in the order of their starts. */
  readonly calls: ReadonlyArray<LoggedCall>
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
export const kindOf = ({ video, quote }: JobHistory): "video" | "image" | "text" =>
  video !== null ? "video" : quote.kind === "tokens" ? "text" : "image"

/** An image or text request has the states of a task, told by its hold. */
export const stateOf = ({ video, hold }: JobHistory): TaskState =>
  video === null ? holdStates[hold.state] : video.state

export interface Transition {
  readonly state: TaskState
  readonly at: Date
  /** Who brought it about: `create`, `image`, `text`, `poll` or `sweep`. */
  readonly by: string
}

/** Every state the order has been in, in time. */
export const transitionsOf = (history: JobHistory): ReadonlyArray<Transition> => {
  const { hold, video } = history
  const begun: ReadonlyArray<Transition> =
    video === null
      ? [{ state: "processing", at: hold.createdAt, by: kindOf(history) }]
      : [
          { state: "submitting", at: hold.createdAt, by: "create" },
          ...(video.acceptedAt === null
            ? []
            : [{ state: "processing" as const, at: video.acceptedAt, by: "create" }])
        ]
  return hold.closedAt === null
    ? begun
    : [...begun, { state: stateOf(history), at: hold.closedAt, by: hold.closedBy ?? "unknown" }]
}
