/** Taking a file: its row first, then its bytes, then it can be seen. */
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
  readonly lifeSeconds: number
}

/** Well within the time after which an upload is removed. */
const LONGEST_WRITE = "5 minutes"

const untaken = new Overloaded({
  message: "The file cannot be kept at the moment; send it again",
  retryAfterSeconds: 2
})

/** Answers a file that is kept; whatever fails leaves none. */
export const makeFileUploads = Effect.gen(function* () {
  const files = yield* Files
  const store = yield* makeFileBytes
  const failpoints = yield* Failpoints
  const random = yield* SecureRandom.SecureRandom
  const { organizationFiles, organizationFileBytes } = yield* Settings
  const bounds = { files: organizationFiles, bytes: organizationFileBytes }

  const tooMuch = {
    files: `${organizationFiles} files`,
    bytes: `${organizationFileBytes} bytes in files`
  }

  return Effect.fn("files.upload")(function* (
    { organizationId, memberId }: Caller,
    { bytes, contentType, ...upload }: UploadedFile
  ): Effect.fn.Return<MediaFile, PayloadTooLarge | Overloaded> {
    const id = `file_${yield* random.uuidV7()}`
    const place = { organizationId, id, bytes: bytes.length, isInBucket: store.intoBucket }
    const seconds = mediaKindOf(contentType) === "video" ? uploadedSeconds(bytes) : null
    const passed = yield* failAsOverloaded(
      files.add({ ...upload, ...place, memberId, contentType, seconds }, bounds)
    )
    if (passed !== null) {
      return yield* new PayloadTooLarge({
        message: `The organisation may keep ${tooMuch[passed]} at most: delete one that is not needed, or wait until one expires`,
        param: "file"
      })
    }
    return yield* Effect.gen(function* () {
      yield* failpoints.pass("file.placed")
      const sha256 = yield* store.write(place, contentType, bytes).pipe(
        Effect.timeout(LONGEST_WRITE),
        Effect.tapError(({ message }) => Effect.logError("a file could not be kept", message)),
        Effect.mapError(() => untaken)
      )
      yield* failpoints.pass("file.stored")
      return (yield* files.completeUpload(organizationId, id, sha256)) ?? (yield* untaken)
    }).pipe(
      failAsOverloaded,
      Effect.onError(() => Effect.exit(files.abandonUpload(organizationId, id)))
    )
  })
})
