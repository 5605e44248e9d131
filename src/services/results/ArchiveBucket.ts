/**
 * The bucket that stores results and uploaded files. Every method fails with `BucketFault` when the
 * bucket fails.
 */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

export class BucketFault extends Schema.TaggedError<BucketFault>()("BucketFault", {
  message: Schema.String
}) {}

export const ArchivedFile = Schema.Struct({
  bytes: Schema.Int,
  /** The SHA-256 of the bytes, in hexadecimal digits. */
  sha256: Schema.String,
  contentType: Schema.String
})
export type ArchivedFile = typeof ArchivedFile.Type

/** A byte range: the first and the last byte, counted from 0, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ArchiveBucket {
  /**
   * Writes a file in pieces. An earlier file with the same key is replaced, so a repeat is safe. A
   * file whose stream fails is not stored. The bucket serves the file with the content type and
   * disposition that are set here, and with the metadata as `x-amz-meta-` headers.
   */
  put<E>(
    key: string,
    contentType: string,
    bytes: Stream.Stream<Uint8Array, E>,
    metadata?: Readonly<Record<string, string>>
  ): Effect.Effect<Pick<ArchivedFile, "bytes" | "sha256">, BucketFault>
  /**
   * Deletes every file whose key has the prefix. Succeeds even where no file has the prefix, so a
   * repeat is safe.
   */
  removeAll(prefix: string): Effect.Effect<void, BucketFault>
  /**
   * Streams the file to one reader; a null range means the whole file. The caller checks that the
   * range lies within the file.
   */
  get(
    key: string,
    range: ByteRange | null
  ): Effect.Effect<Stream.Stream<Uint8Array, BucketFault>, BucketFault, Scope.Scope>
  /** A signed address from which anyone can load the file for `seconds` seconds. */
  presign(key: string, contentType: string, seconds: number): Effect.Effect<string, BucketFault>
}

/** The configured bucket; null where no archive is configured. */
export const Bucket = Context.Reference<ArchiveBucket | null>("gateway/services/Bucket", {
  defaultValue: () => null
})

/** The metadata of a task's file: whether it was ordered with the vendor's mark. */
export const markMetadata = (isMarked: boolean): Readonly<Record<string, string>> => ({
  watermark: String(isMarked)
})

/** The prefix of the keys of a task's files. */
export const keyPrefixOf = (organizationId: string, taskId: string): string =>
  `${organizationId}/${taskId}/`

/** The key of a task's file number `n`, counted from 0. */
export const objectKeyOf = (organizationId: string, taskId: string, n: number): string =>
  `${keyPrefixOf(organizationId, taskId)}${n}`
