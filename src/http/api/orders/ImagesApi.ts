import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ImageEditBody } from "../../../domain/image/ImageEditRequest.ts"
import { MAX_IMAGES } from "../../../domain/image/ImageProtocol.ts"
import { ImageBody, orderFields } from "../../../domain/image/ImageRequest.ts"
import { anyFields } from "../../../domain/requestFields.ts"
import { errors, orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { asForm } from "../forms.ts"
import {
  BodyLimit,
  DecodesBody,
  HeldOpen,
  KeepsFiles,
  LookUp,
  RequiredScope,
  TakesLinks
} from "../middlewares.ts"
import {
  arrayOf,
  CANCEL_DESCRIPTION,
  cancellationFields,
  deletedTask,
  EVENTS_DESCRIPTION,
  expiresAt,
  fileRequest,
  idempotencyHeader,
  listEntryFields,
  listWithEnds,
  preferHeader,
  streamEvent,
  TaskFailure,
  taskEvent,
  taskEventsRequest,
  taskId,
  taskListQuery,
  taskRequest,
  taskStatus,
  wholeNumber
} from "../shared.ts"

/**
 * The fields of an answer: each entry has a `url`, or `b64_json` where the order requests it and
 * the protocol supports it.
 */
const ImageFields = {
  created: Schema.Number.annotateKey({ description: "Unix seconds" }),
  data: arrayOf(
    Schema.Record(Schema.String, Schema.Unknown),
    "One entry for each image: its `url`, or `b64_json` where the order has that `response_format`"
  )
}

const ImageAnswer = Schema.StructWithRest(Schema.Struct(ImageFields), anyFields).annotate({
  identifier: "Images",
  description: "The images; from ip_a with the vendor's other fields"
})

/**
 * The events of the protocol `ip_a`: the partial images that the order requests, and each finished
 * image.
 */
const ImageEvents = HttpApiSchema.StreamSse({
  events: streamEvent({
    id: "The event's id, where the vendor gives one",
    event: "Its kind, such as image_generation.completed",
    data: "An image in `b64_json`, and what it is, as JSON"
  })
})

const file = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
/** An edit as a form, with one `image` or `image[]` part for each picture. */
const ImageEditForm = Schema.Struct({
  ...orderFields,
  image: file("A picture as a file, or its address"),
  "image[]": file("One of several pictures"),
  mask: file("The mask of the first picture, which is edited where the mask is transparent")
})

const openTaskFields = { id: taskId, task_status: taskStatus("processing"), ...cancellationFields }

const failed = {
  id: taskId,
  task_status: taskStatus("failed"),
  error: TaskFailure.annotate({ description: "Why" })
}
const succeeded = {
  id: taskId,
  task_status: taskStatus("succeeded"),
  ...ImageFields,
  expires_at: expiresAt
}

const ImageTaskView = Schema.Union([
  Schema.Struct(openTaskFields).annotate({
    identifier: "ProcessingImages",
    description: "The images are being made"
  }),
  Schema.StructWithRest(Schema.Struct(succeeded), anyFields).annotate({
    identifier: "SucceededImages",
    description: "The images are finished and charged"
  }),
  Schema.Struct(failed).annotate({
    identifier: "FailedImages",
    description: "The order failed and costs nothing"
  })
])

const ListedImages = Schema.Union([
  Schema.Struct({ ...openTaskFields, ...listEntryFields }),
  Schema.StructWithRest(Schema.Struct({ ...succeeded, ...listEntryFields }), anyFields),
  Schema.Struct({ ...failed, ...listEntryFields })
]).annotate({
  identifier: "ListedImages",
  description: "An image task, with the fields of reading it"
})

const ImageTaskEvent = taskEvent("image", "/v1/images/{task_id}", ImageTaskView, {
  id: "im_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e",
  task_status: "processing"
})

const Accepted = Schema.Struct(openTaskFields).annotate({
  identifier: "AcceptedImages",
  description: "The images are being made; `location` is the path of the task",
  httpApiStatus: 202
})

const orderEndpoint = {
  headers: {
    ...idempotencyHeader,
    prefer: preferHeader("images")
  },
  success: [ImageAnswer, Accepted, ImageEvents],
  error: [errors.ImageUnsupportedProtocol, ...orderErrors]
} as const

export class ImagesGroup extends HttpApiGroup.make("images").add(
  HttpApiEndpoint.post("generate", "/images/generations", { ...orderEndpoint, payload: ImageBody })
    .annotate(RequiredScope, "images")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Make images",
        "Holds the price of `n` images, and answers them when they are made. The charge is for the ordered number. With `Prefer: respond-async` it answers 202 as soon as the price is held, and with `stream` while they are made."
      )
    ),
  HttpApiEndpoint.post("edit", "/images/edits", {
    ...orderEndpoint,
    payload: [ImageEditBody, asForm(ImageEditForm)]
  })
    .annotate(RequiredScope, "images")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotate(KeepsFiles, true)
    .annotateMerge(
      operation(
        "Edit images",
        "Makes images from pictures, which are addresses in JSON or files of a form. Holds, charges and answers are those of new images; models without references refuse it."
      )
    ),
  HttpApiEndpoint.get("list", "/images", {
    query: taskListQuery,
    success: listWithEnds(ListedImages),
    error: errors.InvalidRequest
  })
    .annotate(RequiredScope, "images")
    .annotateMerge(
      operation(
        "List image tasks",
        "The member's own image tasks, which were ordered with `Prefer: respond-async`, newest first."
      )
    ),
  HttpApiEndpoint.get("read", "/images/:task_id", {
    ...taskRequest,
    success: ImageTaskView,
    error: errors.TaskNotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "images")
    .annotate(HeldOpen, "with-wait")
    .annotateMerge(
      operation(
        "Read an image task",
        "A task that was ordered with `Prefer: respond-async`. With `wait` the answer comes when the task ends; `Retry-After` is the time until the next poll."
      )
    ),
  HttpApiEndpoint.get("events", "/images/:task_id/events", {
    ...taskEventsRequest,
    success: [HttpApiSchema.StreamSse({ events: ImageTaskEvent }), HttpApiSchema.NoContent],
    error: errors.TaskNotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "images")
    .annotate(HeldOpen, "always")
    .annotateMerge(operation("Follow an image task", EVENTS_DESCRIPTION)),
  HttpApiEndpoint.post("cancel", "/images/:task_id/cancel", {
    params: { task_id: taskId },
    success: ImageTaskView,
    error: [errors.TaskNotFound, errors.PermissionDenied]
  })
    .annotate(RequiredScope, "images")
    .annotateMerge(operation("Cancel an image task", CANCEL_DESCRIPTION)),
  HttpApiEndpoint.delete("remove", "/images/:task_id", {
    params: { task_id: taskId },
    success: deletedTask("image"),
    error: [errors.TaskNotFound, errors.TaskProcessing, errors.PermissionDenied]
  })
    .annotate(RequiredScope, "images")
    .annotateMerge(
      operation(
        "Delete an image task",
        "Deletes a task that has ended, and its files in the archive, with a key of the member who ordered it. Its charge stays, and nothing is refunded."
      )
    ),
  HttpApiEndpoint.get("content", "/images/:task_id/content/:n", {
    params: {
      task_id: taskId,
      n: wholeNumber(0, MAX_IMAGES - 1, "The index of the image in `data`")
    },
    ...fileRequest,
    error: [errors.InvalidRequest, errors.TaskNotFound, errors.NotFound, errors.UpstreamError]
  })
    .annotate(LookUp, true)
    .annotate(TakesLinks, "image")
    .annotate(RequiredScope, "images")
    .annotateMerge(
      operation("Load an image", "One of the files of an image task, while its vendor has it.")
    )
) {}
