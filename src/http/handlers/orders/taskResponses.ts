/**
 * Answers requests for tasks of any kind: the state of a task, the wait for its end, and its
 * events.
 */
import { Clock, Duration, Effect, Metric, type Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { makeNeedsKey } from "../../../channels/vendorFiles.ts"
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
  taskNamed,
  taskPaths
} from "../../../domain/orderIds.ts"
import { queuePlace } from "../../../domain/queuePlace.ts"
import { type AddressOf, type Cancellation, taskAnswer } from "../../../domain/taskAnswers.ts"
import { eventNumber, LAST_EVENT, seenEvent, statesShownAs } from "../../../domain/taskStates.ts"
import { openaiFields, openaiVideo } from "../../../domain/video/openaiVideo.ts"
import { clientPollMillis } from "../../../domain/video/PollPace.ts"
import type { VideoKind } from "../../../domain/video/VideoQuote.ts"
import { OutgoingWeb } from "../../../egress/OutgoingWeb.ts"
import { faultOfUrl } from "../../../egress/publicAddresses.ts"
import { UsualTimes } from "../../../polling/CompletionTimes.ts"
import { TaskSettlement } from "../../../polling/TaskSettlement.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { Shutdown } from "../../../runtime/Shutdown.ts"
import { Catalog, makeModelFilter } from "../../../services/Catalog.ts"
import { ChannelQueue } from "../../../services/channels/ChannelQueue.ts"
import { eventStreams } from "../../../services/metrics.ts"
import { asVendorTime } from "../../../services/ProtocolAdapter.ts"
import { ContentLinks } from "../../../services/results/ContentLinks.ts"
import { type ListedTask, type Task, TaskRepo } from "../../../services/TaskRepo.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import type { taskListQuery } from "../../api/shared.ts"
import { eventResponse, listView, pageOf } from "../respond.ts"

/** An SSE comment, which clients skip. It keeps proxies from closing an idle connection. */
const HEARTBEAT = ": still processing\n\n"

/** Counts the stream in the metric of open event streams while it runs. */
const withStreamCount = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.unwrap(
    Effect.as(
      Effect.acquireRelease(Metric.modify(eventStreams, 1), () => Metric.modify(eventStreams, -1)),
      stream
    )
  )

/** A task as far as the time of its next poll depends on it. */
type PollableTask = Pick<Task, "kind" | "state" | "ageSeconds">

/** The task of a new order. The kind is null where only its id is known. */
export const youngTask = (kind: VideoKind | null): PollableTask => ({
  kind,
  state: "submitting",
  ageSeconds: 0
})

const notFound = (clientId: string) =>
  new TaskNotFound({ message: `No task is called ${JSON.stringify(clientId)}` })

/** Parses a task id that a client sent, which must be an id of this kind. */
export const taskIdOf = (
  kind: TaskKind,
  clientId: string
): Effect.Effect<TaskName, TaskNotFound> => {
  const name = taskNamed(clientId)
  return name?.kind === kind ? Effect.succeed(name) : Effect.fail(notFound(clientId))
}

/**
 * The refusal to end or delete a colleague's task. Members may read the tasks of colleagues, but only
 * the member who paid for a task may do more.
 */
const notOwner = (action: "cancelled" | "deleted") =>
  new PermissionDenied({
    message: `A task is ${action} with a key of the member who ordered it, or by an operator`
  })

/**
 * The stored id of a list's cursor. A cursor that is not an id is returned unchanged, and matches
 * no entry.
 */
const cursorOf = (text: string): string => taskNamed(text)?.id ?? text

/** Makes the error "not found" name the task by the id that the client sent. */
export const withClientId = <A, E, R>(clientId: string, lookUp: Effect.Effect<A, E, R>) =>
  Effect.mapError(lookUp, (error) => (error instanceof TaskNotFound ? notFound(clientId) : error))

/** The responses about tasks of one kind. */
export const makeTaskResponses = Effect.fnUntraced(function* (taskKind: TaskKind) {
  const settlement = yield* TaskSettlement
  const shutdown = yield* Shutdown
  const settings = yield* Settings
  const usualTimes = yield* UsualTimes
  const tasks = yield* TaskRepo
  const { rules } = yield* OutgoingWeb
  const links = yield* ContentLinks
  const modelFilter = yield* makeModelFilter
  const catalog = yield* Catalog
  const queue = yield* ChannelQueue
  const needsKey = yield* makeNeedsKey
  const { publicUrl } = settings

  /** The content links of a task for the request's client, to the host that the client called. */
  const makeLinks = Effect.map(
    Effect.all([HttpServerRequest.HttpServerRequest, CurrentCaller, Clock.currentTimeMillis]),
    ([{ headers }, reader, now]) =>
      ({ organizationId, memberId, id }: Task): AddressOf => {
        const origin = publicUrl === "" ? `http://${headers.host ?? ""}` : publicUrl
        const members = [...new Set([memberId, reader.memberId])]
        return (n) => origin + links.path(taskKind, { organizationId, members, id, n }, now)
      }
  )

  /** The view of a task for the request's client. */
  const makeView = Effect.map(
    makeLinks,
    (linksOf) => (task: Task) =>
      taskAnswer(taskKind, { ...task, needsKey: needsKey(task) }, linksOf(task))
  )

  /** The view in the dialect of the id that the client sent. */
  const makeViewIn = (dialect: TaskDialect) =>
    Effect.map(makeView, (view) => (task: Task) => {
      const answer = view(task)
      return dialect === "openai" ? openaiVideo(task, answer) : answer
    })

  /** The view of a list entry, in the dialect of its order. */
  const makeEntryView = Effect.map(makeView, (view) => (task: ListedTask) => {
    const answer = view(task)
    if (task.dialect === "openai") return openaiVideo(task, answer)
    return {
      ...answer,
      ...(taskKind === "video" ? openaiFields(task, answer) : {}),
      model: task.model,
      created_at: task.createdAt.toISOString()
    }
  })

  /** The milliseconds after which the client may poll the task again. */
  const pollMillis = ({ kind, state, ageSeconds }: PollableTask): number => {
    const usualSeconds = kind === null ? null : usualTimes.usualSeconds(kind)
    const isAccepted = state !== "waiting" && state !== "submitting"
    return clientPollMillis(settings, { ageSeconds, isAccepted, usualSeconds })
  }

  /** The headers that tell the client when to poll again. */
  const retryHeaders = (task: PollableTask) => {
    const millis = pollMillis(task)
    return {
      "cache-control": "no-store",
      "retry-after": `${Math.ceil(millis / 1000)}`,
      "openai-poll-after-ms": `${millis}`
    }
  }

  const read = (organizationId: string, clientId: string, waitSeconds: number) =>
    Effect.flatMap(taskIdOf(taskKind, clientId), ({ id }) =>
      withClientId(clientId, settlement.read(organizationId, id, waitSeconds))
    )

  const dialectOf = (clientId: string): TaskDialect => taskNamed(clientId)?.dialect ?? "own"

  /**
   * Waits until the task has ended, the waiting time is over, or the gateway begins to stop, and
   * then reads the task.
   */
  const readAtEnd = (organizationId: string, clientId: string, waitSeconds: number) =>
    Effect.raceFirst(
      asVendorTime(read(organizationId, clientId, waitSeconds)),
      Effect.andThen(shutdown.awaitBegin, read(organizationId, clientId, 0))
    )

  /** The place of a task that waits for its channel, as a field of its answer. */
  const queueField = Effect.fnUntraced(function* ({ channelId, id, kind, state }: Task) {
    if (state !== "waiting") return {}
    const { channels } = yield* catalog.snapshot
    const maxTasks = channels.get(channelId)?.max_tasks ?? 1
    const position = yield* queue.position(id, maxTasks)
    // The order has left the queue since the task was read.
    if (position === null) return {}
    const usualSeconds = kind === null ? null : usualTimes.usualSeconds(kind)
    return { queue: queuePlace(position, maxTasks, usualSeconds) }
  })

  /** The task as its reader gets it, with its place in a queue and what came of its cancel. */
  const answerOf = Effect.fnUntraced(function* (
    task: Task,
    dialect: TaskDialect,
    more: { readonly cancellation?: Cancellation } = {}
  ) {
    const view = yield* makeViewIn(dialect)
    return { task, body: { ...view(task), ...(yield* queueField(task)), ...more } }
  })

  const responseOf = ({ task, body }: Effect.Success<ReturnType<typeof answerOf>>) =>
    HttpServerResponse.jsonUnsafe(body, {
      headers: task.finished ? {} : retryHeaders(task)
    })

  /** Reads the task, as soon as the task has ended or the waiting time is over. */
  const readTask = Effect.fnUntraced(function* (id: string, waitSeconds: number) {
    const { organizationId } = yield* CurrentCaller
    const task =
      waitSeconds === 0
        ? yield* read(organizationId, id, 0)
        : yield* readAtEnd(organizationId, id, waitSeconds)
    return yield* answerOf(task, dialectOf(id))
  })

  /**
   * Asks the task's vendor to cancel it, and reads the task. A task that goes on has
   * `cancellation`, which tells why.
   */
  const cancelTask = Effect.fnUntraced(function* (id: string) {
    const { organizationId, memberId } = yield* CurrentCaller
    const name = yield* taskIdOf(taskKind, id)
    const { memberId: owner } = yield* withClientId(id, tasks.find(organizationId, name.id))
    if (owner !== memberId) return yield* notOwner("cancelled")
    const { task, cancellation } = yield* withClientId(
      id,
      asVendorTime(settlement.cancel(organizationId, name.id))
    )
    return yield* answerOf(task, dialectOf(id), cancellation === null ? {} : { cancellation })
  })

  type View = Effect.Success<ReturnType<typeof makeViewIn>>
  type QueueField = Effect.Success<ReturnType<typeof queueField>>

  const eventOf = (task: Task, view: View, queue: QueueField = {}): string => {
    const data = view(task)
    return Sse.encoder.write({
      _tag: "Event",
      id: String(eventNumber(data.task_status)),
      event: `${taskKind}.${data.task_status}`,
      data: JSON.stringify({ ...data, ...queue })
    })
  }

  // This event is sent only when a stream ends before its task. It must be the last event, as some
  // readers, such as Effect's own, stop at a `retry`.
  const retryEvent = Sse.encoder.write(
    new Sse.Retry({
      duration: Duration.seconds(Math.max(1, settings.askIntervalSeconds)),
      lastEventId: undefined
    })
  )

  /**
   * Streams the events of a task after the client's `Last-Event-ID`, from the current state to the
   * end. A client that has already seen the end gets 204, which stops an `EventSource` from
   * reconnecting. A gateway that begins to stop ends the stream with a `retry`, and the client
   * reconnects to another gateway. The event of an order that waits has its place at that moment.
   */
  const eventsOf = (task: Task, view: View, queue: QueueField, lastEventId: string | undefined) => {
    const state = view(task).task_status
    const lastSeen = seenEvent(lastEventId, state)
    if (lastSeen === LAST_EVENT) return HttpServerResponse.empty({ status: 204 })
    // The stream of a deleted task ends without a last event; the client's next request is answered
    // 404.
    const end = Effect.raceFirst(
      Effect.match(settlement.end(task.organizationId, task.id), {
        onSuccess: (latest) =>
          view(latest).task_status === "processing" ? "" : eventOf(latest, view),
        onFailure: () => ""
      }),
      Effect.as(shutdown.awaitBegin, retryEvent)
    )
    const heartbeats = Stream.tick(`${settings.heartbeatSeconds} seconds`).pipe(
      Stream.drop(1),
      Stream.map(() => HEARTBEAT)
    )
    // The first bytes are sent immediately: many clients consider a connection open only when bytes
    // arrive.
    const firstText = Stream.make(
      lastSeen < eventNumber(state) ? eventOf(task, view, queue) : HEARTBEAT
    )
    const events = task.finished
      ? firstText
      : Stream.concat(
          firstText,
          Stream.merge(heartbeats, Stream.fromEffect(end), { haltStrategy: "right" }).pipe(
            Stream.filter((text) => text !== "")
          )
        )
    return eventResponse(Stream.encodeText(withStreamCount(events)))
  }

  return {
    retryHeaders,
    pollMillis,
    linksOf: makeLinks,
    readTask,
    cancelTask,
    /** The place of the caller's task in the queue of its channel, as a field of an answer. */
    queueField: (id: string) =>
      Effect.flatMap(CurrentCaller, ({ organizationId }) =>
        Effect.matchEffect(tasks.find(organizationId, id), {
          onSuccess: queueField,
          // The task was deleted since it was ordered.
          onFailure: () => Effect.succeed({})
        })
      ),
    /** Fails when the gateway may not send callbacks to this URL. */
    checkCallbackUrl: (url: string | null | undefined) => {
      const fault = url == null ? null : faultOfUrl(url, rules)
      return fault === null
        ? Effect.void
        : new InvalidRequest({ message: `callback_url: ${fault}`, param: "callback_url" })
    },
    /** Lists the tasks of the caller. */
    list: Effect.fnUntraced(function* (query: Schema.Struct.Type<typeof taskListQuery>) {
      const { after } = query
      const page = yield* tasks.list(
        yield* CurrentCaller,
        {
          kind: taskKind,
          states: statesShownAs(taskKind, query.status ?? null),
          model: yield* modelFilter(query.model),
          createdAfter: query.created_after === undefined ? null : new Date(query.created_after),
          order: query.order
        },
        pageOf({ ...query, ...(after === undefined ? {} : { after: cursorOf(after) }) })
      )
      const list = listView(page, yield* makeEntryView)
      return HttpServerResponse.jsonUnsafe({
        ...list,
        first_id: list.data[0]?.id ?? null,
        last_id: list.data.at(-1)?.id ?? null
      })
    }),
    /** Answers with the task, as soon as the task has ended or the waiting time is over. */
    answer: (id: string, waitSeconds: number) => Effect.map(readTask(id, waitSeconds), responseOf),
    /** Answers with the task after the request to cancel it. */
    cancel: (id: string) => Effect.map(cancelTask(id), responseOf),
    /** Deletes the task. The ledger entries of the task stay. */
    remove: Effect.fnUntraced(function* (id: string) {
      const { organizationId, memberId } = yield* CurrentCaller
      const task = yield* read(organizationId, id, 0)
      if (task.memberId !== memberId) return yield* notOwner("deleted")
      if (!task.finished) {
        const retryAfterSeconds = Number(retryHeaders(task)["retry-after"])
        return yield* new TaskProcessing({
          message: `The task is still processing: delete it when it has ended, or cancel it with POST ${taskPaths[taskKind]}/${id}/cancel`,
          retryAfterSeconds
        })
      }
      yield* tasks.erase(organizationId, task.id)
      return { id, object: `${taskKind}.deleted` as const, deleted: true }
    }),
    events: Effect.fnUntraced(function* (id: string, lastEventId: string | undefined) {
      const { organizationId } = yield* CurrentCaller
      const task = yield* read(organizationId, id, 0)
      const view = yield* makeViewIn(dialectOf(id))
      return eventsOf(task, view, yield* queueField(task), lastEventId)
    })
  }
})
