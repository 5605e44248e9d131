/** The bucket that results are kept in. */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

export class BucketFault extends Schema.TaggedError<BucketFault>()("BucketFault", {
  message: Schema.String
}) {}

export interface Stored {
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

export interface Fetched {
  /** 200, or 206 for a part. */
  readonly status: number
  readonly contentLength: number
  /** Of a part. */
  readonly contentRange: string | null
  /** For one reader. */
  readonly bytes: Stream.Stream<Uint8Array, BucketFault>
}

export interface ArchiveBucket {
  /** Writes a file piece by piece, whatever stood there; what is cut is not kept. */
  put<E>(
    key: string,
    contentType: string,
    bytes: Stream.Stream<Uint8Array, E>
  ): Effect.Effect<Stored, BucketFault>
  remove(key: string): Effect.Effect<void, BucketFault>
  /** Null for a part that the file does not have. */
  get(key: string, range: string | null): Effect.Effect<Fetched | null, BucketFault, Scope.Scope>
  /** An address that anyone can load the file from, for so many seconds. */
  presigned(key: string, seconds: number): Effect.Effect<string, BucketFault>
}

/** Null where there is no archive. */
export const Bucket = Context.Reference<ArchiveBucket | null>("gateway/services/Bucket", {
  defaultValue: () => null
})

/** Where a file of a task stands. */
export const keyOf = (organizationId: string, taskId: string, n: number): string =>
  `${organizationId}/${taskId}/${n}`
