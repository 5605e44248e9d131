/** Stores the images of a task: their URLs, or the images themselves in the archive. */
import { Effect, Option, Schema } from "effect"
import { DOWNLOAD_TYPE, mediaTypeOf } from "../../domain/files/mediaTypes.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { VendorLost, type VendorRefused } from "../../domain/VendorOutcome.ts"
import { mediumOf } from "../../redaction/patterns.ts"
import type { ImageResult } from "../../services/ProtocolAdapter.ts"
import { type ArchivedFile, Bucket } from "../../services/results/ArchiveBucket.ts"
import type { TaskResult } from "../../services/TaskRepo.ts"
import { storeResultFile } from "../resultFiles.ts"

export interface TaskImages {
  /** The result of the task, without the vendor's texts, which may repeat the prompt. */
  readonly result: TaskResult
  /**
   * The files in the archive; null where URLs are stored, from which the archive copies the images
   * later.
   */
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

/** The content of an image: its bytes, or its URL as a text. */
const contentOf = (image: Readonly<{ url: string } | { b64_json: string }>) => {
  const text = "url" in image ? image.url : image.b64_json
  const medium = "url" in image ? mediumOf(text) : { content: text, encoding: "base64" as const }
  return medium === null ? text : new Uint8Array(Buffer.from(medium.content, medium.encoding))
}

/**
 * The failure for images that the vendor sent in base64 while the gateway has no archive to store
 * them.
 */
const unstorableImages = new VendorLost({
  reason: "broken_answer",
  message: "The vendor answered with images in base64, which are not kept for a task",
  status: 200,
  retryAfterSeconds: null
})

/** The task whose images are stored. */
interface ArchivedTask {
  readonly organizationId: string
  readonly id: string
  readonly isMarked: boolean
}

export const makeArchiveImages = Effect.map(Bucket, (bucket) =>
  Effect.fnUntraced(function* (
    images: ImageResult,
    task: ArchivedTask
  ): Effect.fn.Return<TaskImages, VendorLost | VendorRefused> {
    const { created, data, usage } = fieldsOf(images)
    const entries: ReadonlyArray<unknown> = Array.isArray(data) ? data : []
    const contents = entries.filter(isImage).map(contentOf)
    const commonFields = { created, ...(usage === undefined ? {} : { usage }) }
    const addresses = contents.filter((content) => typeof content === "string")
    const inline = contents.filter((content) => typeof content !== "string")
    if (inline.length === 0) {
      return { result: { ...commonFields, data: addresses.map((url) => ({ url })) }, files: null }
    }
    if (bucket === null || addresses.length > 0) {
      return yield* unstorableImages
    }
    const files = yield* Effect.forEach(inline, (bytes, n) =>
      storeResultFile(bucket, {
        ...task,
        n,
        contentType: mediaTypeOf(bytes) ?? DOWNLOAD_TYPE,
        chunks: [bytes]
      })
    )
    return { result: { ...commonFields, data: files.map(() => ({})) }, files }
  })
)
