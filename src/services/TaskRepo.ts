/** Tasks as they are stored. Creation and ending ride in the ledger's commits. */
import { Context, Effect, type Latch, type Option, Schema } from "effect"
import type { InvalidRequest, TaskNotFound } from "../domain/Errors.ts"
import { type TaskDialect, type TaskKind, taskDialects } from "../domain/orderIds.ts"
import { TaskState, type TaskTransition } from "../domain/taskStates.ts"
import { VideoKind, VideoQuote } from "../domain/video/VideoQuote.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import type { ArchivedFile } from "./results/ArchiveBucket.ts"

/** What is written with the hold, beside what every order has. */
export interface NewTask {
  /** The protocol the catalog listed the model under when the task was ordered. */
  readonly listedProtocol: string
  /** What was ordered, without prompt or media. */
  readonly summary: unknown
  readonly submitSeconds: number
  /** Where its end is told, besides the endpoints of its organisation; null or absent is nowhere. */
  readonly callbackUrl?: string | null
  /** What is made is copied into the archive. */
  readonly isArchived?: boolean
  /** In whose words it was ordered; ours when left out. */
  readonly dialect?: TaskDialect
}

/** A task as its vendor knows it. */
export interface UpstreamTask {
  readonly upstreamId: string
  /** The account of its channel that it was made with, and the key of that. */
  readonly accountVersion: number
  readonly keyName: string
  /** Of the account's base address. */
  readonly origin: string
}

/** A job as its vendor tells it: vendors count theirs each for itself. */
export interface VendorsJob extends Pick<UpstreamTask, "origin" | "upstreamId"> {
  readonly channelId: string
}

/** The vendor told the job of another order, which it makes and bills once. */
export class DuplicateJob extends Schema.TaggedError<DuplicateJob>()("DuplicateJob", {}) {}

/** What a client is answered of images: addresses, and nothing long. */
export const TaskResult = Schema.Record(Schema.String, Schema.Unknown)
export type TaskResult = typeof TaskResult.Type

interface VideoResult {
  readonly videoUrl: string
  readonly completionTokens: bigint | null
}

interface ImagesResult {
  readonly result: TaskResult
  /** What stands in the archive already; null or absent where it is copied there from addresses. */
  readonly files?: ReadonlyArray<ArchivedFile> | null
}

interface TaskFailure {
  readonly errorCode: string
  readonly errorMessage: string
  /**
   * The claim this end was decided under, where it is no verdict of the vendor: it changes
   * nothing once the task was claimed again. Null or absent: final, also when another gateway holds the task.
   */
  readonly lease?: bigint | null
}

/** How a task ends, written with the close of its hold. */
export type TaskOutcome =
  | (Extract<TaskTransition<"video">, { readonly state: "succeeded" }> & VideoResult)
  | (Extract<TaskTransition<"image">, { readonly state: "succeeded" }> & ImagesResult)
  | (Extract<TaskTransition, { readonly state: "failed" | "rejected" }> & TaskFailure)

/** A task as its readers see it. */
export const Task = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  /** Who ordered it. */
  memberId: Schema.String,
  model: Schema.String,
  channelId: Schema.String,
  state: TaskState,
  /** No further transition is possible. */
  finished: Schema.Boolean,
  videoUrl: Schema.NullOr(Schema.String),
  result: Schema.NullOr(Schema.fromJsonString(TaskResult)),
  completionTokens: Schema.NullOr(Schema.BigInt),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  /** What was made is copied into the archive, and told by addresses of our own. */
  isArchived: Schema.Boolean,
  dialect: Schema.Literals(taskDialects),
  /** What was ordered of its shape, and the size where it was ordered by one. */
  ratio: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.String),
  finishedAt: Schema.NullOr(Schema.Date),
  ageSeconds: Schema.Number,
  /**
   * From the latest claim, or the answer to it, or the vendor's acceptance; null before that. No
   * claim succeeds before the ask interval has passed since.
   */
  sinceAskedSeconds: Schema.NullOr(Schema.Number),
  /** Null where what was ordered does not tell it. */
  kind: Schema.NullOr(VideoKind)
})
export type Task = typeof Task.Type

/** A task in a list of its member's. */
export const ListedTask = Schema.Struct({ ...Task.fields, createdAt: Schema.Date })
export type ListedTask = typeof ListedTask.Type

/** Null leaves a question out. */
export interface TaskFilter {
  readonly kind: TaskKind
  readonly states: ReadonlyArray<TaskState>
  readonly model: string | null
  readonly createdAfter: Date | null
  readonly order: "asc" | "desc"
}

/** A claimed task, which certainly runs at a vendor: all that is needed to ask and to settle. */
export const ClaimedTask = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  model: Schema.String,
  channelId: Schema.String,
  /** It may be one this gateway has no adapter for (any more). */
  protocol: Schema.String,
  /** The protocol the catalog listed the model under when the task was ordered. */
  listedProtocol: Schema.String,
  upstreamModel: Schema.String,
  upstreamId: Schema.String,
  /** The account of its channel that it was made with, and the key of that. */
  accountVersion: Schema.Int,
  keyName: Schema.String,
  /** Whether a file that is marked as made by AI was ordered. */
  isMarked: Schema.Boolean,
  ageSeconds: Schema.Number,
  /** From the answer before this question, or from the vendor's acceptance. */
  sinceAskedSeconds: Schema.Number,
  /** Counts the claims: a write back names the claim it belongs to. */
  lease: Schema.BigInt,
  /** Since when the vendor does not know the task, in seconds; null while it does. */
  unknownForSeconds: Schema.NullOr(Schema.Number),
  pastDeadline: Schema.Boolean,
  /** The price frozen with the hold. */
  quote: VideoQuote,
  /** By what the vendor bills it, as frozen. */
  cost: Schema.NullOr(VideoQuote)
})
export type ClaimedTask = typeof ClaimedTask.Type

/** A task whose order did not come to an end. */
export const AbandonedTask = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String
})
export type AbandonedTask = typeof AbandonedTask.Type

/** A running task whose vendor has not said in time what became of it. */
export const OverdueTask = Schema.Struct({
  ...AbandonedTask.fields,
  upstreamId: Schema.String
})
export type OverdueTask = typeof OverdueTask.Type

export interface ClaimOptions {
  /** Of all channels together. */
  readonly limit: number
  /** Of one channel, less what it counts in `openByChannel`; a count below 0 is for more. */
  readonly perChannel: number
  readonly openByChannel: ReadonlyMap<string, number>
}

/** A task that succeeded, and how long after it was ordered. */
export const Completion = Schema.Struct({
  kind: VideoKind,
  tookSeconds: Schema.Number
})
export type Completion = typeof Completion.Type

export class TaskRepo extends Context.Service<
  TaskRepo,
  {
    /** Another organisation's task is not found. */
    find(organizationId: string, id: string): Effect.Effect<Task, TaskNotFound>
    /** The member's own, by their time. */
    list(
      owner: { readonly organizationId: string; readonly memberId: string },
      filter: TaskFilter,
      page: PageRequest
    ): Effect.Effect<Page<ListedTask>, InvalidRequest>
    /**
     * Records the vendor's acceptance; a repeat changes nothing. False when the task had been given
     * up before. Fails, and changes nothing, where another order has the job. Persists until the store
     * can be reached: only its answer tells which of them it is.
     */
    accept(
      organizationId: string,
      id: string,
      upstream: UpstreamTask,
      firstPollSeconds: number
    ): Effect.Effect<boolean, DuplicateJob>
    /**
     * The same for a job that is waited for by the order itself: it is this order's from then on.
     * Persists like `accept`.
     */
    claimJob(orderId: string, job: VendorsJob): Effect.Effect<void, DuplicateJob>
    /**
     * Keeps the vendor's id of a task it accepted after it had been given up, with the task's
     * orphan, so that an operator can find the job. Persists like `accept`.
     */
    recordLateAcceptance(
      organizationId: string,
      id: string,
      upstreamId: string
    ): Effect.Effect<void>
    /**
     * Claims one processing task, unless it was claimed or put back within the ask interval or its
     * channel is paused.
     */
    claim(organizationId: string, id: string): Effect.Effect<Option.Option<ClaimedTask>>
    /**
     * Claims due tasks for this gateway; none is claimed twice at a time. Channels take turns, each
     * with its longest due task first. Of a paused channel only tasks past their deadline are taken.
     */
    claimDue(options: ClaimOptions): Effect.Effect<ReadonlyArray<ClaimedTask>>
    /**
     * Gives a claimed task back until its next question, or its deadline if that is sooner. False
     * when the claim was stale: then nothing is changed.
     */
    putBack(
      task: ClaimedTask,
      options: {
        readonly nextPollSeconds: number
        /** Whether the vendor knew the task; null when it gave no answer to tell. */
        readonly isKnown: boolean | null
        /** Since the last question; 0 when left out, for one that was asked under this claim. */
        readonly askedSecondsAgo?: number
      }
    ): Effect.Effect<boolean>
    /** The channel's vendor is not asked for this long; a longer pause stays. */
    pause(channelId: string, seconds: number): Effect.Effect<void>
    /** Makes every processing task due now, claimed or not. */
    readonly takeOver: Effect.Effect<void>
    /** Tasks left in `submitting`: past their time, or all of them. */
    abandoned(scope: "overdue" | "all"): Effect.Effect<ReadonlyArray<AbandonedTask>>
    /**
     * Running tasks whose deadline passed that long ago without an answer that ends them, the first
     * deadlines first.
     */
    overdue(seconds: number, limit: number): Effect.Effect<ReadonlyArray<OverdueTask>>
    /** Those that succeeded among that many newest tasks, the latest end last. */
    recentCompletions(newest: number): Effect.Effect<ReadonlyArray<Completion>>
    /**
     * Forgets what an ended task made and what was said of it, its files as well: it is not found any
     * more. Its order and its charge stay. False where there is no such task; a repeat changes nothing.
     */
    erase(organizationId: string, id: string): Effect.Effect<boolean>
  }
>()("gateway/services/TaskRepo") {}

const makeTaskEnds = () => {
  const awaited = new Map<string, Set<Latch.Latch>>()
  return {
    /** Opens the latch when the task ends by this process, until the scope closes. */
    register: (id: string, end: Latch.Latch) =>
      Effect.acquireRelease(
        Effect.sync(() => awaited.set(id, (awaited.get(id) ?? new Set()).add(end))),
        () =>
          Effect.sync(() => {
            const others = awaited.get(id)
            others?.delete(end)
            if (others?.size === 0) awaited.delete(id)
          })
      ),
    notify: (id: string): void => {
      for (const end of awaited.get(id) ?? []) end.openUnsafe()
    }
  }
}

/** Who waits in this process for the end of a task hears of it at once. */
export const TaskEnds = Context.Reference("gateway/services/TaskEnds", {
  defaultValue: makeTaskEnds
})
