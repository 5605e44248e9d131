/** Puts the files of a task's result into the archive while the task is made. */
import { Effect, Stream } from "effect"
import { VendorRefused } from "../domain/VendorOutcome.ts"
import {
  type ArchiveBucket,
  type ArchivedFile,
  markMetadata,
  objectKeyOf
} from "../services/results/ArchiveBucket.ts"

/** The failure for a result that the gateway could not store; it is not charged. */
const storageFailed = new VendorRefused({
  effectiveStatus: 502,
  status: 200,
  body: null,
  message: "The result that was made could not be stored",
  retryAfterSeconds: null
})

/** A file of a task: its number in the result, its bytes, and the watermark that was ordered. */
interface ResultFile {
  readonly organizationId: string
  readonly id: string
  readonly n: number
  readonly contentType: string
  readonly chunks: ReadonlyArray<Uint8Array>
  readonly isMarked: boolean
}

export const storeResultFile = (
  bucket: ArchiveBucket,
  { organizationId, id, n, contentType, chunks, isMarked }: ResultFile
): Effect.Effect<ArchivedFile, VendorRefused> =>
  bucket
    .put(
      objectKeyOf(organizationId, id, n),
      contentType,
      Stream.fromIterable(chunks),
      markMetadata(isMarked)
    )
    .pipe(
      Effect.map((stored) => ({ ...stored, contentType })),
      Effect.tapError(({ message }) =>
        Effect.logError("archive: storing the result of a task failed").pipe(
          Effect.annotateLogs({ order_id: id, cause: message })
        )
      ),
      Effect.mapError(() => storageFailed)
    )
