/**
 * Files that clients upload for some hours, to refer to them in orders. The store holds a row of each, and
 * the bytes in chunks of those that are not in the archive's bucket.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { type FilePurpose, filePurposes } from "../../domain/files/filePurposes.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const MediaFile = Schema.Struct({
  id: Schema.String,
  /** The client's name for it, for people to read. */
  filename: Schema.String,
  purpose: Schema.Literals(filePurposes),
  /** Detected from its bytes. */
  contentType: Schema.String,
  bytes: Schema.Int,
  /** The length of a video; null for other media, and where the bytes do not say it. */
  seconds: Schema.NullOr(Schema.Number),
  /** In hexadecimal digits. */
  sha256: Schema.String,
  isInBucket: Schema.Boolean,
  createdAt: Schema.Date,
  expiresAt: Schema.Date
})
export type MediaFile = typeof MediaFile.Type

export interface NewFile
  extends Pick<
    MediaFile,
    "id" | "filename" | "purpose" | "contentType" | "bytes" | "seconds" | "isInBucket"
  > {
  readonly organizationId: string
  readonly memberId: string
  /** From now until it expires. */
  readonly lifetimeSeconds: number
}

/** The limits of one organisation; files whose removal is under way count. */
export interface FileBounds {
  readonly files: number
  readonly bytes: number
}

/** A file that this gateway deletes until its claim ends. */
export const ClaimedFile = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  isInBucket: Schema.Boolean,
  lease: Schema.BigInt
})
export type ClaimedFile = typeof ClaimedFile.Type

/** The size of every chunk but the last. It is a multiple of three, as base64 encodes three bytes at a time. */
export const CHUNK_BYTES = 768 * 1024

/** How long an upload may take from its row to its last byte before it is deleted. */
export const UPLOAD_SECONDS = 600

/** How long the claim of a removal lasts. */
export const REMOVAL_LEASE_SECONDS = 60

/** The same error for a file of another organisation, an expired one, and one that never existed. */
export const noSuchFile = (id: string) =>
  new NotFound({ message: `No file is called ${JSON.stringify(id)}` })

export class Files extends Context.Service<
  Files,
  {
    /**
     * Adds a pending file, which is not visible. Answers the limit that it would exceed, and adds nothing
     * then; null where it is added. A repeat with the same id adds nothing and answers null.
     */
    add(file: NewFile, bounds: FileBounds): Effect.Effect<keyof FileBounds | null>
    /** Writes chunk `n`, counted from 0, of a pending file, once each. Does nothing for any other file. */
    writeChunk(
      organizationId: string,
      id: string,
      n: number,
      bytes: Uint8Array
    ): Effect.Effect<void>
    /**
     * Makes a pending file visible, whose bytes are all written. A repeat answers the file again. Null where
     * the upload took too long and is being removed.
     */
    completeUpload(
      organizationId: string,
      id: string,
      sha256: string
    ): Effect.Effect<MediaFile | null>
    /** The visible files of the organisation among these ids; ids without one are left out. */
    find(
      organizationId: string,
      ids: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<MediaFile>>
    /**
     * Visible files, newest first; a null purpose matches all. Fails with `InvalidRequest` where `page.after`
     * is none of them.
     */
    list(
      organizationId: string,
      purpose: FilePurpose | null,
      page: PageRequest
    ): Effect.Effect<Page<MediaFile>, InvalidRequest>
    /** The bytes of a chunk; null where the file has no such chunk, or was deleted. */
    readChunk(organizationId: string, id: string, n: number): Effect.Effect<Uint8Array | null>
    /**
     * Hides a visible file at once; its bytes are deleted later. False where the organisation has no such
     * file, also for a repeat.
     */
    remove(organizationId: string, id: string): Effect.Effect<boolean>
    /** Marks a pending file for removal. Does nothing for a visible file, or for a repeat. */
    abandonUpload(organizationId: string, id: string): Effect.Effect<void>
    /**
     * Claims files that are due for removal, the longest due first, for `REMOVAL_LEASE_SECONDS`. No other
     * call claims them before that.
     */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedFile>>
    /** Deletes the row and its chunks. Does nothing where the file was claimed again since. */
    completeRemoval(file: ClaimedFile): Effect.Effect<void>
  }
>()("gateway/services/Files") {}
