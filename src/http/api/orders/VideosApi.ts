import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { VideoBody } from "../../../domain/video/VideoBody.ts"
import { errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import {
  BodyLimit,
  DecodesBody,
  HeldOpen,
  LookUp,
  RequiredScope,
  TakesLinks
} from "../middlewares.ts"
import {
  CANCEL_DESCRIPTION,
  cancellationFields,
  deletedTask,
  EVENTS_DESCRIPTION,
  expiresAt,
  fileRequest,
  idempotencyHeader,
  integer,
  listEntryFields,
  listWithEnds,
  queueFields,
  TaskFailure,
  taskEvent,
  taskEventsRequest,
  taskId,
  taskListQuery,
  taskRequest,
  taskStatus,
  text
} from "../shared.ts"
import { asOpenaiVideo, openaiVideoFields } from "./OpenaiVideosApi.ts"

const openTaskFields = {
  id: taskId,
  task_status: taskStatus("processing"),
  ...queueFields,
  ...cancellationFields
}
const succeeded = {
  id: taskId,
  task_status: taskStatus("succeeded"),
  content: Schema.Struct({
    video_url: text("The address of the video, valid until `expires_at`"),
    last_frame_url: Schema.optionalKey(
      text("The address of its last frame, where `return_last_frame` was ordered")
    )
  }).annotate({ description: "The product" }),
  usage: Schema.Struct({
    completion_tokens: Schema.optionalKey(integer("Tokens, when the vendor reported them"))
  }).annotate({ description: "The usage that the vendor reported" }),
  expires_at: expiresAt
}
const failed = {
  id: taskId,
  task_status: taskStatus("failed"),
  error: TaskFailure.annotate({ description: "Why" })
}

const Accepted = Schema.Struct(openTaskFields).annotate({
  identifier: "ProcessingVideo",
  description: "The vendor works on the video"
})

/**
 * The view of a task, which depends on the dialect of its id. OpenAI's schemas come first in the
 * union: a view in OpenAI's form also has all fields of the gateway's own form, so the gateway's
 * own schemas would match it too.
 */
const VideoTaskView = Schema.Union([
  asOpenaiVideo(openTaskFields).annotate({ identifier: "OpenaiProcessingVideo" }),
  asOpenaiVideo(succeeded).annotate({ identifier: "OpenaiCompletedVideo" }),
  asOpenaiVideo(failed).annotate({ identifier: "OpenaiFailedVideo" }),
  Accepted,
  Schema.Struct(succeeded).annotate({
    identifier: "SucceededVideo",
    description: "The video is finished and charged"
  }),
  Schema.Struct(failed).annotate({
    identifier: "FailedVideo",
    description: "The order failed and costs nothing"
  })
])

const listedVideoFields = { ...openaiVideoFields, ...listEntryFields }

const ListedVideo = Schema.Union([
  asOpenaiVideo(openTaskFields),
  asOpenaiVideo(succeeded),
  asOpenaiVideo(failed),
  Schema.Struct({ ...openTaskFields, ...listedVideoFields }),
  Schema.Struct({ ...succeeded, ...listedVideoFields }),
  Schema.Struct({ ...failed, ...listedVideoFields })
]).annotate({
  identifier: "ListedVideo",
  description: "A video task, with the fields of reading it and those of OpenAI's API"
})

const variant = Schema.optionalKey(
  Schema.Literals(["video", "thumbnail", "last_frame"]).annotate({
    description:
      "The video, when left out; `thumbnail` is the cover that the vendor made, or else the last frame; a video without such a picture answers 404",
    expected:
      "video, thumbnail or last_frame, as vendors make no spritesheet that could be passed on"
  })
)

const VideoTaskEvent = taskEvent("video", "/v1/videos/{task_id}", VideoTaskView, {
  id: "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e",
  task_status: "processing"
})

export class VideosGroup extends HttpApiGroup.make("videos").add(
  HttpApiEndpoint.post("create", "/videos/generations", {
    headers: idempotencyHeader,
    payload: VideoBody,
    success: Accepted,
    error: [errors.VideoUnsupportedProtocol, errors.VideoSkuInvalid, ...orderErrors]
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Order a video",
        "Holds the expected price, sends the order to the model's vendor and answers the task's id."
      )
    ),
  HttpApiEndpoint.get("list", "/videos", {
    query: taskListQuery,
    success: listWithEnds(ListedVideo),
    error: errors.InvalidRequest
  })
    .annotate(RequiredScope, "videos")
    .annotateMerge(
      operation(
        "List video tasks",
        "The member's own video tasks, newest first. Each has the id that its order was answered with."
      )
    ),
  HttpApiEndpoint.get("read", "/videos/:task_id", {
    ...taskRequest,
    success: VideoTaskView,
    error: errors.TaskNotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "videos")
    .annotate(HeldOpen, "with-wait")
    .annotateMerge(
      operation(
        "Read a video task",
        "The state of the task. With `wait` the answer comes when the task ends; `Retry-After` is the time until the next poll."
      )
    ),
  HttpApiEndpoint.get("events", "/videos/:task_id/events", {
    ...taskEventsRequest,
    success: [HttpApiSchema.StreamSse({ events: VideoTaskEvent }), HttpApiSchema.NoContent],
    error: errors.TaskNotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "videos")
    .annotate(HeldOpen, "always")
    .annotateMerge(operation("Follow a video task", EVENTS_DESCRIPTION)),
  HttpApiEndpoint.post("cancel", "/videos/:task_id/cancel", {
    params: { task_id: taskId },
    success: VideoTaskView,
    error: [errors.TaskNotFound, errors.PermissionDenied]
  })
    .annotate(RequiredScope, "videos")
    .annotateMerge(operation("Cancel a video task", CANCEL_DESCRIPTION)),
  HttpApiEndpoint.delete("remove", "/videos/:task_id", {
    params: { task_id: taskId },
    success: deletedTask("video"),
    error: [errors.TaskNotFound, errors.TaskProcessing, errors.PermissionDenied]
  })
    .annotate(RequiredScope, "videos")
    .annotateMerge(
      operation(
        "Delete a video task",
        "Deletes a task that has ended, and its file in the archive, with a key of the member who ordered it. Its charge stays, and nothing is refunded."
      )
    ),
  HttpApiEndpoint.get("content", "/videos/:task_id/content", {
    params: { task_id: taskId },
    ...fileRequest,
    query: { ...fileRequest.query, variant },
    error: [errors.TaskNotFound, errors.NotFound, errors.UpstreamError]
  })
    .annotate(LookUp, true)
    .annotate(TakesLinks, "video")
    .annotate(RequiredScope, "videos")
    .annotateMerge(
      operation(
        "Load a video",
        "The file, or a picture of it, complete or by `Range`, until the vendor deletes it at the task's `expires_at`."
      )
    )
) {}
