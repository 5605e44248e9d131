/**
 * The results of tasks that wait to be copied into the archive, are in it, or wait to be deleted
 * from it. A row is written in the commit of the task's success, so that a crash loses no result.
 */
import { Context, type Effect, Schema } from "effect"
import { TaskSnapshot } from "../delivery/WebhookMessages.ts"
import type { ArchivedFile } from "./ArchiveBucket.ts"

/** A result that this gateway has claimed for copying. The claim is a lease. */
export const ClaimedResult = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  task: TaskSnapshot,
  /** The number of attempts before this one. */
  tries: Schema.Int,
  /** Seconds since the task's success. */
  ageSeconds: Schema.Number,
  lease: Schema.BigInt
})
export type ClaimedResult = typeof ClaimedResult.Type

/** The files of a task that this gateway has claimed for removal. The claim is a lease. */
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

/** The lease of a claim, unless it is renewed. */
export const COPY_LEASE_SECONDS = 60

export class Archives extends Context.Service<
  Archives,
  {
    /**
     * Claims results that are due to be copied, the longest due first, for `COPY_LEASE_SECONDS`. No
     * other call claims them during that time. Results of deleted tasks are left out.
     */
    claimDue(limit: number): Effect.Effect<ReadonlyArray<ClaimedResult>>
    /**
     * Extends the claim by `COPY_LEASE_SECONDS`. False where another gateway has claimed the result
     * since.
     */
    renew(result: ClaimedResult): Effect.Effect<boolean>
    /**
     * Records the result of an attempt. A repeated call changes nothing. A call for a result that
     * was claimed again since, or whose task was deleted since, changes nothing either.
     */
    recordCopy(result: ClaimedResult, end: CopyEnd): Effect.Effect<void>
    /**
     * The archived files of a task, in the order of their numbers; null where the archive does not
     * have the task's files.
     */
    files(organizationId: string, taskId: string): Effect.Effect<ReadonlyArray<ArchivedFile> | null>
    /**
     * Expires at most `limit` results that have been in the archive for `days`: their files are not
     * served from then on, and their removal becomes due.
     */
    expire(days: number, limit: number): Effect.Effect<void>
    /**
     * Claims files that are due for removal, the longest due first, for `COPY_LEASE_SECONDS`. No
     * other call claims them during that time.
     */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedRemoval>>
    /**
     * Deletes the row of an archived result after the caller has deleted its files from the bucket.
     * A repeated call, or a call with a claim that a newer claim has replaced, changes nothing.
     */
    completeRemoval(result: ClaimedRemoval): Effect.Effect<void>
  }
>()("gateway/services/Archives") {}
