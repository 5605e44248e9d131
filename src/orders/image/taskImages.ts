/** What a task keeps of the images it made: addresses, or the images themselves in the archive. */
import { Effect, Option, Schema, Stream } from "effect"
import { DOWNLOAD_TYPE, mediaTypeOf } from "../../domain/files/mediaTypes.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import { mediumOf } from "../../redaction/patterns.ts"
import type { ImageResult } from "../../services/ProtocolAdapter.ts"
import { type ArchivedFile, Bucket, objectKeyOf } from "../../services/results/ArchiveBucket.ts"
import type { TaskResult } from "../../services/TaskRepo.ts"

export interface TaskImages {
  /** No word of the vendor's, which may repeat the prompt. */
  readonly result: TaskResult
  /** What the archive has already; null where there are addresses to copy from. */
  readonly files: ReadonlyArray<ArchivedFile> | null
}

type Fields = Readonly<Record<string, unknown>>

const decodeFields = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
)

const fieldsOf = (result: ImageResult): Fields =>
  result instanceof RawAnswer
    ? Option.getOrElse(decodeFields(Buffer.concat(result.chunks).toString("utf8")), () => ({}))
    : result

const isImage = Schema.is(
  Schema.Union([
    Schema.Struct({ url: Schema.NonEmptyString }),
    Schema.Struct({ b64_json: Schema.NonEmptyString })
  ])
)

/** An address, or the image itself. */
const contentOf = (image: Readonly<{ url: string } | { b64_json: string }>) => {
  const text = "url" in image ? image.url : image.b64_json
  const medium = "url" in image ? mediumOf(text) : { content: text, encoding: "base64" as const }
  return medium === null ? text : new Uint8Array(Buffer.from(medium.content, medium.encoding))
}

/** The vendor made images that no task can show. */
const inBase64 = new VendorLost({
  reason: "broken_answer",
  message: "The vendor answered with images in base64, which are not kept for a task",
  status: 200,
  retryAfterSeconds: null
})

/** Images that this gateway could not keep are not charged. */
const notKept = (message: string) =>
  new VendorRefused({
    effectiveStatus: 502,
    status: 200,
    body: null,
    message,
    retryAfterSeconds: null
  })

export const makeKeepImages = Effect.map(Bucket, (bucket) =>
  Effect.fnUntraced(function* (
    made: ImageResult,
    organizationId: string,
    id: string
  ): Effect.fn.Return<TaskImages, VendorLost | VendorRefused> {
    const { created, data, usage } = fieldsOf(made)
    const entries: ReadonlyArray<unknown> = Array.isArray(data) ? data : []
    const contents = entries.filter(isImage).map(contentOf)
    const told = { created, ...(usage === undefined ? {} : { usage }) }
    const addresses = contents.filter((content) => typeof content === "string")
    const images = contents.filter((content) => typeof content !== "string")
    if (images.length === 0) {
      return { result: { ...told, data: addresses.map((url) => ({ url })) }, files: null }
    }
    if (bucket === null || addresses.length > 0) {
      return yield* inBase64
    }
    const files = yield* Effect.forEach(images, (bytes, n) => {
      const contentType = mediaTypeOf(bytes) ?? DOWNLOAD_TYPE
      return bucket.put(objectKeyOf(organizationId, id, n), contentType, Stream.make(bytes)).pipe(
        Effect.map((stored) => ({ ...stored, contentType })),
        Effect.tapError(({ message }) =>
          Effect.logError("images could not be put into the archive", message)
        ),
        Effect.mapError(() => notKept("The images that were made could not be kept"))
      )
    })
    return { result: { ...told, data: files.map(() => ({})) }, files }
  })
)
