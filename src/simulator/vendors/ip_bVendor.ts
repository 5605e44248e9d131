import { Effect, Schema } from "effect"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedImages } from "../rendering.ts"
import { isOn } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type Bench,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  type Refusal,
  type Vendor,
  type VendorRoute
} from "../Vendor.ts"
import {
  between,
  type CloudResult,
  cancelTask,
  invalid,
  isAsyncRequest,
  moderatedInput,
  moderatedOutput,
  newId,
  noModel,
  notAsynchronous,
  notSynchronous,
  ofFault,
  pending,
  pollTask,
  refuse,
  type TaskForm
} from "./cloud.ts"
import { type Family, familyOf } from "./ip_b/families.ts"

const optional = Schema.optionalKey

const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))

const Item = Schema.Union([
  Schema.Struct({ image: Url }),
  Schema.Struct({ text: Schema.NonEmptyString })
])

const Submit = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Struct({
    messages: Schema.Array(
      Schema.Struct({ role: Schema.Literal("user"), content: Schema.Array(Item) })
    )
  }),
  parameters: Schema.Struct({
    size: optional(Schema.String),
    n: optional(Schema.Int),
    negative_prompt: optional(Schema.String.check(Schema.isMaxLength(500))),
    prompt_extend: optional(Schema.Boolean),
    watermark: optional(Schema.Boolean),
    seed: optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2147483647 })))
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})
type Submit = typeof Submit.Type

const decodeSubmit = decodeBody(Submit, { unknownFields: "refused", refuse: ofFault })

const itemsOf = ({ input }: Submit) => input.messages.flatMap(({ content }) => content)

const textsOf = (submission: Submit): ReadonlyArray<string> =>
  itemsOf(submission).flatMap((item) => ("text" in item ? [item.text] : []))

const countReferences = (submission: Submit): number =>
  itemsOf(submission).filter((item) => "image" in item).length

const submissionFault = (family: Family, submission: Submit): Refusal | undefined => {
  const { negative_prompt, prompt_extend, n = 1, size } = submission.parameters
  if (submission.input.messages.length !== 1) return invalid("There is not exactly one message")
  if (textsOf(submission).length !== 1)
    return invalid("There is not exactly one text in the message")
  const references = countReferences(submission)
  const [min, max] = family.references
  if (references < min || references > max) {
    return invalid(`The number of images in the message is not ${min} to ${max}`)
  }
  if (!family.rewrites) {
    if (negative_prompt !== undefined) {
      return ofFault({ path: "parameters.negative_prompt", problem: "unexpected" })
    }
    if (prompt_extend !== undefined) {
      return ofFault({ path: "parameters.prompt_extend", problem: "unexpected" })
    }
  }
  if (n < 1 || n > family.maxImages) return invalid(`n is not 1 to ${family.maxImages}`)
  return size !== undefined && family.sizeOf(size) === undefined
    ? invalid("The size is not match the allowed size")
    : undefined
}

const lifecycle = (cancels: boolean): Lifecycle => ({
  runningStatuses: between,
  reportsCancellation: cancels,
  productOf: producedImages
})

const usageOf = ({ model, order, switches }: AcceptedEntry, images: number) => {
  if (isOn(switches, "nousage")) return undefined
  const family = familyOf(model)
  const size = order.size ?? family.defaultSize
  return family.labels
    ? { image_count: images, size, input_tokens: 0, output_tokens: 2, total_tokens: 2 }
    : { ...family.sizeOf(size), image_count: images }
}

/**
 * The images of an order: one choice per image, or, with `sim:onechoice`, one choice with a text
 * followed by all images.
 */
const madeImages = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  endedEntry: EndedEntry
): Effect.fn.Return<CloudResult, never, MediaLinks> {
  const links = yield* MediaLinks
  const { echo, order, switches } = acceptedEntry
  const family = familyOf(acceptedEntry.model)
  const size = family.sizeOf(order.size ?? family.defaultSize) ?? { width: 1024, height: 1024 }
  const count = endedEntry.produced.images ?? 0
  const images = Array.from({ length: count }, (_, index) => ({
    ...(family.labels ? { type: "image" } : {}),
    image: links.image(acceptedEntry, index, size)
  }))
  const rewrittenPrompt = { text: `${echo.prompt} In soft light.` }
  const contents = isOn(switches, "onechoice")
    ? [[rewrittenPrompt, ...images]]
    : images.map((image) => (family.explainsFaults ? [image, rewrittenPrompt] : [image]))
  const choices = contents.map((content) => ({
    finish_reason: "stop",
    message: { role: "assistant", content }
  }))
  return {
    output: { choices, ...(family.labels ? { finished: true } : {}) },
    usage: usageOf(acceptedEntry, count)
  }
})

const answerSynchronously = Effect.fnUntraced(function* (
  desk: Desk,
  acceptedEntry: AcceptedEntry
): Effect.fn.Return<Schema.Json, Refusal, Bench> {
  const tasks = yield* Tasks
  const endedEntry = yield* tasks.finish(acceptedEntry, lifecycle(false))
  if (endedEntry.reason === "moderated") return yield* moderatedOutput()
  if (endedEntry.reason !== null) return yield* desk.refuse(500)
  const { output, usage } = yield* madeImages(acceptedEntry, endedEntry)
  return { output, ...(usage === undefined ? {} : { usage }), request_id: requestId() }
})

export const taskForm: TaskForm = {
  lifecycle: lifecycle(true),
  unusableMessage: "Field required: input.messages",
  resultOf: madeImages,
  usageFields: ["image_count"]
}

/** Whether the path answers orders synchronously, with a task, or as the request asks. */
type SubmitMode = "sync" | "async" | "either"

const draftOf = (submission: Submit, family: Family) => {
  const prompt = textsOf(submission).join("\n")
  return {
    kind: "image",
    model: submission.model,
    prompt,
    order: {
      seconds: null,
      resolution: null,
      ratio: null,
      n: submission.parameters.n ?? family.defaultImages,
      size: submission.parameters.size ?? family.defaultSize,
      inputs: { images: countReferences(submission), videos: 0, audios: 0 },
      generate_audio: null
    },
    clientToken: null,
    echo: { prompt },
    newId
  } as const
}

/** Returns the handler of the protocol's orders at a desk. */
export const submitAt = (desk: Desk, submitMode: SubmitMode) =>
  Effect.fnUntraced(function* (call: Call) {
    const isAsync = isAsyncRequest(call.headers)
    if (submitMode === "sync" && isAsync) return yield* notAsynchronous()
    if (submitMode === "async" && !isAsync) return yield* notSynchronous()
    const submission = yield* decodeSubmit(call.body)
    if (isMissingModel(submission.model)) return yield* noModel(submission.model)
    const family = familyOf(submission.model)
    const fault = submissionFault(family, submission)
    if (fault !== undefined) return yield* fault
    return yield* placeOrder(desk, call, draftOf(submission, family), (acceptedEntry) =>
      isAsync || isOn(acceptedEntry.switches, "async")
        ? Effect.succeed(pending(acceptedEntry))
        : answerSynchronously(desk, acceptedEntry)
    )
  })

/** The route for polling the tasks of asynchronous orders; the task id follows `path`. */
export const pollRouteAt = (desk: Desk, path: `/${string}`): VendorRoute => ({
  method: "GET",
  path: `${path}/:id`,
  handle: (call) => pollTask(desk, call.params.id ?? "", taskForm)
})

const desk: Desk = { protocol: "ip_b", refuse, moderatedInput }

const services = "/api/v1/services/aigc"

/**
 * The cloud's native message form, answered synchronously on one path and with a task on the other.
 */
export const ip_b: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: [
    {
      method: "POST",
      path: `${services}/multimodal-generation/generation`,
      handle: submitAt(desk, "sync")
    },
    {
      method: "POST",
      path: `${services}/image-generation/generation`,
      handle: submitAt(desk, "async")
    },
    pollRouteAt(desk, "/api/v1/tasks"),
    {
      method: "POST",
      path: "/api/v1/tasks/:id/cancel",
      handle: (call) => cancelTask(desk, call.params.id ?? "", taskForm)
    }
  ]
}
