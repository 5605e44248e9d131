/** Orders of videos in the words of OpenAI's API, as forms and as JSON. */

import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { mediaTypeOf } from "../../../domain/files/mediaTypes.ts"
import { openaiIdOf } from "../../../domain/orderIds.ts"
import { OpenaiVideoBody, openaiOrder } from "../../../domain/video/OpenaiVideoBody.ts"
import { openaiVideo } from "../../../domain/video/openaiVideo.ts"
import { kindOf } from "../../../domain/video/VideoQuote.ts"
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
import { answerOrder } from "../respond.ts"
import { inWordsOf, makeTaskResponses } from "./taskResponses.ts"

const asOrder = decodeBody(OpenaiVideoBody)

const refuse = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const REFERENCE = "input_reference"

/** The type a file is, by its bytes first: clients often do not say it. */
const typeOf = ({ bytes, contentType }: FormFile): string | null => {
  const seen = mediaTypeOf(bytes)
  if (seen !== null) return seen.startsWith("image/") ? seen : null
  return bytes.length > 0 && /^image\/[\w.+-]{1,60}$/.test(contentType) ? contentType : null
}

const inlineOf = (file: FormFile): Effect.Effect<string, InvalidRequest> => {
  const type = typeOf(file)
  return type === null
    ? Effect.fail(refuse(file.field, "Expected a picture: a PNG, JPEG, WebP or GIF file"))
    : Effect.succeed(`data:${type};base64,${file.bytes.toString("base64")}`)
}

const nested = /^([^[\]]{1,64})\[([^[\]]{1,64})\]$/

/** What a form says, as JSON would: `metadata[project]` is a field of an object. */
const saidBy = Effect.fnUntraced(function* ({ fields, files }: FormParts) {
  const said = new Map<string, unknown>()
  const inside = new Map<string, Map<string, string>>()
  const parts: Array<readonly [name: string, value: string | null]> = [...fields]
  for (const file of files) {
    // There is no other field for a file, which its name says then.
    parts.push([file.field, file.field === REFERENCE ? yield* inlineOf(file) : null])
  }
  for (const [name, value] of parts) {
    const [, outer = name, inner] = nested.exec(name) ?? []
    const there = inside.get(outer)
    const isTwice = inner === undefined ? said.has(name) : (there?.has(inner) ?? said.has(outer))
    if (isTwice) return yield* refuse(name, "It stands in the form more than once")
    if (inner === undefined) {
      said.set(name, value)
      continue
    }
    const pairs = there ?? new Map<string, string>()
    pairs.set(inner, value ?? "")
    inside.set(outer, pairs)
    said.set(outer, undefined)
  }
  for (const [name, pairs] of inside) said.set(name, Object.fromEntries(pairs))
  return Object.fromEntries(said)
})

export const layerOpenaiVideosHandlers = HttpApiBuilder.group(
  customerApi(OpenaiVideosGroup),
  "openaiVideos",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    const tasks = yield* TaskRepo
    const responses = yield* makeTaskResponses("video")

    /** A repeat is answered as the first request was, of what was kept with its task. */
    const orderedOf = Effect.fnUntraced(function* (
      model: string,
      { id, quote, shape }: AcceptedVideo
    ) {
      const fresh = { id, state: "submitting", finishedAt: null } as const
      if (quote !== null && shape !== null) {
        return { ...fresh, model, kind: kindOf(model, quote), ...shape }
      }
      const { organizationId } = yield* CurrentCaller
      return { ...(yield* inWordsOf(openaiIdOf(id), tasks.find(organizationId, id))), ...fresh }
    })

    return handlers.handleRaw(
      "create",
      Effect.fnUntraced(function* (request) {
        const form = yield* RequestForm
        const said =
          form === null ? yield* Effect.flatten(RequestJson) : yield* Effect.flatMap(form, saidBy)
        const body = yield* asOrder(said)
        yield* responses.mayCallBack(body.callback_url)
        const order = openaiOrder(body)
        const ordered = yield* orderedOf(
          body.model,
          yield* answerOrder(request, order, orders.openaiVideo)
        )
        const { id, kind } = ordered
        const video = openaiVideo(ordered, { id, task_status: "processing" })
        return HttpServerResponse.jsonUnsafe(video, {
          headers: { location: `/v1/videos/${video.id}`, ...responses.pace(kind, 0) }
        })
      })
    )
  })
)
