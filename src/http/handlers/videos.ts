import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../services/Settings.ts"
import { Shutdown } from "../../services/Shutdown.ts"
import { asVendorTime } from "../../services/VendorTime.ts"
import { VideoSettlement } from "../../services/VideoSettlement.ts"
import { VideoTasks } from "../../services/VideoTasks.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { makeOnce, otherKind } from "./once.ts"
import { answerErrors, withHeaders } from "./respond.ts"
import { taskView } from "./views.ts"

export const layerVideosHandlers = HttpApiBuilder.group(
  GatewayApi,
  "videos",
  Effect.fn(function* (handlers) {
    const tasks = yield* VideoTasks
    const once = yield* makeOnce
    const settlement = yield* VideoSettlement
    const shutdown = yield* Shutdown
    const { askIntervalSeconds } = yield* Settings
    const pace = withHeaders({
      "cache-control": "no-store",
      "retry-after": `${Math.max(1, Math.ceil(askIntervalSeconds))}`
    })

    /** A wait ends early when the gateway is about to stop. */
    const read = (organizationId: string, id: string, waitSeconds: number) =>
      waitSeconds === 0
        ? settlement.read(organizationId, id, 0)
        : Effect.raceFirst(
            asVendorTime(settlement.read(organizationId, id, waitSeconds)),
            Effect.andThen(shutdown.begun, settlement.read(organizationId, id, 0))
          )

    return handlers.handleAll({
      create: Effect.fn("videos.create")(function* ({ headers, payload }) {
        const caller = yield* CurrentCaller
        const id = yield* once(
          {
            organizationId: caller.organizationId,
            key: headers["idempotency-key"],
            path: "/v1/videos/generations",
            body: payload
          },
          {
            order: (key) => tasks.create(caller, payload, key),
            replay: (recalled) =>
              recalled._tag === "Video" ? Effect.succeed(recalled.id) : otherKind(recalled)
          }
        )
        yield* withHeaders({ location: `/v1/videos/${id}` })
        yield* pace
        return { id, task_status: "processing" as const }
      }, answerErrors),
      read: Effect.fn("videos.read")(function* ({ params, query }) {
        const caller = yield* CurrentCaller
        const task = yield* read(caller.organizationId, params.task_id, query.wait)
        if (!task.finished) yield* pace
        return taskView(task)
      }, answerErrors)
    })
  })
)
