/**
 * Files that clients upload for some hours and refer to in their orders. The store has a row for
 * each file. The bytes of a file are in the archive's bucket where there is one, otherwise in
 * chunks in the store.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { type FilePurpose, filePurposes } from "../../domain/files/filePurposes.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const MediaFile = Schema.Struct({
  id: Schema.String,
  /** The client's name of the file, for display. */
  filename: Schema.String,
  purpose: Schema.Literals(filePurposes),
  /** The media type, detected from the bytes. */
  contentType: Schema.String,
  bytes: Schema.Int,
  /** The length of a video; null for other media, and where the bytes do not show it. */
  seconds: Schema.NullOr(Schema.Number),
  /** The SHA-256 of the bytes, in hexadecimal digits. */
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
  /** The time from now until the file expires. */
  readonly lifetimeSeconds: number
}

/** The limits of one organisation. Files whose removal has not finished count too. */
export interface FileBounds {
  readonly files: number
  readonly bytes: number
}

/** A file that this gateway has claimed for removal. The claim is a lease. */
export const ClaimedFile = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  isInBucket: Schema.Boolean,
  lease: Schema.BigInt
})
export type ClaimedFile = typeof ClaimedFile.Type

/**
 * The size of every chunk except the last one. It is a multiple of three, because base64 encodes
 * three bytes at a time.
 */
export const CHUNK_BYTES = 768 * 1024

/** Deadline of an upload: a pending file is removed this long after its row was added. */
export const UPLOAD_SECONDS = 600

/** The lease of a claimed removal. */
export const REMOVAL_LEASE_SECONDS = 60

/** The same error for a file of another organisation, an expired file, and an unknown id. */
export const noSuchFile = (id: string) =>
  new NotFound({ message: `No file is called ${JSON.stringify(id)}` })

export class Files extends Context.Service<
  Files,
  {
    /**
     * Adds a pending file, which is not visible yet. Returns null where the file was added, or was
     * added before under the same id. Where the file would exceed a limit, returns the name of that
     * limit and adds nothing.
     */
    add(file: NewFile, bounds: FileBounds): Effect.Effect<keyof FileBounds | null>
    /**
     * Writes chunk `n`, counted from 0, of a pending file; each chunk is written once. Does nothing
     * for any other file.
     */
    writeChunk(
      organizationId: string,
      id: string,
      n: number,
      bytes: Uint8Array
    ): Effect.Effect<void>
    /**
     * Makes a pending file visible after all its bytes are written. A repeat returns the file
     * again. Returns null where the upload took too long and the file is being removed.
     */
    completeUpload(
      organizationId: string,
      id: string,
      sha256: string
    ): Effect.Effect<MediaFile | null>
    /**
     * The visible files of the organisation with these ids. Ids without a visible file are left
     * out.
     */
    find(
      organizationId: string,
      ids: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<MediaFile>>
    /**
     * Lists visible files, newest first; a null purpose matches all. Fails with `InvalidRequest`
     * where `page.after` is not in the list.
     */
    list(
      organizationId: string,
      purpose: FilePurpose | null,
      page: PageRequest
    ): Effect.Effect<Page<MediaFile>, InvalidRequest>
    /** The bytes of a chunk; null where the file has no such chunk, or was deleted. */
    readChunk(organizationId: string, id: string, n: number): Effect.Effect<Uint8Array | null>
    /**
     * Hides a visible file immediately; its bytes are deleted later. False where the organisation
     * has no visible file with this id, also for a repeat.
     */
    remove(organizationId: string, id: string): Effect.Effect<boolean>
    /** Marks a pending file for removal. Does nothing for a visible file, or for a repeat. */
    abandonUpload(organizationId: string, id: string): Effect.Effect<void>
    /**
     * Claims files that are due for removal, the longest due first, for `REMOVAL_LEASE_SECONDS`. No
     * other call claims them during that time.
     */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedFile>>
    /**
     * Deletes the row of a file and its chunks. Does nothing if the file was claimed again after this
     * claim.
     */
    completeRemoval(file: ClaimedFile): Effect.Effect<void>
  }
>()("gateway/services/Files") {}
