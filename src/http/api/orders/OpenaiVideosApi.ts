/**
 * Videos in the form of OpenAI's API. They are the same tasks as in the gateway's own form, and are
 * read under the same paths.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
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
  remixed_from_video_id: Schema.Null.annotate({ description: "Always null" })
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

export class OpenaiVideosGroup extends HttpApiGroup.make("openaiVideos").add(
  HttpApiEndpoint.post("create", "/videos", {
    headers: idempotencyHeader,
    payload: [OpenaiVideoBody, asForm(OpenaiVideoBody)],
    success: OpenaiVideo,
    // "Not found" is the answer to a repeated request whose task was deleted in the meantime.
    error: [
      errors.VideoUnsupportedProtocol,
      errors.VideoSkuInvalid,
      errors.TaskNotFound,
      ...orderErrors
    ]
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
    )
) {}
