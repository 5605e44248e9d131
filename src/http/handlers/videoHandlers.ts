import { Duration, Effect, Metric, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { comeBackMillis } from "../../domain/video/PollPace.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { kindOf, type VideoKind } from "../../domain/video/VideoQuote.ts"
import { eventNumber, LAST_EVENT, publicState, seenEvent } from "../../domain/video/VideoTask.ts"
import { Orders } from "../../orders/Orders.ts"
import { UsualTimes } from "../../polling/CompletionTimes.ts"
import { VideoSettlement } from "../../polling/VideoSettlement.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { eventStreams } from "../../services/metrics.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import type { VideoTaskView } from "../api/VideosApi.ts"
import { bodyOf } from "../server/requestRules.ts"
import { answerTo, eventResponse } from "./respond.ts"
import { taskView } from "./views.ts"

const asVideo = bodyOf(VideoBody)

/** What the contract would encode as it stands. */
const answer = (view: typeof VideoTaskView.Type, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(view, { headers })

// A task's states as server-sent events, from the present one to its end

/** A comment, which clients skip: it keeps what lies between from closing a silent connection. */
const HEARTBEAT = ": still processing\n\n"

const eventOf = (task: Task): string => {
  const data = taskView(task)
  return Sse.encoder.write({
    _tag: "Event",
    id: String(eventNumber(data.task_status)),
    event: `video.${data.task_status}`,
    data: JSON.stringify(data)
  })
}

/** Counted for as long as the stream runs. */
const counted = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrap(
    Effect.as(
      Effect.acquireRelease(Metric.modify(eventStreams, 1), () => Metric.modify(eventStreams, -1)),
      stream
    )
  )

const makeTaskEvents = Effect.gen(function* () {
  const settlement = yield* VideoSettlement
  const shutdown = yield* Shutdown
  const { askIntervalSeconds, heartbeatSeconds } = yield* Settings
  // Said only when a stream ends before its task: readers such as effect's own take it as the end.
  const retry = Sse.encoder.write(
    new Sse.Retry({
      duration: Duration.seconds(Math.max(1, askIntervalSeconds)),
      lastEventId: undefined
    })
  )

  /**
   * The events of a task the client has not seen, as far as it says what it has seen. A client that
   * saw the end gets 204, at which an `EventSource` stops coming back. A gateway that is about to
   * stop ends the stream with a `retry`, and the client goes on elsewhere.
   */
  return (task: Task, lastEventId: string | undefined) => {
    const state = taskView(task).task_status
    const seen = seenEvent(lastEventId, state)
    if (seen === LAST_EVENT) return HttpServerResponse.empty({ status: 204 })
    // A task that is gone has no end to tell; the client's next request says so.
    const end = Effect.raceFirst(
      Effect.match(settlement.end(task.organizationId, task.id), {
        onSuccess: (ended) => (publicState(ended.state) === null ? "" : eventOf(ended)),
        onFailure: () => ""
      }),
      Effect.as(shutdown.begun, retry)
    )
    const heartbeats = Stream.tick(`${heartbeatSeconds} seconds`).pipe(
      Stream.drop(1),
      Stream.map(() => HEARTBEAT)
    )
    // Something at once in any case: the client's connection counts as open with the first bytes.
    const now = Stream.make(seen < eventNumber(state) ? eventOf(task) : HEARTBEAT)
    const events = task.finished
      ? now
      : Stream.concat(
          now,
          Stream.merge(heartbeats, Stream.fromEffect(end), { haltStrategy: "right" }).pipe(
            Stream.filter((text) => text !== "")
          )
        )
    return eventResponse(Stream.encodeText(counted(events)))
  }
})

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
      Effect.fnUntraced(function* (request) {
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
      read: Effect.fnUntraced(function* ({ params, query }) {
        const { organizationId } = yield* CurrentCaller
        const task = yield* query.wait === 0
          ? settlement.read(organizationId, params.task_id, 0)
          : wait(organizationId, params.task_id, query.wait)
        return answerOf(task)
      }),
      events: Effect.fnUntraced(function* ({ params, headers }) {
        const { organizationId } = yield* CurrentCaller
        const task = yield* settlement.read(organizationId, params.task_id, 0)
        return eventsOf(task, headers["last-event-id"])
      })
    })
  })
)
