import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { errors, orderErrors } from "./apiErrors.ts"
import { operation, videoExamples } from "./document.ts"
import { BodyLimit, HeldOpen, RequiredScope } from "./middlewares.ts"
import { counted, idempotencyHeader, oneOf, told, wholeNumber } from "./shared.ts"

const taskId = told("The task's id")
const taskStatus = <T extends string>(status: T) =>
  Schema.Literal(status).annotate({ description: "Where the task stands" })

export const VideoFailure = Schema.Struct({
  code: told("The vendor's word for the failure, or ours"),
  message: told("What the vendor says about it")
})

const Accepted = Schema.Struct({
  id: taskId,
  task_status: taskStatus("processing")
}).annotate({ identifier: "ProcessingVideo", description: "The vendor works on it" })

export const VideoTaskView = Schema.Union([
  Accepted,
  Schema.Struct({
    id: taskId,
    task_status: taskStatus("succeeded"),
    content: Schema.Struct({
      video_url: told("Where the vendor keeps the video, for as long as it says")
    }).annotate({ description: "What was made" }),
    usage: Schema.Struct({
      completion_tokens: Schema.optionalKey(counted("Tokens, when the vendor reported them"))
    }).annotate({ description: "What the vendor reported" })
  }).annotate({ identifier: "SucceededVideo", description: "It is done and charged" }),
  Schema.Struct({
    id: taskId,
    task_status: taskStatus("failed"),
    error: VideoFailure.annotate({ description: "Why" })
  }).annotate({ identifier: "FailedVideo", description: "It failed and costs nothing" })
])

/** The present state at once, then the end, after which the stream ends. */
const VideoTaskEvent = Schema.Struct({
  id: told("`1` while the task runs, `2` for its end; the same on every gateway", "1"),
  event: oneOf(
    ["video.processing", "video.succeeded", "video.failed"],
    "The state that was reached",
    "video.processing"
  ),
  data: Schema.fromJsonString(VideoTaskView).annotate({
    description: "What `GET /v1/videos/{task_id}` answers, as JSON",
    examples: [{ id: "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e", task_status: "processing" }]
  })
})

export const MAX_WAIT_SECONDS = 60

export class VideosGroup extends HttpApiGroup.make("videos").add(
  HttpApiEndpoint.post("create", "/videos/generations", {
    headers: idempotencyHeader,
    payload: VideoBody,
    success: Accepted,
    error: [errors.VideoUnsupportedProtocol, errors.VideoSkuInvalid, ...orderErrors]
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotateMerge(
      operation(
        "Order a video",
        "Holds the expected price, hands the order to the model's vendor and answers the task's id.",
        videoExamples
      )
    ),
  HttpApiEndpoint.get("read", "/videos/:task_id", {
    params: { task_id: taskId },
    query: {
      wait: wholeNumber(0, MAX_WAIT_SECONDS, "Seconds to hold the answer back").pipe(
        Schema.withDecodingDefaultKey(Effect.succeed("0"))
      )
    },
    success: VideoTaskView,
    error: errors.TaskNotFound
  })
    .annotate(RequiredScope, "videos")
    .annotate(HeldOpen, "asked")
    .annotateMerge(
      operation(
        "Read a video task",
        "The task as it stands. `wait` holds the answer until it ends; `Retry-After` says when to ask again."
      )
    ),
  HttpApiEndpoint.get("events", "/videos/:task_id/events", {
    params: { task_id: taskId },
    headers: {
      "last-event-id": Schema.optionalKey(
        told(
          "Id of the last event that was seen: it is not repeated, and after the end the answer is 204. What no gateway has given out is ignored",
          "1"
        )
      )
    },
    success: [HttpApiSchema.StreamSse({ events: VideoTaskEvent }), HttpApiSchema.NoContent],
    error: errors.TaskNotFound
  })
    .annotate(RequiredScope, "videos")
    .annotate(HeldOpen, "always")
    .annotateMerge(
      operation(
        "Follow a video task",
        "Server-sent events: where the task stands at once, and its end when it comes, after which the " +
          "stream ends. Comments in between are signs of life, and a gateway that stops ends the stream: " +
          "with `Last-Event-ID` the next one goes on from there, as a browser's EventSource does by " +
          "itself. 204 when the end had been seen."
      )
    )
) {}
