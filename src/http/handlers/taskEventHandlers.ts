/** A task's states as server-sent events, from the present one to its end. */
import { Duration, Effect, Metric, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpServerResponse } from "effect/http"
import { eventNumber, LAST_EVENT, publicState, seenEvent } from "../../domain/video/VideoTask.ts"
import { VideoSettlement } from "../../polling/VideoSettlement.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { eventStreams } from "../../services/metrics.ts"
import type { Task } from "../../services/TaskRepo.ts"
import { eventResponse } from "./respond.ts"
import { taskView } from "./views.ts"

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

export const makeTaskEvents = Effect.gen(function* () {
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
