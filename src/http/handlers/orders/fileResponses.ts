/** Serves the files of tasks, from the archive or streamed from their vendor. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { makeOpenVendorFile } from "../../../channels/vendorFiles.ts"
import { NotFound, UpstreamError } from "../../../domain/Errors.ts"
import type { TaskKind } from "../../../domain/orderIds.ts"
import { imageAddresses, taskAnswer } from "../../../domain/taskAnswers.ts"
import { stillsOf, type VideoFile } from "../../../domain/video/videoStills.ts"
import { bytesWithin, headerOf, type OutgoingAnswer } from "../../../egress/OutgoingWeb.ts"
import { deepestReason } from "../../../runtime/deepestReason.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { asVendorTime } from "../../../services/ProtocolAdapter.ts"
import { Bucket, objectKeyOf } from "../../../services/results/ArchiveBucket.ts"
import { Archives } from "../../../services/results/Archives.ts"
import { type Task, TaskRepo } from "../../../services/TaskRepo.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { type FileHeaders, fileResponse, storedFile } from "./storedFile.ts"
import { taskIdOf, withClientId } from "./taskResponses.ts"

/** The stills that serve as a variant, the preferred one first. */
const variants = {
  thumbnail: ["cover", "last_frame"],
  last_frame: ["last_frame"]
} as const satisfies Record<string, ReadonlyArray<VideoFile>>
type VideoVariant = "video" | keyof typeof variants

/** The lifetime of the presigned bucket URL to which a client is redirected. */
const PRESIGNED_SECONDS = 300

/** The idle time-out of a vendor while its file is streamed. */
const IDLE_SECONDS = 30

const forwardedHeaders = ["etag", "last-modified", "accept-ranges", "content-range"] as const

const headersOf = (answer: OutgoingAnswer) =>
  Object.fromEntries(
    forwardedHeaders.flatMap((name) => {
      const value = headerOf(answer, name)
      return value === "" ? [] : [[name, value]]
    })
  )

const fileNotFound = (message: string) => new NotFound({ message })

const unavailable = (message: string, status: number | null) =>
  new UpstreamError({
    message: `The file could not be loaded from the vendor: ${message}`,
    status: 502,
    upstream: { status, body: null },
    retryable: true,
    unpaid: true,
    retryAfterSeconds: null
  })

/** Joins the bytes of a stream; null where they are more than `maxBytes`. */
const collectBytes = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, maxBytes: number) =>
  Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    let length = 0
    yield* bytes.pipe(
      Stream.takeWhile((chunk) => {
        length += chunk.byteLength
        return length <= maxBytes
      }),
      Stream.runForEach((chunk) => Effect.sync(() => chunks.push(chunk)))
    )
    return length <= maxBytes ? Buffer.concat(chunks) : null
  })

/** Whether the vendor's status means that the file no longer exists there. */
const isGone = (status: number): boolean => status === 403 || status === 404 || status === 410

export const makeFileResponses = Effect.gen(function* () {
  const tasks = yield* TaskRepo
  const openVendorFile = yield* makeOpenVendorFile
  const archives = yield* Archives
  const bucket = yield* Bucket
  const { archiveRedirect, maxContentBytes } = yield* Settings

  const findTask = Effect.fnUntraced(function* (kind: TaskKind, id: string) {
    const { organizationId } = yield* CurrentCaller
    const name = yield* taskIdOf(kind, id)
    const task = yield* withClientId(id, tasks.find(organizationId, name.id))
    const { task_status: state } = taskAnswer(kind, task)
    if (state === "processing")
      return yield* fileNotFound("It is not made yet: the task is processing")
    if (state === "failed") return yield* fileNotFound("There is no file: the task has failed")
    return task
  })

  const loadFromVendor = Effect.fnUntraced(function* (
    task: Task,
    url: string,
    headers: FileHeaders
  ) {
    const sentHeaders = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const]
    )
    const answer = yield* openVendorFile(task, {
      method: "GET",
      url,
      headers: Object.fromEntries(sentHeaders),
      idleSeconds: IDLE_SECONDS
    }).pipe(
      asVendorTime,
      Effect.mapError(({ message }) => unavailable(message, null))
    )
    const { status } = answer
    if (isGone(status)) return yield* fileNotFound("The vendor does not have the file any more")
    if (status === 304 || status === 416) {
      // These answers have no content type: a browser keeps the headers of the answer with which it
      // got the file.
      const headers = { ...headersOf(answer), "cache-control": "private" }
      return HttpServerResponse.empty({ status, headers })
    }
    if (status !== 200 && status !== 206) {
      return yield* unavailable(`it answered ${status}`, status)
    }
    const length = headerOf(answer, "content-length")
    const contentLength = length === "" ? undefined : Number(length)
    if (contentLength !== undefined && contentLength > maxContentBytes) {
      return yield* unavailable(`it has more than ${maxContentBytes} bytes`, status)
    }
    return fileResponse(bytesWithin(maxContentBytes, answer), headerOf(answer, "content-type"), {
      status,
      ...(contentLength === undefined ? {} : { contentLength }),
      headers: headersOf(answer)
    })
  })

  /**
   * The bytes of a file of a task; null where they are more than `maxBytes`. They are read here even
   * where clients are redirected to the archive.
   */
  const readBytes = Effect.fnUntraced(function* (
    task: Task,
    n: number,
    address: string | null,
    maxBytes: number
  ) {
    const { organizationId, id } = task
    const archiveEntry =
      bucket === null ? undefined : (yield* archives.files(organizationId, id))?.[n]
    if (bucket !== null && archiveEntry !== undefined) {
      if (archiveEntry.bytes > maxBytes) return null
      const bytes = yield* bucket.get(objectKeyOf(organizationId, id, n), null)
      return { contentType: archiveEntry.contentType, bytes: yield* collectBytes(bytes, maxBytes) }
    }
    if (address === null) return null
    const { body } = yield* loadFromVendor(task, address, {})
    if (body._tag !== "Stream" || (body.contentLength ?? 0) > maxBytes) return null
    return { contentType: body.contentType, bytes: yield* collectBytes(body.stream, maxBytes) }
  }, Effect.scoped)

  /** The response with an archived file; null where the archive has none. */
  const archivedFile = Effect.fnUntraced(function* (
    { organizationId, id }: Task,
    n: number,
    headers: FileHeaders
  ) {
    if (bucket === null) return null
    const file = (yield* archives.files(organizationId, id))?.[n]
    if (file === undefined) return null
    const key = objectKeyOf(organizationId, id, n)
    if (archiveRedirect) {
      const address = yield* bucket.presign(key, file.contentType, PRESIGNED_SECONDS)
      return HttpServerResponse.redirect(address, { headers: { "cache-control": "no-store" } })
    }
    return yield* storedFile(file, headers, (part) => bucket.get(key, part))
  })

  const serveFile = Effect.fnUntraced(function* (
    task: Task,
    n: number,
    address: string | null | undefined,
    headers: FileHeaders
  ) {
    // While the bucket cannot be reached, the file is loaded from the vendor, which may still have
    // it.
    const archiveResponse = yield* Effect.catch(archivedFile(task, n, headers), ({ message }) =>
      Effect.logWarning("archive: reading a file failed").pipe(
        Effect.annotateLogs({ order_id: task.id, cause: message }),
        Effect.as(null)
      )
    )
    if (archiveResponse !== null) return archiveResponse
    return address === null || address === undefined
      ? yield* fileNotFound("The task has no such file")
      : yield* loadFromVendor(task, address, headers)
  })

  return {
    /** Serves a video, or one of its stills where it has one. */
    video: Effect.fnUntraced(function* (id: string, variant: VideoVariant, headers: FileHeaders) {
      const task: Task = yield* findTask("video", id)
      if (variant === "video") return yield* serveFile(task, 0, task.videoUrl, headers)
      const stills = stillsOf(task.stills)
      const still = variants[variant]
        .flatMap((name) => stills.find((candidate) => candidate.name === name) ?? [])
        .at(0)
      if (still !== undefined) return yield* serveFile(task, still.n, still.url, headers)
      const files = ["video", ...stills.map(({ name }) => name)].join(", ")
      return yield* fileNotFound(
        `The video has no ${variant}: its vendor made none. It has: ${files}`
      )
    }),
    /** Serves the sound of a task, which is in the archive alone. */
    sound: Effect.fnUntraced(function* (id: string, headers: FileHeaders) {
      return yield* serveFile(yield* findTask("speech", id), 0, null, headers)
    }),
    /**
     * The bytes of a file of a task that has succeeded; null where they are more than `maxBytes`, or
     * cannot be loaded now.
     */
    bytes: (task: Task, n: number, maxBytes: number) => {
      const address = imageAddresses(task)[n] ?? null
      return readBytes(task, n, address, maxBytes).pipe(
        Effect.catch((error) =>
          Effect.logWarning("files: loading a file to embed failed").pipe(
            Effect.annotateLogs({ order_id: task.id, cause: deepestReason(error) }),
            Effect.as(null)
          )
        )
      )
    },
    /** Serves an image of a task; `n` counts from 0, as in the task's `data`. */
    image: Effect.fnUntraced(function* (id: string, n: number, headers: FileHeaders) {
      const task: Task = yield* findTask("image", id)
      return yield* serveFile(task, n, imageAddresses(task)[n], headers)
    })
  }
})
