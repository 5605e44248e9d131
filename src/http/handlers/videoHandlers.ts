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
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import type { VideoTaskView } from "../api/VideosApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerTo } from "./respond.ts"
import { makeTaskEvents } from "./taskEventHandlers.ts"
import { taskView } from "./views.ts"

const asVideo = bodyOf(VideoBody)

/** What the contract would encode as it stands. */
const answer = (view: typeof VideoTaskView.Type, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(view, { headers })

export const layerVideosHandlers = HttpApiBuilder.group(
  GatewayApi,
  "videos",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    const settlement = yield* VideoSettlement
    const shutdown = yield* Shutdown
    const settings = yield* Settings
    const usualTimes = yield* UsualTimes
    const eventsOf = yield* makeTaskEvents

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

    const answerOf = (task: Task) =>
      answer(taskView(task), task.finished ? {} : pace(task.kind, task.ageSeconds))

    /** Answers when the task has ended, after so long at most, or when the gateway is about to stop. */
    const wait = (organizationId: string, id: string, waitSeconds: number) =>
      Effect.raceFirst(
        asVendorTime(settlement.read(organizationId, id, waitSeconds)),
        Effect.andThen(shutdown.begun, settlement.read(organizationId, id, 0))
      )

    const ordering = handlers.handleRaw(
      "create",
      Effect.fn("videos.create")(function* (request) {
        const body = yield* asVideo
        const { id, quote } = yield* answerTo(request, body, orders.video)
        const kind = quote === null ? null : kindOf(body.model, quote)
        return answer(
          { id, task_status: "processing" },
          { location: `/v1/videos/${id}`, ...pace(kind, 0) }
        )
      })
    )
    return ordering.handleAll({
      read: Effect.fn("videos.read")(function* ({ params, query }) {
        const { organizationId } = yield* CurrentCaller
        const task = yield* query.wait === 0
          ? settlement.read(organizationId, params.task_id, 0)
          : wait(organizationId, params.task_id, query.wait)
        return answerOf(task)
      }),
      events: Effect.fn("videos.events")(function* ({ params, headers }) {
        const { organizationId } = yield* CurrentCaller
        const task = yield* settlement.read(organizationId, params.task_id, 0)
        return eventsOf(task, headers["last-event-id"])
      })
    })
  })
)
