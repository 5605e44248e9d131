/**
 * Reads and writes the bytes of uploaded files, in the archive's bucket or as chunks in the store
 * `Files`.
 */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { Bucket, BucketFault, type ByteRange, objectKeyOf } from "../results/ArchiveBucket.ts"
import { CHUNK_BYTES, Files, type MediaFile } from "./Files.ts"

/** The fields of a file that are needed to find its bytes. */
export interface FileLocation extends Pick<MediaFile, "id" | "bytes" | "isInBucket"> {
  readonly organizationId: string
}

const bytesMissing = new BucketFault({ message: "the file's bytes are not there" })

/**
 * Splits the bytes into chunks. The chunks are written one after the other, so that a large file
 * does not block other requests.
 */
const splitIntoChunks = (bytes: Buffer): ReadonlyArray<Buffer> =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, n) =>
    bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES)
  )

export const makeFileBytes = Effect.gen(function* () {
  const files = yield* Files
  const bucket = yield* Bucket

  const readChunks = ({ organizationId, id, bytes }: FileLocation, part: ByteRange | null) => {
    const { start, end } = part ?? { start: 0, end: bytes - 1 }
    const first = Math.floor(start / CHUNK_BYTES)
    const last = Math.floor(end / CHUNK_BYTES)
    return Stream.fromIterable(Array.from({ length: last - first + 1 }, (_, n) => first + n)).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((n) =>
        Effect.flatMap(files.readChunk(organizationId, id, n), (chunk) => {
          const from = n * CHUNK_BYTES
          return chunk === null
            ? Effect.fail(bytesMissing)
            : Effect.succeed(chunk.subarray(Math.max(0, start - from), end - from + 1))
        })
      )
    )
  }

  return {
    /** Whether new files are stored in the bucket. */
    usesBucket: bucket !== null,
    /**
     * Writes the bytes of a pending file and returns their SHA-256. Fails when the bucket fails.
     */
    write: Effect.fnUntraced(function* (
      { organizationId, id, isInBucket }: FileLocation,
      contentType: string,
      bytes: Buffer
    ): Effect.fn.Return<string, BucketFault> {
      const chunks = splitIntoChunks(bytes)
      if (isInBucket) {
        if (bucket === null) return yield* bytesMissing
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
    /**
     * Streams the bytes to one reader; a null range means the whole file. Fails where bytes are
     * missing.
     */
    read: Effect.fnUntraced(function* (file: FileLocation, part: ByteRange | null) {
      if (!file.isInBucket) return readChunks(file, part)
      if (bucket === null) return yield* bytesMissing
      return yield* bucket.get(objectKeyOf(file.organizationId, file.id, 0), part)
    }),
    /** A signed address that serves a file of the bucket without a key for `seconds` seconds. */
    presign: (
      { organizationId, id, contentType }: FileLocation & Pick<MediaFile, "contentType">,
      seconds: number
    ) =>
      bucket === null
        ? Effect.fail(bytesMissing)
        : bucket.presign(objectKeyOf(organizationId, id, 0), contentType, seconds)
  }
})
