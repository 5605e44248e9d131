/** Videos in the form of OpenAI's API: the same tasks as in the gateway's own, read under the same paths. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OpenaiVideoBody } from "../../../domain/video/OpenaiVideoBody.ts"
import { errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import { BodyLimit, KeepsFiles, RequiredScope } from "../middlewares.ts"
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
  model: text("The model that was ordered"),
  status: oneOf(["queued", "in_progress", "completed", "failed"], "Where it stands"),
  progress: integer("100 when it is completed, and 0 before: vendors do not tell it"),
  completed_at: nullable(Schema.Int, "When it ended, in Unix seconds; null before"),
  seconds: textOrNull("Its length; `-1` where the model chooses", "5"),
  size: textOrNull(
    "What was ordered, as `WxH`; the resolution alone where the shape is a picture's or the vendor's",
    "1280x720"
  ),
  prompt: Schema.Null.annotate({ description: "Always null: it is not kept" }),
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
      "Until when the vendor keeps it, in Unix seconds; null where it does not say"
    ),
    error: nullable(TaskFailure, "Why it failed; null where it did not")
  })

const OpenaiVideo = asOpenaiVideo({
  task_status: oneOf(["processing", "succeeded", "failed"], "Where the gateway's own task stands")
}).annotate({ identifier: "OpenaiVideo", description: "A video in the words of OpenAI's API" })

export class OpenaiVideosGroup extends HttpApiGroup.make("openaiVideos").add(
  HttpApiEndpoint.post("create", "/videos", {
    headers: idempotencyHeader,
    payload: [OpenaiVideoBody, asForm(OpenaiVideoBody)],
    success: OpenaiVideo,
    // A repeat is not found where the task of its idempotency key was deleted.
    error: [
      errors.VideoUnsupportedProtocol,
      errors.VideoSkuInvalid,
      errors.TaskNotFound,
      ...orderErrors
    ]
  })
    .annotate(RequiredScope, "videos")
    .annotate(BodyLimit, "media")
    .annotate(KeepsFiles, true)
    .annotateMerge(
      operation(
        "Order a video in the words of OpenAI's API",
        "As `videos.create` of the `openai` package sends it: a form or JSON. `seconds` and `size` are " +
          "ordered exactly, or refused with the nearest that the model offers. The task is the same as " +
          "one of `POST /v1/videos/generations`, and is read in these words by its id, `video_...`.",
        {
          text: {
            summary: "From a text",
            value: {
              model: "film-1",
              prompt: "a lighthouse at dusk",
              seconds: "8",
              size: "720x1280"
            }
          }
        }
      )
    )
) {}
