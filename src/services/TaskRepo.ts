/** The repository of tasks. A task is created and ended in commits of the ledger. */
import { Context, Effect, type Latch, type Option, Schema } from "effect"
import type { InvalidRequest, TaskNotFound } from "../domain/Errors.ts"
import { Amount } from "../domain/money/Money.ts"
import { type TaskDialect, type TaskKind, taskDialects } from "../domain/orderIds.ts"
import { TaskState, type TaskTransition } from "../domain/taskStates.ts"
import { VideoKind, VideoQuote } from "../domain/video/VideoQuote.ts"
import { VideoStills } from "../domain/video/videoStills.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import type { ArchivedFile } from "./results/ArchiveBucket.ts"

/**
 * The fields of a task that are written with its hold, in addition to the fields that every order
 * has.
 */
export interface NewTask {
  /** The protocol under which the catalog listed the model when the task was ordered. */
  readonly listedProtocol: string
  /** A summary of the order, without prompt or media. */
  readonly summary: unknown
  /** Seconds until the vendor must have answered; of a task that waits, until its wait must end. */
  readonly submitSeconds: number
  /**
   * The address that is notified of the task's end, in addition to the endpoints of its
   * organisation; null or absent where there is none.
   */
  readonly callbackUrl?: string | null
  /** Whether the results are copied into the archive. */
  readonly isArchived?: boolean
  /** Whether the task waits for a place at its channel; its vendor is then called later. */
  readonly isWaiting?: boolean
  /** The API dialect of the order; the gateway's own dialect when left out. */
  readonly dialect?: TaskDialect
}

/** The identity of a task at its vendor. */
export interface UpstreamTask {
  readonly upstreamId: string
  /**
   * The version of the channel's account that created the job, and the name of the account's key.
   */
  readonly accountVersion: number
  readonly keyName: string
  /** The origin of the account's base address. */
  readonly origin: string
}

/**
 * The identity of a vendor job. Vendors' job ids are only unique within a channel and an origin.
 */
export interface VendorsJob extends Pick<UpstreamTask, "origin" | "upstreamId"> {
  readonly channelId: string
}

/** The vendor returned the job id of another order, so it makes and bills one job for both. */
export class DuplicateJob extends Schema.TaggedError<DuplicateJob>()("DuplicateJob", {}) {}

/**
 * The result of an image task as its client gets it. It contains the addresses of the images, and
 * no image data.
 */
export const TaskResult = Schema.Record(Schema.String, Schema.Unknown)
export type TaskResult = typeof TaskResult.Type

interface VideoResult {
  readonly videoUrl: string
  /** The pictures beside the video; missing where there is none. */
  readonly stills?: VideoStills
  readonly completionTokens: bigint | null
}

/** The result of images or of speech. */
interface UnpolledResult {
  readonly result: TaskResult
  /**
   * Files that are in the archive already; null or absent where the results are copied there from
   * their addresses.
   */
  readonly files?: ReadonlyArray<ArchivedFile> | null
}

interface TaskFailure {
  readonly errorCode: string
  readonly errorMessage: string
  /**
   * The lease of the claim under which the end was decided, where the vendor gave no verdict. Such
   * an end is not written where the task was claimed again since. Null or absent for every other
   * end, which is written even if another gateway has claimed the task since.
   */
  readonly lease?: bigint | null
}

/** The end of a task, written with the close of its hold. */
export type TaskOutcome =
  | (Extract<TaskTransition<"video">, { readonly state: "succeeded" }> & VideoResult)
  | (Extract<TaskTransition<"image" | "speech">, { readonly state: "succeeded" }> & UnpolledResult)
  | (Extract<TaskTransition, { readonly state: "failed" | "rejected" }> & TaskFailure)

/** The video that an order edits or extends, as the summary of the order has it. */
export const SourceVideo = Schema.Struct({
  role: Schema.Literals(["edit_video", "extend_video"]),
  /** The id of its task; null where it is no video of this gateway. */
  taskId: Schema.NullOr(Schema.String)
})
export type SourceVideo = typeof SourceVideo.Type

/** A task as its readers get it. */
export const Task = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  /** The member who ordered the task. */
  memberId: Schema.String,
  model: Schema.String,
  channelId: Schema.String,
  /** The protocol that the task was sent by. */
  protocol: Schema.String,
  /**
   * The version of the channel's account that created the job, and the name of the account's key;
   * null for a task that no vendor has accepted as a job.
   */
  accountVersion: Schema.NullOr(Schema.Int),
  keyName: Schema.NullOr(Schema.String),
  state: TaskState,
  /** True where the task is in a final state. */
  finished: Schema.Boolean,
  videoUrl: Schema.NullOr(Schema.String),
  /** The pictures beside a video; null where there is none. */
  stills: Schema.NullOr(VideoStills),
  result: Schema.NullOr(Schema.fromJsonString(TaskResult)),
  completionTokens: Schema.NullOr(Schema.BigInt),
  errorCode: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  /** Whether the results are copied into the archive, and served under addresses of the gateway. */
  isArchived: Schema.Boolean,
  dialect: Schema.Literals(taskDialects),
  /** The ordered aspect ratio, and the ordered size where the client set one. */
  ratio: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.String),
  /** The video that the order edits or extends; null where there is none. */
  source: Schema.NullOr(SourceVideo),
  finishedAt: Schema.NullOr(Schema.Date),
  /** Seconds since the vendor accepted the task, or since the order if no vendor has. */
  ageSeconds: Schema.Number,
  /**
   * Seconds since the vendor accepted the task, since its last claim for a poll, or since its last
   * answer to a poll, whichever came last; null before the acceptance. No claim succeeds until the
   * poll interval has passed.
   */
  sincePollSeconds: Schema.NullOr(Schema.Number),
  /** The kind of the video; null where it cannot be derived from the summary of the order. */
  kind: Schema.NullOr(VideoKind)
})
export type Task = typeof Task.Type

/** A task in the list of a member's tasks. */
export const ListedTask = Schema.Struct({ ...Task.fields, createdAt: Schema.Date })
export type ListedTask = typeof ListedTask.Type

/** Filter of the list. A null field matches every value. */
export interface TaskFilter {
  readonly kind: TaskKind
  readonly states: ReadonlyArray<TaskState>
  readonly model: string | null
  readonly createdAfter: Date | null
  readonly order: "asc" | "desc"
}

/**
 * A claimed task that certainly runs at a vendor, with all data needed to poll and to settle it.
 */
export const ClaimedTask = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  model: Schema.String,
  channelId: Schema.String,
  /** The protocol that the task was sent by. This gateway may not have an adapter for it. */
  protocol: Schema.String,
  /** The protocol under which the catalog listed the model when the task was ordered. */
  listedProtocol: Schema.String,
  upstreamModel: Schema.String,
  upstreamId: Schema.String,
  /**
   * The version of the channel's account that created the job, and the name of the account's key.
   */
  accountVersion: Schema.Int,
  keyName: Schema.String,
  /** Whether the order asked for a file with the watermark "made by AI". */
  isMarked: Schema.Boolean,
  /** Seconds since the vendor accepted the task. */
  ageSeconds: Schema.Number,
  /**
   * Seconds between this claim and the previous poll, or the vendor's acceptance before the first
   * poll.
   */
  sincePollSeconds: Schema.Number,
  /**
   * The number of claims so far. Every write under a claim names its lease, so that a stale claim
   * changes nothing.
   */
  lease: Schema.BigInt,
  /** Seconds for which the vendor has not known the task; null while it knows the task. */
  unknownForSeconds: Schema.NullOr(Schema.Number),
  pastDeadline: Schema.Boolean,
  /** The price frozen with the hold. */
  quote: VideoQuote,
  /** The expected vendor bill, frozen with the hold. */
  cost: Schema.NullOr(VideoQuote),
  /** The price of a unit that the vendor reports as billed, frozen with the hold. */
  billUnitPriceNano: Schema.NullOr(Amount)
})
export type ClaimedTask = typeof ClaimedTask.Type

/** A task that was left in the state `submitting` or `waiting`. */
export const AbandonedTask = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  state: Schema.Literals(["submitting", "waiting"]),
  /** Whether the task has waited for a place at its channel, so that its client has its id. */
  isQueued: Schema.Boolean,
  /** The vendor's id of the job that makes its images; null where none is known. */
  upstreamId: Schema.NullOr(Schema.String)
})
export type AbandonedTask = typeof AbandonedTask.Type

/** A task of images whose vendor makes them as a job, for a request to cancel it. */
export const ImageJob = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  channelId: Schema.String,
  protocol: Schema.String,
  upstreamModel: Schema.String,
  upstreamId: Schema.String,
  accountVersion: Schema.Int,
  keyName: Schema.String
})
export type ImageJob = typeof ImageJob.Type

/** A running task whose vendor has not reported an end by the deadline. */
export const OverdueTask = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  upstreamId: Schema.String
})
export type OverdueTask = typeof OverdueTask.Type

export interface ClaimOptions {
  /** Maximum number of claimed tasks over all channels. */
  readonly limit: number
  /**
   * Maximum number of open polls of one channel, including the number in `openByChannel`. A
   * negative number there allows more polls than this maximum.
   */
  readonly perChannel: number
  readonly openByChannel: ReadonlyMap<string, number>
}

/** A task that succeeded, and the seconds from order to success. */
export const Completion = Schema.Struct({
  kind: VideoKind,
  tookSeconds: Schema.Number
})
export type Completion = typeof Completion.Type

export class TaskRepo extends Context.Service<
  TaskRepo,
  {
    /** Finds a task. A task of another organisation is not found. */
    find(organizationId: string, id: string): Effect.Effect<Task, TaskNotFound>
    /** Lists the member's own tasks, by their creation time. */
    list(
      owner: { readonly organizationId: string; readonly memberId: string },
      filter: TaskFilter,
      page: PageRequest
    ): Effect.Effect<Page<ListedTask>, InvalidRequest>
    /**
     * Begins the submit of a task that waits, whose deadlines count from now on. False where the task
     * does not wait any more.
     */
    startWaiting(organizationId: string, id: string): Effect.Effect<boolean>
    /**
     * Makes a task wait again whose vendor has made nothing. False where it was ended meanwhile. The
     * queue ends its wait; without the queue it ends after the longest time to wait.
     */
    waitAgain(organizationId: string, id: string): Effect.Effect<boolean>
    /**
     * Records the vendor's acceptance; a repeat changes nothing. False when the task had been given
     * up before. Fails, and changes nothing, where the vendor's job belongs to another order.
     * Retries until the store can be reached, because only the store can decide between these
     * results.
     */
    accept(
      organizationId: string,
      id: string,
      upstream: UpstreamTask,
      firstPollSeconds: number
    ): Effect.Effect<boolean, DuplicateJob>
    /**
     * Records that a vendor job belongs to an image request, which waits for the job itself and has
     * no task. Fails where the job belongs to another order. Retries like `accept`.
     */
    claimJob(orderId: string, job: VendorsJob): Effect.Effect<void, DuplicateJob>
    /**
     * Records that the vendor of a task of images is about to be called: the task's lease, which is
     * 0 until then, increases. False where the task has ended.
     */
    startCall(organizationId: string, id: string): Effect.Effect<boolean>
    /**
     * Records the job that makes the images of a task, so that every gateway can cancel it. Of
     * several jobs of a task the first one stays. Retries like `accept`.
     */
    recordJob(
      organizationId: string,
      id: string,
      upstream: Omit<UpstreamTask, "origin">
    ): Effect.Effect<void>
    /**
     * Claims the job of a task of images for a request to cancel it. None where the task has ended
     * or has no job yet, or where the last claim is younger than the ask interval.
     */
    claimJobToCancel(organizationId: string, id: string): Effect.Effect<Option.Option<ImageJob>>
    /**
     * Stores the vendor's id of a task that the vendor accepted after the gateway had given it up.
     * The id is written to the task's orphan, so that an operator can find the job. Retries like
     * `accept`.
     */
    recordLateAcceptance(
      organizationId: string,
      id: string,
      upstreamId: string
    ): Effect.Effect<void>
    /**
     * Claims one processing task for a poll, unless the task was claimed or put back within the
     * poll interval or its channel is paused.
     */
    claim(organizationId: string, id: string): Effect.Effect<Option.Option<ClaimedTask>>
    /**
     * Claims due tasks for this gateway; no task has two claims at a time. Channels take turns,
     * each with its longest due task first. On a paused channel only tasks past their deadline are
     * claimed.
     */
    claimDue(options: ClaimOptions): Effect.Effect<ReadonlyArray<ClaimedTask>>
    /**
     * Releases a claimed task until its next poll, or its deadline if that is sooner. False when
     * the claim was stale: then nothing is changed.
     */
    putBack(
      task: ClaimedTask,
      options: {
        readonly nextPollSeconds: number
        /** Whether the vendor knew the task; null when its response did not show that. */
        readonly isKnown: boolean | null
        /**
         * Seconds since the last poll; 0 when left out, which means that the task was polled under
         * this claim.
         */
        readonly polledSecondsAgo?: number
      }
    ): Effect.Effect<boolean>
    /**
     * Records that a request to cancel the task is about to be sent. False where one was sent within
     * the time of a lease, or the task has no running job: of several gateways only one sends it.
     */
    startCancel(organizationId: string, id: string): Effect.Effect<boolean>
    /**
     * Pauses polling of a channel for this many seconds. A pause that already lasts longer is not
     * shortened.
     */
    pause(channelId: string, seconds: number): Effect.Effect<void>
    /** Makes every processing task due now, including tasks that are claimed. */
    readonly takeOver: Effect.Effect<void>
    /**
     * Tasks in the state `submitting`: with `overdue`, those past their submit deadline; with
     * `all`, every one. Tasks in the state `waiting` past their submit deadline are among them.
     */
    abandoned(scope: "overdue" | "all"): Effect.Effect<ReadonlyArray<AbandonedTask>>
    /**
     * Running tasks that are at least `seconds` past their deadline without a final status from
     * their vendor, the oldest deadline first.
     */
    overdue(seconds: number, limit: number): Effect.Effect<ReadonlyArray<OverdueTask>>
    /**
     * The tasks that succeeded among the `newest` most recent tasks, in the order in which they
     * ended.
     */
    recentCompletions(newest: number): Effect.Effect<ReadonlyArray<Completion>>
    /**
     * Erases the addresses of results and stills, the error message, the logged calls and the files of an ended
     * task; afterwards the task is not found. The order and its charge stay in the ledger. False
     * where there is no such task; a repeat changes nothing.
     */
    erase(organizationId: string, id: string): Effect.Effect<boolean>
  }
>()("gateway/services/TaskRepo") {}

const makeTaskEnds = () => {
  const latches = new Map<string, Set<Latch.Latch>>()
  return {
    /**
     * Registers a latch that opens when this process ends the task. The registration lasts until
     * the scope closes.
     */
    register: (id: string, end: Latch.Latch) =>
      Effect.acquireRelease(
        Effect.sync(() => latches.set(id, (latches.get(id) ?? new Set()).add(end))),
        () =>
          Effect.sync(() => {
            const taskLatches = latches.get(id)
            taskLatches?.delete(end)
            if (taskLatches?.size === 0) latches.delete(id)
          })
      ),
    notify: (id: string): void => {
      for (const end of latches.get(id) ?? []) end.openUnsafe()
    }
  }
}

/**
 * Wakes the fibers of this process that wait for the end of a task, as soon as this process ends
 * it.
 */
export const TaskEnds = Context.Reference("gateway/services/TaskEnds", {
  defaultValue: makeTaskEnds
})
