/** Orders of videos in the form of OpenAI's API, sent as forms or as JSON. */
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { mediaTypeOf } from "../../../domain/files/mediaTypes.ts"
import { openaiIdOf } from "../../../domain/orderIds.ts"
import { OpenaiVideoBody, openaiOrder } from "../../../domain/video/OpenaiVideoBody.ts"
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
import { makeTaskResponses, withClientId } from "./taskResponses.ts"

const decodeVideoBody = decodeBody(OpenaiVideoBody)

const invalidField = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const REFERENCE = "input_reference"

/**
 * The media type of a picture; null for other files. The bytes are checked first, as clients often
 * declare no type; the declared type is used only where the bytes show no known type.
 */
const imageTypeOf = ({ bytes, contentType }: FormFile): string | null => {
  const mediaType = mediaTypeOf(bytes)
  if (mediaType !== null) return mediaType.startsWith("image/") ? mediaType : null
  return bytes.length > 0 && /^image\/[\w.+-]{1,60}$/.test(contentType) ? contentType : null
}

const dataUrlOf = (file: FormFile): Effect.Effect<string, InvalidRequest> => {
  const type = imageTypeOf(file)
  return type === null
    ? Effect.fail(invalidField(file.field, "Expected a picture: a PNG, JPEG, WebP or GIF file"))
    : Effect.succeed(`data:${type};base64,${file.bytes.toString("base64")}`)
}

const nestedName = /^([^[\]]{1,64})\[([^[\]]{1,64})\]$/

/**
 * The form as a JSON body. A form field `metadata[project]` becomes the field `project` of the
 * object `metadata`.
 */
const bodyOfForm = Effect.fnUntraced(function* ({ fields, files }: FormParts) {
  const body = new Map<string, unknown>()
  const objects = new Map<string, Map<string, string>>()
  const parts: Array<readonly [name: string, value: string | null]> = [...fields]
  for (const file of files) {
    // A file in any other field becomes null, which is not a valid value, so that the schema
    // refuses it.
    parts.push([file.field, file.field === REFERENCE ? yield* dataUrlOf(file) : null])
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

    return narrowContext(
      HttpApiBuilder.group(customerApi(OpenaiVideosGroup), "openaiVideos", (handlers) =>
        handlers.handleRaw(
          "create",
          Effect.fnUntraced(function* (request) {
            const form = yield* RequestForm
            const json =
              form === null
                ? yield* Effect.flatten(RequestJson)
                : yield* Effect.flatMap(form, bodyOfForm)
            const body = yield* decodeVideoBody(json)
            yield* responses.checkCallbackUrl(body.callback_url)
            const acceptedVideo = yield* placeOrder(request, openaiOrder(body), orders.openaiVideo)
            const task = yield* answerOf(acceptedVideo)
            const video = openaiVideo(task, { id: task.id, task_status: "processing" })
            return HttpServerResponse.jsonUnsafe(video, {
              headers: {
                location: `/v1/videos/${video.id}`,
                ...responses.retryHeaders(task.kind, 0)
              }
            })
          })
        )
      )
    )
  })
)
