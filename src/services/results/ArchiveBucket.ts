/** The bucket that results are kept in. */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

export class BucketFault extends Schema.TaggedError<BucketFault>()("BucketFault", {
  message: Schema.String
}) {}

export const ArchivedFile = Schema.Struct({
  bytes: Schema.Int,
  /** In hexadecimal digits. */
  sha256: Schema.String,
  contentType: Schema.String
})
export type ArchivedFile = typeof ArchivedFile.Type

export type Stored = Omit<ArchivedFile, "contentType">

/** Both ends are counted from 0 and belong to the part. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ArchiveBucket {
  /**
   * Writes a file piece by piece, whatever stood there; what is cut is not kept. It stands there as it
   * is served: of a type that is shown, or as a download.
   */
  put<E>(
    key: string,
    contentType: string,
    bytes: Stream.Stream<Uint8Array, E>
  ): Effect.Effect<Stored, BucketFault>
  /** Removes every file whose key begins so; none is well, too. */
  removeAll(prefix: string): Effect.Effect<void, BucketFault>
  /** For one reader. The file has the part; null is the whole file. */
  get(
    key: string,
    part: ByteRange | null
  ): Effect.Effect<Stream.Stream<Uint8Array, BucketFault>, BucketFault, Scope.Scope>
  /** An address that anyone can load the file from as it is served, for so many seconds. */
  presign(key: string, contentType: string, seconds: number): Effect.Effect<string, BucketFault>
}

/** Null where there is no archive. */
export const Bucket = Context.Reference<ArchiveBucket | null>("gateway/services/Bucket", {
  defaultValue: () => null
})

/** Where the files of a task stand. */
export const keyPrefixOf = (organizationId: string, taskId: string): string =>
  `${organizationId}/${taskId}/`

/** Where one of them stands. */
export const objectKeyOf = (organizationId: string, taskId: string, n: number): string =>
  `${keyPrefixOf(organizationId, taskId)}${n}`
