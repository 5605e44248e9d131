/**
 * The results of tasks that are to be copied into the archive, are in it, or are to be deleted from it. A
 * row is written in the commit of the task's success, so that a crash loses none.
 */
import { Context, type Effect, Schema } from "effect"
import { TaskSnapshot } from "../delivery/WebhookMessages.ts"
import type { ArchivedFile } from "./ArchiveBucket.ts"

/** A result that this gateway copies until its claim ends. */
export const ClaimedResult = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  task: TaskSnapshot,
  /** Attempts before this one. */
  tries: Schema.Int,
  /** Seconds since the task's success. */
  ageSeconds: Schema.Number,
  lease: Schema.BigInt
})
export type ClaimedResult = typeof ClaimedResult.Type

/** The files of a task that this gateway deletes until its claim ends. */
export const ClaimedRemoval = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  lease: Schema.BigInt
})
export type ClaimedRemoval = typeof ClaimedRemoval.Type

/** The result of an attempt to copy. */
export type CopyEnd =
  | { readonly _tag: "Kept"; readonly files: ReadonlyArray<ArchivedFile> }
  | { readonly _tag: "Again"; readonly reason: string; readonly afterSeconds: number }
  | { readonly _tag: "Failed"; readonly reason: string }

/** How long a claim lasts unless it is renewed. */
export const COPY_LEASE_SECONDS = 60

export class Archives extends Context.Service<
  Archives,
  {
    /**
     * Claims results that are due to be copied, the longest due first, for `COPY_LEASE_SECONDS`. No other
     * call claims them before that. Results of deleted tasks are left out.
     */
    claimDue(limit: number): Effect.Effect<ReadonlyArray<ClaimedResult>>
    /** Extends the claim by `COPY_LEASE_SECONDS`. False where another gateway has claimed the result since. */
    renew(result: ClaimedResult): Effect.Effect<boolean>
    /**
     * Records the result of an attempt. A repeat changes nothing, nor does a call for a result that was
     * claimed again or whose task was deleted since.
     */
    recordCopy(result: ClaimedResult, end: CopyEnd): Effect.Effect<void>
    /** The files of a task, in the order of their numbers; null where they are not in the archive. */
    files(organizationId: string, taskId: string): Effect.Effect<ReadonlyArray<ArchivedFile> | null>
    /** Takes at most `limit` results out of service that are in the archive for `days`, and makes their removal due. */
    expire(days: number, limit: number): Effect.Effect<void>
    /**
     * Claims files that are due for removal, the longest due first, for `COPY_LEASE_SECONDS`. No other call
     * claims them before that.
     */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedRemoval>>
    /** Deletes the row of files that are gone. A repeat changes nothing, nor does a call after another claim. */
    completeRemoval(result: ClaimedRemoval): Effect.Effect<void>
  }
>()("gateway/services/Archives") {}
