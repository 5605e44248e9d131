import { Effect, Predicate, type Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { randomText } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedImages, producedSeconds } from "../rendering.ts"
import { echoOf, isOn } from "../switches.ts"
import { type Lifecycle, type PollResult, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  faultOfSchema,
  keyOf,
  Refusal,
  type Vendor,
  type VendorRoute
} from "../Vendor.ts"
import { type ReplicateModel, replicateModels } from "./replicate/models.ts"

const refusal = (status: number, title: string, detail: string, more: Schema.JsonObject = {}) =>
  new Refusal({ status, body: { detail, status, title, ...more } })

const titles: Readonly<Record<number, readonly [title: string, detail: string]>> = {
  401: ["Unauthenticated", "You did not pass a valid authentication token"],
  402: ["Insufficient credit", "You have insufficient credit to run this model."],
  403: ["Forbidden", "You do not have access to this resource."],
  404: ["Not found", "The requested resource could not be found."],
  429: ["Too many requests", "Request was throttled. Expected available in 1 second."]
}

const refuse = (status: number): Refusal =>
  refusal(status, ...(titles[status] ?? (["Error", "The request could not be served."] as const)))

const moderatedInput = () =>
  refusal(400, "Input flagged", "The input was flagged by a checker. Try another prompt.")

const problems = {
  missing: ["required", "is required"],
  unexpected: ["additional_property_not_allowed", "is not allowed"],
  invalid: ["invalid_type", "is not valid"]
} as const

const ofFault = ({ path, problem }: BodyFault): Refusal => {
  const [type, text] = problems[problem]
  const description = `${path === "" ? "input" : path} ${text}`
  return refusal(422, "Input validation failed", `- input: ${description}\n`, {
    invalid_fields: [{ type, field: path === "" ? "" : `input.${path}`, description }]
  })
}

const lifecycle: Lifecycle = {
  runningStatuses: ["starting", "processing"],
  reportsCancellation: true,
  productOf: (acceptedEntry) =>
    acceptedEntry.kind === "video"
      ? producedSeconds(acceptedEntry, { seconds: [2, 12] })
      : producedImages(acceptedEntry)
}

const sizeIn = (text: string) => {
  const [width = 1024, height = 1024] = text.split("x").map(Number)
  return { width, height }
}

const modelsById = new Map(replicateModels.map((model) => [model.id, model]))

const outputOf = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  endedEntry: EndedEntry
) {
  const links = yield* MediaLinks
  if (acceptedEntry.kind === "video") return links.video(endedEntry)
  const size = sizeIn(acceptedEntry.order.size ?? "1024x1024")
  const images = Array.from({ length: endedEntry.produced.images ?? 0 }, (_, index) =>
    links.image(acceptedEntry, index, size)
  )
  const isList = modelsById.get(acceptedEntry.model)?.isList === true
  return isList ? images : (images[0] ?? null)
})

const statusOf: Readonly<Record<EndedEntry["event"], string>> = {
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "canceled",
  expired: "aborted"
}

const errors: Readonly<Record<NonNullable<EndedEntry["reason"]>, string | null>> = {
  internal: "Prediction interrupted; please retry (code: PA)",
  moderated: "The output was flagged as sensitive. (E005)",
  unusable: "The input could not be used.",
  cancelled: null,
  expired: null
}

const prediction = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  running: string,
  endedEntry: EndedEntry | null
) {
  const { origin } = yield* MediaLinks
  const { model, upstream_id: id, echo, at, switches } = acceptedEntry
  const url = `${origin}/replicate/v1/predictions/${id}`
  const isDone = endedEntry?.event === "succeeded"
  return {
    ...echoOf(switches),
    id,
    model,
    version: "hidden",
    input: echo.input ?? {},
    logs: "",
    output: isDone ? yield* outputOf(acceptedEntry, endedEntry) : null,
    data_removed: false,
    error: endedEntry?.reason == null ? null : errors[endedEntry.reason],
    status: endedEntry === null ? running : statusOf[endedEntry.event],
    created_at: at,
    urls: { get: url, cancel: `${url}/cancel`, web: `https://replicate.com/p/${id}` },
    ...(isDone ? { metrics: { predict_time: 4.2 }, completed_at: endedEntry.at } : {})
  }
})

const newId = (): string => randomText("0123456789abcdefghjkmnpqrstvwxyz", 26)

/** Whether the request waits for the result, for as long as the vendor lets it. */
const waits = ({ headers }: Call): boolean => /(?:^|,)\s*wait\b/i.test(headers.prefer ?? "")

const inputOf = (body: unknown): unknown =>
  Predicate.hasProperty(body, "input") ? body.input : undefined

const submitAt = (desk: Desk, model: ReplicateModel): VendorRoute => ({
  method: "POST",
  path: `/v1/models/${model.id}/predictions`,
  handle: Effect.fnUntraced(function* (call: Call) {
    const input = inputOf(call.body)
    const { prompt, order } = yield* Effect.mapError(model.decode(input), ({ issue }) =>
      ofFault(faultOfSchema(issue))
    )
    const tasks = yield* Tasks
    const draft = {
      kind: model.kind,
      model: model.id,
      prompt,
      order,
      clientToken: null,
      echo: {},
      newId
    }
    return yield* placeOrder(desk, call, draft, (acceptedEntry) =>
      waits(call) && !isOn(acceptedEntry.switches, "async")
        ? Effect.flatMap(tasks.finish(acceptedEntry, lifecycle), (endedEntry) =>
            prediction(acceptedEntry, "", endedEntry)
          )
        : prediction(acceptedEntry, "starting", null)
    )
  })
})

const answerJob = (desk: Desk, pollResult: PollResult) => {
  if (pollResult._tag === "Broken") return Effect.fail(desk.refuse(500))
  if (pollResult._tag === "Forgotten") return Effect.fail(desk.refuse(404))
  return Effect.map(
    pollResult._tag === "Between"
      ? prediction(pollResult.acceptedEntry, pollResult.status, null)
      : prediction(pollResult.acceptedEntry, "", pollResult.endedEntry),
    (body) => HttpServerResponse.jsonUnsafe(body)
  )
}

const pollAt = (desk: Desk): VendorRoute => ({
  method: "GET",
  path: "/v1/predictions/:id",
  handle: Effect.fnUntraced(function* ({ params }: Call) {
    const tasks = yield* Tasks
    return yield* answerJob(desk, yield* tasks.poll(desk, params.id ?? "", lifecycle))
  })
})

const cancelAt = (desk: Desk): VendorRoute => ({
  method: "POST",
  path: "/v1/predictions/:id/cancel",
  handle: Effect.fnUntraced(function* ({ params }: Call) {
    const tasks = yield* Tasks
    const job = yield* tasks.peek(desk, params.id ?? "", lifecycle)
    if (job._tag === "Between") yield* tasks.cancel(job.acceptedEntry)
    return yield* answerJob(desk, yield* tasks.peek(desk, params.id ?? "", lifecycle))
  })
})

const desk: Desk = { protocol: "replicate", refuse, moderatedInput }

/** The predictions of Replicate's official models; their output is in the prediction itself. */
export const replicate: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: [...replicateModels.map((model) => submitAt(desk, model)), pollAt(desk), cancelAt(desk)]
}
