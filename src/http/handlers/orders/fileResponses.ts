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
} from "../../../egress/OutgoingWeb.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { asVendorTime } from "../../../services/ProtocolAdapter.ts"
import { Bucket, objectKeyOf } from "../../../services/results/ArchiveBucket.ts"
import { Archives } from "../../../services/results/Archives.ts"
import { type Task, TaskRepo } from "../../../services/TaskRepo.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { type FileHeaders, fileResponse, storedFile } from "./storedFile.ts"
import { inWordsOf, taskOf } from "./taskResponses.ts"

/** How long an address of the bucket lives that a client is sent to. */
const PRESIGNED_SECONDS = 300

/** How long a vendor may be silent while a file of it is passed on. */
const IDLE_SECONDS = 30

const passedOn = ["etag", "last-modified", "accept-ranges", "content-range"] as const

const headersOf = (answer: OutgoingAnswer) =>
  Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headerOf(answer, name)
      return value === "" ? [] : [[name, value]]
    })
  )

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
      // A browser keeps what it knows of the file, such as its type, from the first answer.
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

  /** A file of the archive; null where it is not there. */
  const archived = Effect.fnUntraced(function* (
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
