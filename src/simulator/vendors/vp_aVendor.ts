import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { numberFrom, randomText } from "../digest.ts"
import { MediaLinks, secondsOfLink } from "../Media.ts"
import { clipSize } from "../media/clip.ts"
import { placeOrder } from "../placeOrder.ts"
import {
  assumedInputSeconds,
  framesPerSecond,
  renderedRatio,
  renderedResolution
} from "../rendering.ts"
import { Tasks } from "../Tasks.ts"
import { type Call, type Desk, decodeBody, keyOf, type Refusal, type Vendor } from "../Vendor.ts"
import { type Content, countBlocks, taskTypeOf, textOf } from "./contentBlocks.ts"
import {
  badKey,
  draftOf,
  invalidParameter,
  jsonText,
  lifecycle,
  noTask,
  ofFault,
  orderFault,
  orderFields,
  pollAnswer,
  recordText,
  refusal,
  refuseWith,
  sensitiveInput,
  statusOf
} from "./contentTasks.ts"
import { familyOf } from "./vp_a/families.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The valid numbers of frames are 29, 33, 37 and so on. */
const FEWEST_FRAMES = 29
const FRAMES_STEP = 4

const Submit = Schema.Struct({
  ...orderFields,
  resolution: Schema.optionalKey(Schema.String),
  seed: Schema.optionalKey(between(-1, 4294967295)),
  camera_fixed: Schema.optionalKey(Schema.Boolean),
  watermark: Schema.optionalKey(Schema.Boolean),
  return_last_frame: Schema.optionalKey(Schema.Boolean),
  draft: Schema.optionalKey(Schema.Boolean),
  /** The number of frames, which takes precedence over the duration. */
  frames: Schema.optionalKey(between(FEWEST_FRAMES, 289)),
  priority: Schema.optionalKey(between(0, 9)),
  service_tier: Schema.optionalKey(Schema.Literals(["default", "flex"])),
  omni_reference_task_type: Schema.optionalKey(
    Schema.Literals(["auto", "reference", "edit", "extend"])
  ),
  callback_url: Schema.optionalKey(Schema.String),
  execution_expires_after: Schema.optionalKey(between(3600, 259200))
})

/** The fields of the order that the response to a poll repeats. */
const Echo = Schema.Struct({
  seed: Schema.Int,
  service_tier: Schema.String,
  execution_expires_after: Schema.Int,
  draft: Schema.Boolean,
  return_last_frame: Schema.Boolean
})

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

/**
 * The options of an order that only some models support. The service tier `default` is left out,
 * because every model supports it.
 */
const optionsOf = (order: typeof Submit.Type) => ({
  camera_fixed: order.camera_fixed,
  draft: order.draft,
  frames: order.frames,
  omni_reference_task_type: order.omni_reference_task_type,
  priority: order.priority,
  service_tier: order.service_tier === "default" ? undefined : order.service_tier
})

const inapplicable = (order: typeof Submit.Type): Refusal | undefined => {
  const { parameters } = familyOf(order.model)
  for (const [name, value] of Object.entries(optionsOf(order))) {
    if (value === undefined || parameters.includes(name)) continue
    const reason = `\`${name}\` is not supported for model ${order.model} in ${taskTypeOf(order.content)}`
    return invalidParameter(name, `is not valid: the specified parameter ${reason}, must be empty.`)
  }
  return order.frames !== undefined && (order.frames - FEWEST_FRAMES) % FRAMES_STEP !== 0
    ? invalidParameter("frames")
    : undefined
}

const constraint = (param: string, why: string) =>
  refusal(
    400,
    "InvalidParameter.TaskTypeConstraint",
    `The parameter \`${param}\` specified in the request is not valid: ${why}`,
    "BadRequest",
    param
  )

/**
 * The fault of an edit or an extension. Both keep the ratio of the input video, and an edit its
 * length as well.
 */
const taskTypeFault = (order: typeof Submit.Type): Refusal | undefined => {
  const { omni_reference_task_type: task, content, duration, ratio } = order
  if (task !== "edit" && task !== "extend") return undefined
  if (countBlocks(content, "video_url") === 0) {
    return constraint("content", `the task type ${task} needs a reference video.`)
  }
  if (ratio !== undefined && ratio !== "adaptive")
    return constraint("ratio", `it must be adaptive for ${task}.`)
  return task === "edit" && duration !== undefined && duration !== -1
    ? constraint("duration", "it must be -1 for edit.")
    : undefined
}

const renderResult = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  endedEntry: EndedEntry
) {
  const links = yield* MediaLinks
  const { order } = acceptedEntry
  const echo: Partial<typeof Echo.Type> = Option.getOrElse(
    Schema.decodeUnknownOption(Echo)(acceptedEntry.echo),
    () => ({})
  )
  const { return_last_frame = false, ...echoedFields } = echo
  const lastFrame = links.image(acceptedEntry, 0, clipSize)
  return {
    content: {
      video_url: links.video(endedEntry),
      ...(return_last_frame ? { last_frame_url: lastFrame } : {})
    },
    ...echoedFields,
    resolution: renderedResolution(acceptedEntry),
    ratio: renderedRatio(acceptedEntry),
    duration: endedEntry.produced.seconds,
    framespersecond: framesPerSecond,
    generate_audio: order.generate_audio
  }
})

const form = { idField: "id", renderResult }

const runningTask = (id: string) =>
  refusal(
    409,
    "InvalidAction.RunningTaskDeletion",
    `Cannot delete the task ${id} because it is currently running.`,
    "Conflict"
  )

const MOST_A_PAGE = 500
const USUAL_PAGE = 10

const readPage = (query: URLSearchParams, name: string, usual: number) => {
  const text = query.get(name)
  if (text === null) return Effect.succeed(usual)
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= MOST_A_PAGE
    ? Effect.succeed(number)
    : Effect.fail(invalidParameter(name))
}

/**
 * The length of the video that an order edits: that of a video of this simulator, and the assumed
 * length of any other.
 */
const editedSeconds = (content: Content): number => {
  const [url = ""] = content.flatMap((block) =>
    block.type === "video_url" ? [block.video_url.url] : []
  )
  const seconds = secondsOfLink(url)
  return seconds ?? assumedInputSeconds
}

/** The length of the ordered video, in the order's field: that of an edit is its video's. */
const durationOf = (order: typeof Submit.Type): typeof order => {
  if (order.omni_reference_task_type === "edit") {
    return { ...order, duration: editedSeconds(order.content) }
  }
  return order.frames === undefined ? order : { ...order, duration: secondsOfFrames(order.frames) }
}

const secondsOfFrames = (frames: number): number => Math.round(frames / framesPerSecond)

const newId = (nowMillis: number): string => {
  const stamp = new Date(nowMillis).toISOString().replace(/\D/g, "").slice(0, 14)
  return `cgt-${stamp}-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 5)}`
}

/** The handlers of the protocol at a desk. */
export const callsAt = (desk: Desk) => ({
  submit: Effect.fnUntraced(function* (call: Call) {
    const order = yield* decodeSubmit(call.body)
    const fault = orderFault(order, order.resolution) ?? inapplicable(order) ?? taskTypeFault(order)
    if (fault !== undefined) return yield* fault
    const seed =
      order.seed === undefined || order.seed === -1
        ? numberFrom(textOf(order.content), 1e9)
        : order.seed
    return yield* placeOrder(
      desk,
      call,
      {
        ...draftOf(durationOf(order), order.resolution ?? "720p"),
        echo: {
          ...(order.frames === undefined ? {} : { frames: order.frames }),
          seed,
          service_tier: order.service_tier ?? "default",
          execution_expires_after: order.execution_expires_after ?? 172800,
          draft: order.draft ?? false,
          return_last_frame: order.return_last_frame ?? false
        },
        newId
      },
      ({ upstream_id }) => Effect.succeed({ id: upstream_id })
    )
  }),
  poll: Effect.fnUntraced(function* (call: Call) {
    const tasks = yield* Tasks
    const pollResult = yield* tasks.poll(desk, call.params.id ?? "", lifecycle)
    return yield* pollAnswer(desk, pollResult, form)
  }),
  /**
   * Lists tasks. Tasks that are requested by id are polled; all others have the status of their
   * last poll.
   */
  list: Effect.fnUntraced(function* (call: Call) {
    const page = yield* readPage(call.query, "page_num", 1)
    const size = yield* readPage(call.query, "page_size", USUAL_PAGE)
    const status = call.query.get("filter.status")
    const namedIds = call.query.getAll("filter.task_ids").flatMap((ids) => ids.split(","))
    const tasks = yield* Tasks
    const ownIds = yield* tasks.idsOf(desk, call.key)
    const pollResults = yield* namedIds.length > 0
      ? Effect.forEach(
          namedIds.filter((id) => ownIds.includes(id)),
          (id) => tasks.poll(desk, id, lifecycle)
        )
      : Effect.forEach(ownIds, (id) => tasks.peek(desk, id, lifecycle))
    const knownTasks = pollResults.filter(
      (pollResult) => pollResult._tag === "Between" || pollResult._tag === "Ended"
    )
    const matchingTasks = knownTasks.filter(
      (pollResult) => status === null || statusOf(pollResult) === status
    )
    const pageOfTasks = matchingTasks.slice((page - 1) * size, page * size)
    const items = yield* Effect.forEach(pageOfTasks, (pollResult) =>
      recordText(desk, pollResult, form)
    )
    return jsonText(`{"total":${matchingTasks.length},"items":[${items.join()}]}`)
  }),
  /** Cancels a queued task, and deletes a finished one. */
  remove: Effect.fnUntraced(function* (call: Call) {
    const id = call.params.id ?? ""
    const tasks = yield* Tasks
    const pollResult = yield* tasks.peek(desk, id, lifecycle)
    switch (pollResult._tag) {
      case "Forgotten":
        return yield* noTask()
      case "Ended":
        yield* tasks.remove(id)
        return HttpServerResponse.jsonUnsafe({})
      case "Between":
        if (pollResult.status !== lifecycle.runningStatuses[0]) return yield* runningTask(id)
        yield* tasks.cancel(pollResult.acceptedEntry)
        return HttpServerResponse.jsonUnsafe({})
      case "Broken":
        return yield* desk.refuse(500)
    }
  })
})

const desk: Desk = {
  protocol: "vp_a",
  refuse: refuseWith("RateLimitExceeded.EndpointRPMExceeded"),
  moderatedInput: sensitiveInput
}
const { submit, poll, list, remove } = callsAt(desk)

const tasksPaths = ["/api/v3/contents/generations/tasks", "/v1/contents/generations/tasks"] as const

/** The task API with content blocks and token usage. */
export const vp_a: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: tasksPaths.flatMap((path) => [
    { method: "POST" as const, path, handle: submit },
    { method: "GET" as const, path, handle: list },
    { method: "GET" as const, path: `${path}/:id` as const, handle: poll },
    { method: "DELETE" as const, path: `${path}/:id` as const, handle: remove }
  ])
}
