/**
 * Which results are copied into the archive, and removed from it. Rows are written in the commit of a
 * task's success.
 */
import { Context, type Effect, Schema } from "effect"
import { TaskSnapshot } from "../delivery/WebhookMessages.ts"
import type { ArchivedFile } from "./ArchiveBucket.ts"

/** A result that this gateway copies, until its claim is over. */
export const ClaimedResult = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  task: TaskSnapshot,
  /** Before this one. */
  tries: Schema.Int,
  /** Since the task's success. */
  ageSeconds: Schema.Number,
  lease: Schema.BigInt
})
export type ClaimedResult = typeof ClaimedResult.Type

/** Files that this gateway removes, until its claim is over. */
export const ClaimedRemoval = Schema.Struct({
  organizationId: Schema.String,
  taskId: Schema.String,
  lease: Schema.BigInt
})
export type ClaimedRemoval = typeof ClaimedRemoval.Type

/** How a try ends. */
export type CopyEnd =
  | { readonly _tag: "Kept"; readonly files: ReadonlyArray<ArchivedFile> }
  | { readonly _tag: "Again"; readonly reason: string; readonly afterSeconds: number }
  | { readonly _tag: "Failed"; readonly reason: string }

/** How long a claim lasts that is not renewed. */
export const COPY_LEASE_SECONDS = 60

export class Archives extends Context.Service<
  Archives,
  {
    /** Claims what is to be copied now, the longest due first; none is claimed twice at a time. */
    claimDue(limit: number): Effect.Effect<ReadonlyArray<ClaimedResult>>
    /** False where the claim is over. */
    renew(result: ClaimedResult): Effect.Effect<boolean>
    /** Changes nothing where the claim is over. */
    recordCopy(result: ClaimedResult, end: CopyEnd): Effect.Effect<void>
    /** The files of a task in their order; null where they are not in the archive. */
    files(organizationId: string, taskId: string): Effect.Effect<ReadonlyArray<ArchivedFile> | null>
    /** What is kept for longer is served no more, and is to be removed; so many at once. */
    expire(days: number, limit: number): Effect.Effect<void>
    /** Claims what is to be removed now; none is claimed twice at a time. */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedRemoval>>
    /** Changes nothing where the claim is over. */
    completeRemoval(result: ClaimedRemoval): Effect.Effect<void>
  }
>()("gateway/services/Archives") {}
