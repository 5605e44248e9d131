/** Files of tasks, passed on from where their vendor keeps them. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { NotFound, UpstreamError } from "../../../domain/Errors.ts"
import type { TaskKind } from "../../../domain/orderIds.ts"
import { imageAddresses, taskAnswer } from "../../../domain/taskAnswers.ts"
import {
  bytesWithin,
  headerOf,
  type OutgoingAnswer,
  OutgoingWeb
} from "../../../outgoing/OutgoingWeb.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { asVendorTime } from "../../../services/ProtocolAdapter.ts"
import { Bucket, keyOf } from "../../../services/results/ArchiveBucket.ts"
import { Archives } from "../../../services/results/Archives.ts"
import { type Task, TaskRepo } from "../../../services/TaskRepo.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { partOf } from "../../byteRanges.ts"
import { inWordsOf, taskOf } from "./taskResponses.ts"

/** How long an address of the bucket lives that a client is sent to. */
const PRESIGNED_SECONDS = 300

/** How long a vendor may be silent while a file of it is passed on. */
const IDLE_SECONDS = 30

/** Headers of a request for a file. */
interface FileHeaders {
  readonly range?: string
  readonly "if-range"?: string
  readonly "if-none-match"?: string
}

const passedOn = ["etag", "last-modified", "accept-ranges", "content-range"] as const

/** Nothing that a browser would run as a page of ours. */
const safeType = (type: string): string =>
  /^(?:video|audio|image)\/(?!svg)[\w.+-]+$/.test(type) ? type : "application/octet-stream"

const safe = { "cache-control": "private", "x-content-type-options": "nosniff" }

const headersOf = (answer: OutgoingAnswer) => ({
  ...Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headerOf(answer, name)
      return value === "" ? [] : [[name, value]]
    })
  ),
  ...safe
})

const notThere = (message: string) => new NotFound({ message })

const unavailable = (message: string, status: number | null) =>
  new UpstreamError({
    message: `The file could not be loaded from the vendor: ${message}`,
    status: 502,
    upstream: { status, body: null },
    retryable: true,
    retryAfterSeconds: null
  })

/** Whether the vendor has it no longer, as far as its answer tells. */
const isGone = (status: number): boolean => status === 403 || status === 404 || status === 410

export const makeFileResponses = Effect.gen(function* () {
  const tasks = yield* TaskRepo
  const web = yield* OutgoingWeb
  const archives = yield* Archives
  const bucket = yield* Bucket
  const { archiveRedirect, maxContentBytes } = yield* Settings

  const find = Effect.fnUntraced(function* (kind: TaskKind, id: string) {
    const { organizationId } = yield* CurrentCaller
    const name = yield* taskOf(kind, id)
    const task = yield* inWordsOf(id, tasks.find(organizationId, name.id))
    const { task_status: state } = taskAnswer(kind, task)
    if (state === "processing") return yield* notThere("It is not made yet: the task is processing")
    if (state === "failed") return yield* notThere("There is no file: the task has failed")
    return task
  })

  const load = Effect.fnUntraced(function* (url: string, headers: FileHeaders) {
    const wanted = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const]
    )
    const answer = yield* web
      .open({
        method: "GET",
        url,
        headers: Object.fromEntries(wanted),
        idleSeconds: IDLE_SECONDS
      })
      .pipe(
        asVendorTime,
        Effect.mapError(({ message }) => unavailable(message, null))
      )
    const { status } = answer
    if (isGone(status)) return yield* notThere("The vendor does not have the file any more")
    if (status === 304 || status === 416) {
      return HttpServerResponse.empty({ status, headers: headersOf(answer) })
    }
    if (status !== 200 && status !== 206) {
      return yield* unavailable(`it answered ${status}`, status)
    }
    const length = headerOf(answer, "content-length")
    const contentLength = length === "" ? undefined : Number(length)
    if (contentLength !== undefined && contentLength > maxContentBytes) {
      return yield* unavailable(`it has more than ${maxContentBytes} bytes`, status)
    }
    return HttpServerResponse.stream(bytesWithin(maxContentBytes, answer), {
      status,
      contentType: safeType(headerOf(answer, "content-type")),
      ...(contentLength === undefined ? {} : { contentLength }),
      headers: headersOf(answer)
    })
  })

  /** A file of the archive; null where it is not there. */
  const archived = Effect.fnUntraced(function* (
    { organizationId, id }: Task,
    n: number,
    headers: FileHeaders
  ) {
    if (bucket === null) return null
    const file = (yield* archives.files(organizationId, id))?.[n]
    if (file === undefined) return null
    const key = keyOf(organizationId, id, n)
    if (archiveRedirect) {
      const address = yield* bucket.presigned(key, PRESIGNED_SECONDS)
      return HttpServerResponse.redirect(address, { headers: { "cache-control": "no-store" } })
    }
    const etag = `"${file.sha256}"`
    const own = { ...safe, etag, "accept-ranges": "bytes" }
    if (headers["if-none-match"] === etag) {
      return HttpServerResponse.empty({ status: 304, headers: own })
    }
    const isSame = headers["if-range"] === undefined || headers["if-range"] === etag
    const part = isSame ? partOf(headers.range, file.bytes) : null
    if (part === "beyond") {
      const contentRange = { "content-range": `bytes */${file.bytes}` }
      return HttpServerResponse.empty({ status: 416, headers: { ...own, ...contentRange } })
    }
    const bytes = yield* bucket.get(key, part)
    const contentType = safeType(file.contentType)
    if (part === null) {
      const contentLength = file.bytes
      return HttpServerResponse.stream(bytes, { contentType, contentLength, headers: own })
    }
    const { start, end } = part
    return HttpServerResponse.stream(bytes, {
      status: 206,
      contentType,
      contentLength: end - start + 1,
      headers: { ...own, "content-range": `bytes ${start}-${end}/${file.bytes}` }
    })
  })

  const fileAt = Effect.fnUntraced(function* (
    task: Task,
    n: number,
    address: string | null | undefined,
    headers: FileHeaders
  ) {
    // While the bucket is away, the vendor may still have it.
    const kept = yield* Effect.catch(archived(task, n, headers), ({ message }) =>
      Effect.as(Effect.logWarning("the archive could not be read", message), null)
    )
    if (kept !== null) return kept
    return address === null || address === undefined
      ? yield* notThere("The task has no such file")
      : yield* load(address, headers)
  })

  return {
    video: Effect.fnUntraced(function* (id: string, headers: FileHeaders) {
      const task: Task = yield* find("video", id)
      return yield* fileAt(task, 0, task.videoUrl, headers)
    }),
    /** `n` counts from 0, as in the task's `data`. */
    image: Effect.fnUntraced(function* (id: string, n: number, headers: FileHeaders) {
      const task: Task = yield* find("image", id)
      return yield* fileAt(task, n, imageAddresses(task)[n], headers)
    })
  }
})
