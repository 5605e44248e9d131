import { Effect, Schema } from "effect"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placing.ts"
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
  asksAsync,
  between,
  invalid,
  type Made,
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

const textsOf = (ask: Submit): ReadonlyArray<string> =>
  itemsOf(ask).flatMap((item) => ("text" in item ? [item.text] : []))

const countReferences = (ask: Submit): number =>
  itemsOf(ask).filter((item) => "image" in item).length

const askFault = (family: Family, ask: Submit): Refusal | undefined => {
  const { negative_prompt, prompt_extend, n = 1, size } = ask.parameters
  if (ask.input.messages.length !== 1) return invalid("There is not exactly one message")
  if (textsOf(ask).length !== 1) return invalid("There is not exactly one text in the message")
  const references = countReferences(ask)
  const [least, most] = family.references
  if (references < least || references > most) {
    return invalid(`The number of images in the message is not ${least} to ${most}`)
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
  between,
  cancels,
  produced: producedImages
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
  accepted: AcceptedEntry,
  ended: EndedEntry
): Effect.fn.Return<Made, never, MediaLinks> {
  const links = yield* MediaLinks
  const { echo, order, switches } = accepted
  const family = familyOf(accepted.model)
  const size = family.sizeOf(order.size ?? family.defaultSize) ?? { width: 1024, height: 1024 }
  const count = ended.produced.images ?? 0
  const images = Array.from({ length: count }, (_, index) => ({
    ...(family.labels ? { type: "image" } : {}),
    image: links.image(accepted, index, size)
  }))
  const rewritten = { text: `${echo.prompt} In soft light.` }
  const contents = isOn(switches, "onechoice")
    ? [[rewritten, ...images]]
    : images.map((image) => (family.explains ? [image, rewritten] : [image]))
  const choices = contents.map((content) => ({
    finish_reason: "stop",
    message: { role: "assistant", content }
  }))
  return {
    output: { choices, ...(family.labels ? { finished: true } : {}) },
    usage: usageOf(accepted, count)
  }
})

const answerNow = Effect.fnUntraced(function* (
  desk: Desk,
  accepted: AcceptedEntry
): Effect.fn.Return<Schema.Json, Refusal, Bench> {
  const tasks = yield* Tasks
  const ended = yield* tasks.finish(accepted, lifecycle(false))
  if (ended.reason === "moderated") return yield* moderatedOutput()
  if (ended.reason !== null) return yield* desk.refuse(500)
  const { output, usage } = yield* madeImages(accepted, ended)
  return { output, ...(usage === undefined ? {} : { usage }), request_id: requestId() }
})

export const taskForm: TaskForm = {
  lifecycle: lifecycle(true),
  unusable: "Field required: input.messages",
  resultOf: madeImages,
  usageFields: ["image_count"]
}

/** Whether the path answers orders synchronously, with a task, or as the request asks. */
type Manner = "sync" | "async" | "either"

const draftOf = (ask: Submit, family: Family) => {
  const prompt = textsOf(ask).join("\n")
  return {
    kind: "image",
    model: ask.model,
    prompt,
    order: {
      seconds: null,
      resolution: null,
      ratio: null,
      n: ask.parameters.n ?? family.defaultImages,
      size: ask.parameters.size ?? family.defaultSize,
      inputs: { images: countReferences(ask), videos: 0, audios: 0 },
      generate_audio: null
    },
    clientToken: null,
    echo: { prompt },
    newId
  } as const
}

/** Returns the handler of the protocol's orders at a desk. */
export const submitAt = (desk: Desk, manner: Manner) =>
  Effect.fnUntraced(function* (call: Call) {
    const isAsync = asksAsync(call.headers)
    if (manner === "sync" && isAsync) return yield* notAsynchronous()
    if (manner === "async" && !isAsync) return yield* notSynchronous()
    const ask = yield* decodeSubmit(call.body)
    if (isMissingModel(ask.model)) return yield* noModel(ask.model)
    const family = familyOf(ask.model)
    const fault = askFault(family, ask)
    if (fault !== undefined) return yield* fault
    return yield* placeOrder(desk, call, draftOf(ask, family), (accepted) =>
      isAsync || isOn(accepted.switches, "async")
        ? Effect.succeed(pending(accepted))
        : answerNow(desk, accepted)
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
    pollRouteAt(desk, "/api/v1/tasks")
  ]
}
