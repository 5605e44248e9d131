/**
 * Files that clients uploaded to refer to them in orders, for some hours. Here stands what is known of
 * them, and of those that are not in the archive's bucket also their bytes, in chunks.
 */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const MediaFile = Schema.Struct({
  id: Schema.String,
  /** As the client named it, for people to read. */
  filename: Schema.String,
  purpose: Schema.String,
  /** By its bytes. */
  contentType: Schema.String,
  bytes: Schema.Int,
  /** How long a film is; null of all else, and where its bytes do not tell. */
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
  /** From now to its end. */
  readonly lifeSeconds: number
}

/** What one organisation may have, with what is still being removed. */
export interface FileBounds {
  readonly files: number
  readonly bytes: number
}

/** A file that this gateway removes, until its claim is over. */
export const ClaimedFile = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  isInBucket: Schema.Boolean,
  lease: Schema.BigInt
})
export type ClaimedFile = typeof ClaimedFile.Type

/** Of each chunk but a file's last. Three bytes are four characters of base64. */
export const CHUNK_BYTES = 768 * 1024

/** How long an upload may take from its row to its last byte, before it is removed. */
export const UPLOAD_SECONDS = 600

/** How long a claim of a removal lasts. */
export const REMOVAL_LEASE_SECONDS = 60

/** The same of a file that another organisation has, that has expired, and that there never was. */
export const noSuchFile = (id: string) =>
  new NotFound({ message: `No file is called ${JSON.stringify(id)}` })

export class Files extends Context.Service<
  Files,
  {
    /** A file without bytes that nobody sees yet. Answers the bound that it would pass, or null. */
    add(file: NewFile, bounds: FileBounds): Effect.Effect<keyof FileBounds | null>
    /** Writes a chunk of a file that is not kept yet; `n` counts from 0. */
    writeChunk(
      organizationId: string,
      id: string,
      n: number,
      bytes: Uint8Array
    ): Effect.Effect<void>
    /** All its bytes are there. Null where the upload took too long, and it is being removed. */
    completeUpload(
      organizationId: string,
      id: string,
      sha256: string
    ): Effect.Effect<MediaFile | null>
    /** Those of the ids that the organisation has now. */
    find(
      organizationId: string,
      ids: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<MediaFile>>
    /** Newest first; null is any purpose. */
    list(
      organizationId: string,
      purpose: string | null,
      page: PageRequest
    ): Effect.Effect<Page<MediaFile>, InvalidRequest>
    /** Null where it is not there any more. */
    readChunk(organizationId: string, id: string, n: number): Effect.Effect<Uint8Array | null>
    /** Nobody sees it from now on. False where the organisation has no such file. */
    remove(organizationId: string, id: string): Effect.Effect<boolean>
    /** The same of an upload that failed. */
    abandonUpload(organizationId: string, id: string): Effect.Effect<void>
    /** Claims what is to be removed now; none is claimed twice at a time. */
    claimRemovals(limit: number): Effect.Effect<ReadonlyArray<ClaimedFile>>
    /** Removes it with its chunks. Changes nothing where the claim is over. */
    completeRemoval(file: ClaimedFile): Effect.Effect<void>
  }
>()("gateway/services/Files") {}
