/** Where the bytes of uploaded files stand: in the archive's bucket, or in chunks beside what is known of them. */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { Bucket, BucketFault, type ByteRange, objectKeyOf } from "../results/ArchiveBucket.ts"
import { CHUNK_BYTES, Files, type MediaFile } from "./Files.ts"

/** Where a file stands. */
export interface FilePlace extends Pick<MediaFile, "id" | "bytes" | "isInBucket"> {
  readonly organizationId: string
}

const noBytes = new BucketFault({ message: "the file's bytes are not there" })

/** One turn of the event loop each, as other requests come in between. */
const chunksOf = (bytes: Buffer): ReadonlyArray<Buffer> =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, n) =>
    bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES)
  )

export const makeFileBytes = Effect.gen(function* () {
  const files = yield* Files
  const bucket = yield* Bucket

  const fromChunks = ({ organizationId, id, bytes }: FilePlace, part: ByteRange | null) => {
    const { start, end } = part ?? { start: 0, end: bytes - 1 }
    const first = Math.floor(start / CHUNK_BYTES)
    const last = Math.floor(end / CHUNK_BYTES)
    return Stream.fromIterable(Array.from({ length: last - first + 1 }, (_, n) => first + n)).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((n) =>
        Effect.flatMap(files.readChunk(organizationId, id, n), (chunk) => {
          const from = n * CHUNK_BYTES
          return chunk === null
            ? Effect.fail(noBytes)
            : Effect.succeed(chunk.subarray(Math.max(0, start - from), end - from + 1))
        })
      )
    )
  }

  return {
    /** Whether new files go into the bucket. */
    intoBucket: bucket !== null,
    /** Writes the bytes of a file that is not kept yet; answers their SHA-256. */
    write: Effect.fnUntraced(function* (
      { organizationId, id, isInBucket }: FilePlace,
      contentType: string,
      bytes: Buffer
    ): Effect.fn.Return<string, BucketFault> {
      const chunks = chunksOf(bytes)
      if (isInBucket) {
        if (bucket === null) return yield* noBytes
        const pieces = Stream.rechunk(Stream.fromIterable(chunks), 1)
        const { sha256 } = yield* bucket.put(
          objectKeyOf(organizationId, id, 0),
          contentType,
          pieces
        )
        return sha256
      }
      const sha256 = createHash("sha256")
      yield* Effect.forEach(
        chunks,
        (chunk, n) => {
          sha256.update(chunk)
          return files.writeChunk(organizationId, id, n, chunk)
        },
        { discard: true }
      )
      return sha256.digest("hex")
    }),
    /** The bytes for one reader; null is the whole file. */
    read: Effect.fnUntraced(function* (file: FilePlace, part: ByteRange | null) {
      if (!file.isInBucket) return fromChunks(file, part)
      if (bucket === null) return yield* noBytes
      return yield* bucket.get(objectKeyOf(file.organizationId, file.id, 0), part)
    }),
    /** An address that a file of the bucket can be loaded from without a key, for so many seconds. */
    presign: (
      { organizationId, id, contentType }: FilePlace & Pick<MediaFile, "contentType">,
      seconds: number
    ) =>
      bucket === null
        ? Effect.fail(noBytes)
        : bucket.presign(objectKeyOf(organizationId, id, 0), contentType, seconds)
  }
})
