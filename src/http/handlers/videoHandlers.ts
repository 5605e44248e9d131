import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { comeBackMillis } from "../../domain/video/PollPace.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { kindOf, type VideoKind } from "../../domain/video/VideoQuote.ts"
import { Orders } from "../../orders/Orders.ts"
import { UsualTimes } from "../../polling/CompletionTimes.ts"
import { VideoSettlement } from "../../polling/VideoSettlement.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import type { Caller } from "../../services/Access.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { CurrentCaller } from "../api/AuthorizationApi.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import type { VideoTaskView } from "../api/VideosApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerErrors, answerTo } from "./respond.ts"
import { makeTaskEvents } from "./taskEventHandlers.ts"
import { taskView } from "./views.ts"

const asVideo = bodyOf(VideoBody)

/** What the contract would encode as it stands. */
const answer = (view: typeof VideoTaskView.Type, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(view, { headers })

/** How orders of videos and questions about them are answered, whichever way they come. */
export const makeVideoAnswers = Effect.gen(function* () {
  const orders = yield* Orders
  const settlement = yield* VideoSettlement
  const shutdown = yield* Shutdown
  const settings = yield* Settings
  const usualTimes = yield* UsualTimes

  /** Tells when to ask again; a kind of null is a task of which nothing but the id is known. */
  const pace = (kind: VideoKind | null, ageSeconds: number) => {
    const usualSeconds = kind === null ? null : usualTimes.usualSeconds(kind)
    const millis = comeBackMillis(settings, { ageSeconds, usualSeconds })
    return {
      "cache-control": "no-store",
      "retry-after": `${Math.ceil(millis / 1000)}`,
      "openai-poll-after-ms": `${millis}`
    }
  }

  // A finished task is the same object for as long as it is kept in memory.
  const finished = new WeakMap<Task, HttpServerResponse.HttpServerResponse>()

  const answerOf = (task: Task): HttpServerResponse.HttpServerResponse => {
    if (!task.finished) return answer(taskView(task), pace(task.kind, task.ageSeconds))
    const known = finished.get(task)
    if (known !== undefined) return known
    const made = answer(taskView(task))
    finished.set(task, made)
    return made
  }

  const create = Effect.fnUntraced(function* (
    caller: Caller,
    key: string | undefined,
    body: VideoBody
  ) {
    const { id, quote } = yield* answerTo(yield* orders.video(caller, body, key))
    return answer(
      { id, task_status: "processing" },
      {
        location: `/v1/videos/${id}`,
        ...pace(quote === null ? null : kindOf(body.model, quote), 0)
      }
    )
  })

  /** Answers at once, with what is known now. */
  const read = (caller: Caller, id: string) =>
    Effect.map(settlement.read(caller.organizationId, id, 0), answerOf)

  /** Answers when the task has ended, after so long at most, or when the gateway is about to stop. */
  const wait = (caller: Caller, id: string, waitSeconds: number) =>
    Effect.raceFirst(
      asVendorTime(settlement.read(caller.organizationId, id, waitSeconds)),
      Effect.andThen(shutdown.begun, settlement.read(caller.organizationId, id, 0))
    ).pipe(Effect.map(answerOf))

  return { create, read, wait }
})

export const layerVideosHandlers = HttpApiBuilder.group(
  GatewayApi,
  "videos",
  Effect.fn(function* (handlers) {
    const answers = yield* makeVideoAnswers
    const settlement = yield* VideoSettlement
    const eventsOf = yield* makeTaskEvents

    const orders = handlers.handleRaw(
      "create",
      Effect.fn("videos.create")(function* ({ headers }) {
        const caller = yield* CurrentCaller
        const body = yield* asVideo
        return yield* answers.create(caller, headers["idempotency-key"], body)
      }, answerErrors)
    )
    return orders.handleAll({
      read: Effect.fn("videos.read")(function* ({ params, query }) {
        const caller = yield* CurrentCaller
        return yield* query.wait === 0
          ? answers.read(caller, params.task_id)
          : answers.wait(caller, params.task_id, query.wait)
      }, answerErrors),
      events: Effect.fn("videos.events")(function* ({ params, headers }) {
        const caller = yield* CurrentCaller
        const task = yield* settlement.read(caller.organizationId, params.task_id, 0)
        return eventsOf(task, headers["last-event-id"])
      }, answerErrors)
    })
  })
)
