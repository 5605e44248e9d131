/** What is answered of tasks of any kind: how they stand, when they end, and their events. */
import { Clock, Duration, Effect, Metric, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  InvalidRequest,
  PermissionDenied,
  TaskNotFound,
  TaskProcessing
} from "../../../domain/Errors.ts"
import {
  type TaskDialect,
  type TaskKind,
  type TaskName,
  taskNamed
} from "../../../domain/orderIds.ts"
import { taskAnswer } from "../../../domain/taskAnswers.ts"
import {
  eventNumber,
  LAST_EVENT,
  type publicStates,
  seenEvent,
  statesShownAs
} from "../../../domain/taskStates.ts"
import { openaiFields, openaiVideo } from "../../../domain/video/openaiVideo.ts"
import { clientPollMillis } from "../../../domain/video/PollPace.ts"
import type { VideoKind } from "../../../domain/video/VideoQuote.ts"
import { OutgoingWeb } from "../../../egress/OutgoingWeb.ts"
import { faultOfUrl } from "../../../egress/publicAddresses.ts"
import { UsualTimes } from "../../../polling/CompletionTimes.ts"
import { TaskSettlement } from "../../../polling/TaskSettlement.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { Shutdown } from "../../../runtime/Shutdown.ts"
import { eventStreams } from "../../../services/metrics.ts"
import { asVendorTime } from "../../../services/ProtocolAdapter.ts"
import { ContentLinks } from "../../../services/results/ContentLinks.ts"
import { type ListedTask, type Task, TaskRepo } from "../../../services/TaskRepo.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { eventResponse, listView, pageOf } from "../respond.ts"

/** A comment, which clients skip: it keeps what lies between from closing a silent connection. */
const HEARTBEAT = ": still processing\n\n"

/** Counted for as long as the stream runs. */
const counted = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrap(
    Effect.as(
      Effect.acquireRelease(Metric.modify(eventStreams, 1), () => Metric.modify(eventStreams, -1)),
      stream
    )
  )

const notFound = (text: string) =>
  new TaskNotFound({ message: `No task is called ${JSON.stringify(text)}` })

/** The task of this kind that a client names. */
export const taskOf = (kind: TaskKind, text: string): Effect.Effect<TaskName, TaskNotFound> => {
  const name = taskNamed(text)
  return name?.kind === kind ? Effect.succeed(name) : Effect.fail(notFound(text))
}

/** Colleagues read a task, but what its member paid for is not theirs to take away. */
const notTheirs = new PermissionDenied({
  message: "A task is deleted with a key of the member who ordered it, or by an operator"
})

/** As a list has it; what names no task is no entry of any. */
const idOf = (text: string): string => taskNamed(text)?.id ?? text

/** A task that is not found is told by the client's own name for it. */
export const inWordsOf = <A, E, R>(text: string, found: Effect.Effect<A, E, R>) =>
  Effect.mapError(found, (error) => (error instanceof TaskNotFound ? notFound(text) : error))

/** Answers of tasks of one kind. */
export const makeTaskResponses = Effect.fnUntraced(function* (taskKind: TaskKind) {
  const settlement = yield* TaskSettlement
  const shutdown = yield* Shutdown
  const settings = yield* Settings
  const usualTimes = yield* UsualTimes
  const tasks = yield* TaskRepo
  const { rules } = yield* OutgoingWeb
  const links = yield* ContentLinks
  const { publicUrl } = settings

  /** A task as the request's client sees it: with addresses that lead where the request went. */
  const views = Effect.map(
    Effect.all([HttpServerRequest.HttpServerRequest, CurrentCaller, Clock.currentTimeMillis]),
    ([{ headers }, reader, now]) =>
      (task: Task) => {
        const origin = publicUrl === "" ? `http://${headers.host ?? ""}` : publicUrl
        const { organizationId, id } = task
        const members = [...new Set([task.memberId, reader.memberId])]
        return taskAnswer(
          taskKind,
          task,
          (n) => origin + links.path(taskKind, { organizationId, members, id, n }, now)
        )
      }
  )

  /** The same in the words of the id that the client asked with. */
  const viewsIn = (dialect: TaskDialect) =>
    Effect.map(views, (view) => (task: Task) => {
      const answer = view(task)
      return dialect === "openai" ? openaiVideo(task, answer) : answer
    })

  /** An entry of a list, with the id that its order was answered with. */
  const listed = Effect.map(views, (view) => (task: ListedTask) => {
    const answer = view(task)
    if (task.dialect === "openai") return openaiVideo(task, answer)
    return {
      ...answer,
      ...(taskKind === "video" ? openaiFields(task, answer) : {}),
      model: task.model,
      created_at: task.createdAt.toISOString()
    }
  })

  /** Tells when to ask again; a kind of null is a task of which nothing but the id is known. */
  const pace = (kind: VideoKind | null, ageSeconds: number) => {
    const usualSeconds = kind === null ? null : usualTimes.usualSeconds(kind)
    const millis = clientPollMillis(settings, { ageSeconds, usualSeconds })
    return {
      "cache-control": "no-store",
      "retry-after": `${Math.ceil(millis / 1000)}`,
      "openai-poll-after-ms": `${millis}`
    }
  }

  const read = (organizationId: string, text: string, waitSeconds: number) =>
    Effect.flatMap(taskOf(taskKind, text), ({ id }) =>
      inWordsOf(text, settlement.read(organizationId, id, waitSeconds))
    )

  const dialectOf = (text: string): TaskDialect => taskNamed(text)?.dialect ?? "own"

  /** Answers when the task has ended, after so long at most, or when the gateway is about to stop. */
  const wait = (organizationId: string, id: string, waitSeconds: number) =>
    Effect.raceFirst(
      asVendorTime(read(organizationId, id, waitSeconds)),
      Effect.andThen(shutdown.awaitBegin, read(organizationId, id, 0))
    )

  const answerOf = (task: Task, dialect: TaskDialect) =>
    Effect.map(viewsIn(dialect), (view) =>
      HttpServerResponse.jsonUnsafe(view(task), {
        headers: task.finished ? {} : pace(task.kind, task.ageSeconds)
      })
    )

  // A task's states as server-sent events, from the present one to its end

  type View = Effect.Success<ReturnType<typeof viewsIn>>

  const eventOf = (task: Task, view: View): string => {
    const data = view(task)
    return Sse.encoder.write({
      _tag: "Event",
      id: String(eventNumber(data.task_status)),
      event: `${taskKind}.${data.task_status}`,
      data: JSON.stringify(data)
    })
  }

  // Said only when a stream ends before its task: readers such as effect's own take it as the end.
  const retry = Sse.encoder.write(
    new Sse.Retry({
      duration: Duration.seconds(Math.max(1, settings.askIntervalSeconds)),
      lastEventId: undefined
    })
  )

  /**
   * The events of a task the client has not seen, as far as it says what it has seen. A client that
   * saw the end gets 204, at which an `EventSource` stops coming back. A gateway that is about to
   * stop ends the stream with a `retry`, and the client goes on elsewhere.
   */
  const eventsOf = (task: Task, view: View, lastEventId: string | undefined) => {
    const state = view(task).task_status
    const seen = seenEvent(lastEventId, state)
    if (seen === LAST_EVENT) return HttpServerResponse.empty({ status: 204 })
    // A task that is gone has no end to tell; the client's next request says so.
    const end = Effect.raceFirst(
      Effect.match(settlement.end(task.organizationId, task.id), {
        onSuccess: (ended) =>
          view(ended).task_status === "processing" ? "" : eventOf(ended, view),
        onFailure: () => ""
      }),
      Effect.as(shutdown.awaitBegin, retry)
    )
    const heartbeats = Stream.tick(`${settings.heartbeatSeconds} seconds`).pipe(
      Stream.drop(1),
      Stream.map(() => HEARTBEAT)
    )
    // Something at once in any case: the client's connection counts as open with the first bytes.
    const now = Stream.make(seen < eventNumber(state) ? eventOf(task, view) : HEARTBEAT)
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

  return {
    pace,
    /** Whether the end of an order may be told there. */
    mayCallBack: (url: string | null | undefined) => {
      const fault = url == null ? null : faultOfUrl(url, rules)
      return fault === null
        ? Effect.void
        : new InvalidRequest({ message: `callback_url: ${fault}`, param: "callback_url" })
    },
    /** The caller's own. */
    list: Effect.fnUntraced(function* (query: {
      readonly after?: string
      readonly limit: number
      readonly order: "asc" | "desc"
      readonly status?: (typeof publicStates)[number]
      readonly model?: string
      readonly created_after?: string
    }) {
      const { after } = query
      const page = yield* tasks.list(
        yield* CurrentCaller,
        {
          kind: taskKind,
          states: statesShownAs(taskKind, query.status ?? null),
          model: query.model ?? null,
          createdAfter: query.created_after === undefined ? null : new Date(query.created_after),
          order: query.order
        },
        pageOf({ ...query, ...(after === undefined ? {} : { after: idOf(after) }) })
      )
      const { data, ...rest } = listView(page, yield* listed)
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      return HttpServerResponse.jsonUnsafe({ ...rest, data, ...ends })
    }),
    /** The task, after so many seconds at most. */
    answer: Effect.fnUntraced(function* (id: string, waitSeconds: number) {
      const { organizationId } = yield* CurrentCaller
      const asked =
        waitSeconds === 0 ? read(organizationId, id, 0) : wait(organizationId, id, waitSeconds)
      return yield* answerOf(yield* asked, dialectOf(id))
    }),
    /** Nothing of it is found any more, but for what the books tell. */
    remove: Effect.fnUntraced(function* (id: string) {
      const { organizationId, memberId } = yield* CurrentCaller
      const task = yield* read(organizationId, id, 0)
      if (task.memberId !== memberId) return yield* notTheirs
      if (!task.finished) {
        const retryAfterSeconds = Number(pace(task.kind, task.ageSeconds)["retry-after"])
        const message = "The task is still processing: delete it when it has ended"
        return yield* new TaskProcessing({ message, retryAfterSeconds })
      }
      yield* tasks.erase(organizationId, task.id)
      return { id, object: `${taskKind}.deleted` as const, deleted: true }
    }),
    events: Effect.fnUntraced(function* (id: string, lastEventId: string | undefined) {
      const { organizationId } = yield* CurrentCaller
      return eventsOf(
        yield* read(organizationId, id, 0),
        yield* viewsIn(dialectOf(id)),
        lastEventId
      )
    })
  }
})
