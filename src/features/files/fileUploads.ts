/**
 * The upload of a file: first its row is written, then its bytes, and then the file becomes
 * visible.
 */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Overloaded, PayloadTooLarge } from "../../domain/Errors.ts"
import { mediaKindOf } from "../../domain/files/mediaTypes.ts"
import { uploadedSeconds } from "../../domain/video/length/knownSeconds.ts"
import { failAsOverloaded } from "../../runtime/databaseErrors.ts"
import { Failpoints } from "../../runtime/Failpoints.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Files, type MediaFile, type NewFile } from "../../services/files/Files.ts"
import { makeFileBytes } from "../../services/files/fileBytes.ts"

export interface UploadedFile extends Pick<NewFile, "filename" | "purpose" | "contentType"> {
  readonly bytes: Buffer
  readonly lifetimeSeconds: number
}

/**
 * The time-out of storing a file, well below `UPLOAD_SECONDS`, after which an incomplete upload is
 * deleted.
 */
const WRITE_TIMEOUT = "5 minutes"

const storeFailed = new Overloaded({
  message: "The file cannot be kept at the moment; send it again",
  retryAfterSeconds: 2
})

/** Makes the upload, which returns the stored file. A failed upload leaves no file. */
export const makeFileUploads = Effect.gen(function* () {
  const files = yield* Files
  const store = yield* makeFileBytes
  const failpoints = yield* Failpoints
  const random = yield* SecureRandom.SecureRandom
  const { organizationFiles, organizationFileBytes } = yield* Settings
  const bounds = { files: organizationFiles, bytes: organizationFileBytes }

  const boundTexts = {
    files: `${organizationFiles} files`,
    bytes: `${organizationFileBytes} bytes in files`
  }

  return Effect.fn("files.upload")(function* (
    { organizationId, memberId }: Caller,
    { bytes, contentType, ...upload }: UploadedFile
  ): Effect.fn.Return<MediaFile, PayloadTooLarge | Overloaded> {
    const id = `file_${yield* random.uuidV7()}`
    const location = { organizationId, id, bytes: bytes.length, isInBucket: store.usesBucket }
    const seconds = mediaKindOf(contentType) === "video" ? uploadedSeconds(bytes) : null
    const exceeded = yield* failAsOverloaded(
      files.add({ ...upload, ...location, memberId, contentType, seconds }, bounds)
    )
    if (exceeded !== null) {
      return yield* new PayloadTooLarge({
        message: `The organisation may keep ${boundTexts[exceeded]} at most: delete one that is not needed, or wait until one expires`,
        param: "file"
      })
    }
    return yield* Effect.gen(function* () {
      yield* failpoints.pass("file.placed")
      const sha256 = yield* store.write(location, contentType, bytes).pipe(
        Effect.timeout(WRITE_TIMEOUT),
        Effect.tapError(({ message }) =>
          Effect.logError("files: storing a file failed").pipe(
            Effect.annotateLogs({ file_id: id, cause: message })
          )
        ),
        Effect.mapError(() => storeFailed)
      )
      yield* failpoints.pass("file.stored")
      return (yield* files.completeUpload(organizationId, id, sha256)) ?? (yield* storeFailed)
    }).pipe(
      failAsOverloaded,
      Effect.onError(() => Effect.exit(files.abandonUpload(organizationId, id)))
    )
  })
})
