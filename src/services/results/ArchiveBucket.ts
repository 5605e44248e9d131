/** The bucket that results and uploaded files are stored in. Every method fails with `BucketFault` where the bucket does. */
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

/** The first and the last byte, counted from 0, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ArchiveBucket {
  /**
   * Writes a file piece by piece and replaces an earlier one, so a repeat is safe. A file whose stream fails
   * is not stored. Its type and disposition in the bucket are those that it is served with.
   */
  put<E>(
    key: string,
    contentType: string,
    bytes: Stream.Stream<Uint8Array, E>
  ): Effect.Effect<Pick<ArchivedFile, "bytes" | "sha256">, BucketFault>
  /** Deletes every file whose key has the prefix. It succeeds without such a file, so a repeat is safe. */
  removeAll(prefix: string): Effect.Effect<void, BucketFault>
  /** Streams the file to one reader. The caller checks that the file has the range; null is the whole file. */
  get(
    key: string,
    range: ByteRange | null
  ): Effect.Effect<Stream.Stream<Uint8Array, BucketFault>, BucketFault, Scope.Scope>
  /** A signed address from which anyone can load the file for so many seconds. */
  presign(key: string, contentType: string, seconds: number): Effect.Effect<string, BucketFault>
}

/** Null where no archive is configured. */
export const Bucket = Context.Reference<ArchiveBucket | null>("gateway/services/Bucket", {
  defaultValue: () => null
})

/** The prefix of the keys of a task's files. */
export const keyPrefixOf = (organizationId: string, taskId: string): string =>
  `${organizationId}/${taskId}/`

/** The key of a task's file number `n`, counted from 0. */
export const objectKeyOf = (organizationId: string, taskId: string, n: number): string =>
  `${keyPrefixOf(organizationId, taskId)}${n}`
