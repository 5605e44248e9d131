/** Orders of videos in the form of OpenAI's API, sent as forms or as JSON. */
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { type MediaKind, mediaTypeOf } from "../../../domain/files/mediaTypes.ts"
import { openaiIdOf, taskNamed } from "../../../domain/orderIds.ts"
import {
  OpenaiEditBody,
  OpenaiExtensionBody,
  OpenaiRemixBody,
  orderFromSource,
  sourceOfBody
} from "../../../domain/video/OpenaiEditBody.ts"
import {
  type OpenaiSource,
  OpenaiVideoBody,
  type OpenaiVideoOrder,
  openaiOrder
} from "../../../domain/video/OpenaiVideoBody.ts"
import { openaiVideo } from "../../../domain/video/openaiVideo.ts"
import { Orders } from "../../../orders/Orders.ts"
import type { AcceptedVideo } from "../../../orders/video/videoOrder.ts"
import { TaskRepo } from "../../../services/TaskRepo.ts"
import { customerApi } from "../../api/contractOf.ts"
import {
  CurrentCaller,
  type FormFile,
  type FormParts,
  RequestForm,
  RequestJson
} from "../../api/middlewares.ts"
import { OpenaiVideosGroup } from "../../api/orders/OpenaiVideosApi.ts"
import { decodeBody } from "../../server/requestRules.ts"
import { placeOrder } from "../respond.ts"
import { narrowContext } from "./narrowContext.ts"
import { makeTaskResponses, taskIdOf, withClientId, youngTask } from "./taskResponses.ts"

const decodeVideoBody = decodeBody(OpenaiVideoBody)
const decodeRemixBody = decodeBody(OpenaiRemixBody)
const decodeEditBody = decodeBody(OpenaiEditBody)
const decodeExtensionBody = decodeBody(OpenaiExtensionBody)

const invalidField = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

/** The fields that take a file, with its kind and what is expected. */
const fileFields: ReadonlyMap<string, readonly [kind: MediaKind, expected: string]> = new Map([
  ["input_reference", ["image", "a picture: a PNG, JPEG, WebP or GIF file"]],
  ["video", ["video", "a video: an MP4, QuickTime or WebM file"]]
])

/**
 * The media type of a file of the kind; null for other files. The bytes are checked first, as
 * clients often declare no type; the declared type is used only where the bytes show no known type.
 */
const mediaTypeAs = (kind: MediaKind, { bytes, contentType }: FormFile): string | null => {
  const mediaType = mediaTypeOf(bytes)
  if (mediaType !== null) return mediaType.startsWith(`${kind}/`) ? mediaType : null
  const isDeclared = contentType.startsWith(`${kind}/`) && /^\w+\/[\w.+-]{1,60}$/.test(contentType)
  return bytes.length > 0 && isDeclared ? contentType : null
}

/**
 * The file as a data URL. A file in a field that takes none becomes null, which is not a valid value,
 * so that the schema refuses it.
 */
const dataUrlOf = (file: FormFile): Effect.Effect<string | null, InvalidRequest> => {
  const [kind, expected] = fileFields.get(file.field) ?? [null, ""]
  if (kind === null) return Effect.succeed(null)
  const type = mediaTypeAs(kind, file)
  return type === null
    ? Effect.fail(invalidField(file.field, `Expected ${expected}`))
    : Effect.succeed(`data:${type};base64,${file.bytes.toString("base64")}`)
}

const nestedName = /^([^[\]]{1,64})\[([^[\]]{1,64})\]$/

/** The body of the request, which is JSON or a form. */
const readBody = Effect.gen(function* () {
  const form = yield* RequestForm
  return form === null
    ? yield* Effect.flatten(RequestJson)
    : yield* Effect.flatMap(form, bodyOfForm)
})

/**
 * The form as a JSON body. A form field `metadata[project]` becomes the field `project` of the
 * object `metadata`.
 */
const bodyOfForm = Effect.fnUntraced(function* ({ fields, files }: FormParts) {
  const body = new Map<string, unknown>()
  const objects = new Map<string, Map<string, string>>()
  const parts: Array<readonly [name: string, value: string | null]> = [...fields]
  for (const file of files) {
    parts.push([file.field, yield* dataUrlOf(file)])
  }
  for (const [name, value] of parts) {
    const [, outer = name, inner] = nestedName.exec(name) ?? []
    const object = objects.get(outer)
    const isRepeated =
      inner === undefined ? body.has(name) : (object?.has(inner) ?? body.has(outer))
    if (isRepeated) return yield* invalidField(name, "It stands in the form more than once")
    if (inner === undefined) {
      body.set(name, value)
      continue
    }
    const entries = object ?? new Map<string, string>()
    entries.set(inner, value ?? "")
    objects.set(outer, entries)
    body.set(outer, undefined)
  }
  for (const [name, entries] of objects) body.set(name, Object.fromEntries(entries))
  return Object.fromEntries(body)
})

export const layerOpenaiVideosHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const orders = yield* Orders
    const tasks = yield* TaskRepo
    const responses = yield* makeTaskResponses("video")

    /**
     * The task that answers an order. For a replay the task is read from the database, but shown in
     * the state of a new task, so that the answer equals the first answer.
     */
    const answerOf = Effect.fnUntraced(function* ({ id, kind, shape }: AcceptedVideo) {
      const newTask = { id, state: "submitting", finishedAt: null } as const
      if (kind !== null && shape !== null) {
        return { ...newTask, model: kind.model, kind, ...shape }
      }
      const { organizationId } = yield* CurrentCaller
      const task = yield* withClientId(openaiIdOf(id), tasks.find(organizationId, id))
      return { ...task, ...newTask }
    })

    const respond = Effect.fnUntraced(function* (
      request: Parameters<typeof placeOrder>[0],
      order: OpenaiVideoOrder
    ) {
      yield* responses.checkCallbackUrl(order.callbackUrl)
      const acceptedVideo = yield* placeOrder(request, order, orders.openaiVideo)
      const task = yield* answerOf(acceptedVideo)
      const video = openaiVideo(task, { id: task.id, task_status: "processing" })
      return HttpServerResponse.jsonUnsafe(video, {
        headers: {
          location: `/v1/videos/${video.id}`,
          ...responses.retryHeaders(youngTask(task.kind))
        }
      })
    })

    /** The earlier video that a body names by its id; null for a file or an address. */
    const findSource = Effect.fnUntraced(function* (video: string) {
      const name = taskNamed(video)
      if (name === null) return null
      const { organizationId } = yield* CurrentCaller
      return yield* Effect.mapError(tasks.find(organizationId, name.id), () =>
        invalidField("video", `No video is called ${JSON.stringify(video)}`)
      )
    })

    /** The order of an edit or an extension: by its own model, or by that of the earlier video. */
    const sourcedOrder = Effect.fnUntraced(function* (
      role: OpenaiSource["role"],
      body: typeof OpenaiEditBody.Type | typeof OpenaiExtensionBody.Type
    ) {
      const video = sourceOfBody(body)
      const task = yield* findSource(video)
      const model = body.model ?? task?.model
      if (model === undefined) {
        return yield* invalidField("model", "It is required where the video has no id here")
      }
      const size = task?.model === model ? (task.kind?.resolution ?? null) : null
      return orderFromSource(body, { role, video }, { model, size })
    })

    return narrowContext(
      HttpApiBuilder.group(customerApi(OpenaiVideosGroup), "openaiVideos", (handlers) =>
        handlers
          .handleRaw(
            "create",
            Effect.fnUntraced(function* (request) {
              const body = yield* decodeVideoBody(yield* readBody)
              return yield* respond(request, openaiOrder(body))
            })
          )
          .handleRaw(
            "remix",
            Effect.fnUntraced(function* (request) {
              const body = yield* decodeRemixBody(yield* readBody)
              const { task_id: clientId } = request.params
              const { organizationId } = yield* CurrentCaller
              const { id } = yield* taskIdOf("video", clientId)
              const { model, kind } = yield* withClientId(clientId, tasks.find(organizationId, id))
              const source = { role: "edit_video", video: clientId } as const
              const size = kind?.resolution ?? null
              return yield* respond(request, orderFromSource(body, source, { model, size }))
            })
          )
          .handleRaw(
            "edit",
            Effect.fnUntraced(function* (request) {
              const body = yield* decodeEditBody(yield* readBody)
              return yield* respond(request, yield* sourcedOrder("edit_video", body))
            })
          )
          .handleRaw(
            "extend",
            Effect.fnUntraced(function* (request) {
              const body = yield* decodeExtensionBody(yield* readBody)
              return yield* respond(request, yield* sourcedOrder("extend_video", body))
            })
          )
      )
    )
  })
)
