/**
 * Videos in the form of OpenAI's API. They are the same tasks as in the gateway's own form, and are
 * read under the same paths.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  OpenaiEditBody,
  OpenaiExtensionBody,
  OpenaiRemixBody
} from "../../../domain/video/OpenaiEditBody.ts"
import { OpenaiVideoBody } from "../../../domain/video/OpenaiVideoBody.ts"
import { errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import { BodyLimit, DecodesBody, KeepsFiles, RequiredScope } from "../middlewares.ts"
import {
  constant,
  idempotencyHeader,
  integer,
  nullable,
  oneOf,
  TaskFailure,
  taskId,
  text,
  textOrNull
} from "../shared.ts"

const CREATED = 1780000000

/** The fields of OpenAI's video object without its id and its times. */
export const openaiVideoFields = {
  object: constant("video", "Always `video`"),
  model: text("The id of the model that was ordered, also where it was ordered by an alias"),
  status: oneOf(["queued", "in_progress", "completed", "failed"], "The state of the video"),
  progress: integer("100 when it is completed, and 0 before, as vendors report no progress"),
  completed_at: nullable(Schema.Int, "When it ended, in Unix seconds; null before"),
  seconds: textOrNull("Its length; `-1` where the model chooses", "5"),
  size: textOrNull(
    "The ordered size, as `WxH`; the resolution alone where the picture or the vendor decides the ratio",
    "1280x720"
  ),
  prompt: Schema.Null.annotate({ description: "Always null, as it is not stored" }),
  remixed_from_video_id: textOrNull(
    "The earlier video that it edits or extends; null where there is none",
    "video_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
  )
}

/** A task's own fields together with those of OpenAI's video object. */
export const asOpenaiVideo = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({
    ...fields,
    ...openaiVideoFields,
    id: text("`video_` and the UUID of the task", "video_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"),
    created_at: integer("When it was ordered, in Unix seconds", CREATED),
    expires_at: nullable(
      Schema.Int,
      "When the vendor deletes the file, in Unix seconds; null where it does not say"
    ),
    error: nullable(TaskFailure, "Why it failed; null where it did not")
  })

const OpenaiVideo = asOpenaiVideo({
  task_status: oneOf(["processing", "succeeded", "failed"], "The state of the gateway's own task")
}).annotate({ identifier: "OpenaiVideo", description: "A video in the form of OpenAI's API" })

// "Not found" is also the answer to a repeated request whose task was deleted in the meantime.
const errorsOfOrder = [
  errors.VideoUnsupportedProtocol,
  errors.VideoSkuInvalid,
  errors.TaskNotFound,
  ...orderErrors
] as const

export class OpenaiVideosGroup extends HttpApiGroup.make("openaiVideos").add(
  HttpApiEndpoint.post("create", "/videos", {
    headers: idempotencyHeader,
    payload: [OpenaiVideoBody, asForm(OpenaiVideoBody)],
    success: OpenaiVideo,
    error: errorsOfOrder
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotate(KeepsFiles, true)
    .annotateMerge(
      operation(
        "Order a video in the form of OpenAI's API",
        "As `videos.create` of the `openai` package sends it: a form or JSON. `seconds` and `size` are " +
          "ordered exactly, or refused with the nearest that the model offers. The task is the same as " +
          "one of `POST /v1/videos/generations`, and is read in this form by its id, `video_...`."
      )
    ),
  HttpApiEndpoint.post("remix", "/videos/:task_id/remix", {
    params: { task_id: taskId },
    headers: idempotencyHeader,
    payload: [OpenaiRemixBody, asForm(OpenaiRemixBody)],
    success: OpenaiVideo,
    error: errorsOfOrder
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Remix a video",
        "Orders an edit of a finished video by its model, as `videos.remix` of the `openai` package sends it."
      )
    ),
  HttpApiEndpoint.post("edit", "/videos/edits", {
    headers: idempotencyHeader,
    payload: [OpenaiEditBody, asForm(OpenaiEditBody)],
    success: OpenaiVideo,
    error: errorsOfOrder
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotate(KeepsFiles, true)
    .annotateMerge(
      operation(
        "Edit a video",
        "Orders an edit of a finished video, or of another one, which needs a `model`, as `videos.edit` of the `openai` package sends it. " +
          "The edit has the length of its video."
      )
    ),
  HttpApiEndpoint.post("extend", "/videos/extensions", {
    headers: idempotencyHeader,
    payload: [OpenaiExtensionBody, asForm(OpenaiExtensionBody)],
    success: OpenaiVideo,
    error: errorsOfOrder
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotate(KeepsFiles, true)
    .annotateMerge(
      operation(
        "Extend a video",
        "Orders an extension of a finished video, or of another one, which needs a `model`, as `videos.extend` of the `openai` package sends it. " +
          "`seconds` is the length that the model is asked for."
      )
    )
) {}
