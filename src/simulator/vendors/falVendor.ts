import { Effect, Predicate, type Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedImages, producedSeconds } from "../rendering.ts"
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
import { type FalModel, noFacts, type OrderFacts } from "./fal/FalModel.ts"
import { falModels } from "./fal/models.ts"

const refusal = (status: number, body: Schema.Json) => new Refusal({ status, body })

const details: Readonly<Record<number, string>> = {
  401: "Cannot access application: no user is known by this key",
  403: "User is locked. Reason: Exhausted balance.",
  404: "Application not found",
  429: "Too many concurrent requests"
}

/** Errors of the queue are a text; those of runners have a type beside it. */
const refuse = (status: number): Refusal =>
  refusal(status, {
    detail: details[status] ?? `The request could not be served (${status})`,
    ...(status >= 500 ? { error_type: "internal_error" } : {})
  })

const moderatedInput = () => refusal(400, { detail: "bad input", error_type: "bad_request" })

const messages = {
  missing: "Field required",
  unexpected: "Extra inputs are not permitted",
  invalid: "Input should be valid"
} as const

const types = { missing: "missing", unexpected: "extra_forbidden", invalid: "value_error" } as const

/** An error of a model: a list with the place of each fault. */
const modelError = (path: string, msg: string, type: string) => ({
  detail: [
    {
      loc: ["body", ...path.split(/[.[\]]+/).filter((part) => part !== "")],
      msg,
      type,
      url: `https://docs.fal.ai/errors/#${type}`
    }
  ]
})

const inputError = ({ path, problem }: BodyFault) =>
  modelError(path, messages[problem], types[problem])

const lifecycle: Lifecycle = {
  runningStatuses: ["IN_QUEUE", "IN_PROGRESS"],
  reportsCancellation: true,
  isUnusable: ({ echo }) => echo.fault !== undefined,
  productOf: (acceptedEntry) =>
    acceptedEntry.kind === "video"
      ? producedSeconds(acceptedEntry, { seconds: [2, 12] })
      : producedImages(acceptedEntry)
}

const appOf = (model: string): string => model.split("/").slice(0, 2).join("/")

const linksOf = Effect.map(
  MediaLinks,
  ({ origin }) =>
    ({ model, upstream_id: id }: Pick<AcceptedEntry, "model" | "upstream_id">) => {
      const root = `${origin}/fal/${appOf(model)}/requests/${id}`
      return {
        response_url: root,
        status_url: `${root}/status`,
        cancel_url: `${root}/cancel`
      }
    }
)

const sizeIn = (text: string) => {
  const [width = 1024, height = 1024] = text.split("x").map(Number)
  return { width, height }
}

/** The result of a job, which is made when it is asked for. */
const madeResult = Effect.fnUntraced(function* (
  { result }: FalModel,
  acceptedEntry: AcceptedEntry,
  endedEntry: EndedEntry
) {
  const links = yield* MediaLinks
  const seed = 42
  if (result === "video") {
    return { video: { url: links.video(endedEntry), content_type: "video/mp4" }, seed }
  }
  const size = sizeIn(acceptedEntry.order.size ?? "1024x1024")
  const images = Array.from({ length: endedEntry.produced.images ?? 0 }, (_, index) => ({
    url: links.image(acceptedEntry, index, size),
    content_type: "image/png",
    ...size
  }))
  const [image = null] = images
  return result === "image"
    ? { image, seed, timings: {} }
    : { images, seed, timings: {}, has_nsfw_concepts: images.map(() => false) }
})

const newId = (): string => requestId()

const modelsById = new Map(falModels.map((model) => [model.id, model]))

/** Reads the input. The queue takes every input, and only the runner finds its faults. */
const readInput = (model: FalModel, body: unknown) =>
  model.decode(body).pipe(
    Effect.map((facts) => ({ facts, echo: {} })),
    Effect.catch(({ issue }) => {
      const prompt = Predicate.hasProperty(body, "prompt") ? String(body.prompt) : ""
      const facts: OrderFacts = { prompt, order: noFacts }
      const { path, problem } = faultOfSchema(issue)
      return Effect.succeed({ facts, echo: { fault: inputError({ path, problem }) } })
    })
  )

const draftOf = (
  { id, kind }: FalModel,
  { prompt, order }: OrderFacts,
  echo: Readonly<Record<string, Schema.Json>>
) => ({ kind, model: id, prompt, order, clientToken: null, echo, newId })

const submitAt = (desk: Desk, model: FalModel): VendorRoute => ({
  method: "POST",
  path: `/${model.id}`,
  handle: Effect.fnUntraced(function* (call: Call) {
    const { facts, echo } = yield* readInput(model, call.body)
    const addressesOf = yield* linksOf
    return yield* placeOrder(desk, call, draftOf(model, facts, echo), (acceptedEntry) =>
      Effect.succeed({
        status: "IN_QUEUE",
        request_id: acceptedEntry.upstream_id,
        ...addressesOf(acceptedEntry),
        queue_position: 0
      })
    )
  })
})

/** The answer of a host that waits for the result in one request. */
const runAt = (desk: Desk, model: FalModel): VendorRoute => ({
  method: "POST",
  path: `/run/${model.id}`,
  handle: Effect.fnUntraced(function* (call: Call) {
    const facts = yield* model
      .decode(call.body)
      .pipe(Effect.mapError(({ issue }) => refusal(422, inputError(faultOfSchema(issue)))))
    const tasks = yield* Tasks
    return yield* placeOrder(desk, call, draftOf(model, facts, {}), (acceptedEntry) =>
      Effect.flatMap(tasks.finish(acceptedEntry, lifecycle), (endedEntry) =>
        endedEntry.reason === null
          ? madeResult(model, acceptedEntry, endedEntry)
          : Effect.fail(failedResult(acceptedEntry, endedEntry))
      )
    )
  })
})

const failedResult = ({ echo }: AcceptedEntry, { reason }: EndedEntry): Refusal => {
  switch (reason) {
    case "unusable":
      return refusal(422, echo.fault ?? null)
    case "moderated":
      return refusal(
        422,
        modelError("prompt", "The content was flagged by a checker", "content_policy_violation")
      )
    default:
      return refusal(500, { detail: "The runner failed", error_type: "runner_server_error" })
  }
}

/** The polled job; a job of another application is unknown. */
const jobAt = Effect.fnUntraced(function* (desk: Desk, { params }: Call) {
  const pollResult = yield* (yield* Tasks).poll(desk, params.id ?? "", lifecycle)
  return yield* knownJob(desk, params, pollResult)
})

const knownJob = (
  desk: Desk,
  { owner, app }: Call["params"],
  pollResult: PollResult
): Effect.Effect<Extract<PollResult, { readonly _tag: "Between" | "Ended" }>, Refusal> => {
  if (pollResult._tag === "Broken") return Effect.fail(desk.refuse(500))
  return pollResult._tag === "Forgotten" ||
    appOf(pollResult.acceptedEntry.model) !== `${owner}/${app}`
    ? Effect.fail(refusal(404, { detail: "Request not found" }))
    : Effect.succeed(pollResult)
}

const statusAt = (desk: Desk): VendorRoute => ({
  method: "GET",
  path: "/:owner/:app/requests/:id/status",
  handle: Effect.fnUntraced(function* (call: Call) {
    const job = yield* jobAt(desk, call)
    const { acceptedEntry } = job
    const addresses = (yield* linksOf)(acceptedEntry)
    const head = { request_id: acceptedEntry.upstream_id, ...addresses }
    if (job._tag === "Between") {
      const statusFields = job.status === "IN_QUEUE" ? { queue_position: 0 } : { logs: null }
      return HttpServerResponse.jsonUnsafe(
        { status: job.status, ...head, ...statusFields },
        { status: 202 }
      )
    }
    const { event } = job.endedEntry
    const failure =
      event === "cancelled" || event === "expired"
        ? { error: `The request was ${event}`, error_type: "client_cancelled" }
        : {}
    return HttpServerResponse.jsonUnsafe({
      status: "COMPLETED",
      ...head,
      logs: null,
      metrics: { inference_time: 4.2 },
      ...failure
    })
  })
})

const resultAt = (desk: Desk): VendorRoute => ({
  method: "GET",
  path: "/:owner/:app/requests/:id",
  handle: Effect.fnUntraced(function* (call: Call) {
    const job = yield* jobAt(desk, call)
    if (job._tag === "Between") {
      return yield* refusal(400, { detail: "Request is still in progress" })
    }
    const { acceptedEntry, endedEntry } = job
    const model = modelsById.get(acceptedEntry.model)
    if (endedEntry.reason !== null || model === undefined) {
      return yield* failedResult(acceptedEntry, endedEntry)
    }
    return HttpServerResponse.jsonUnsafe(yield* madeResult(model, acceptedEntry, endedEntry))
  })
})

/** A job that waits is removed; a runner that has begun only hears of the wish. */
const cancelAt = (desk: Desk): VendorRoute => ({
  method: "PUT",
  path: "/:owner/:app/requests/:id/cancel",
  handle: Effect.fnUntraced(function* ({ params }: Call) {
    const tasks = yield* Tasks
    const pollResult = yield* tasks.peek(desk, params.id ?? "", lifecycle)
    const job = yield* Effect.mapError(knownJob(desk, params, pollResult), () =>
      refusal(404, { status: "NOT_FOUND" })
    )
    if (job._tag === "Ended") return yield* refusal(400, { status: "ALREADY_COMPLETED" })
    if (job.status !== "IN_QUEUE") {
      return HttpServerResponse.jsonUnsafe({ status: "CANCELLATION_REQUESTED" }, { status: 202 })
    }
    yield* tasks.cancel(job.acceptedEntry)
    return HttpServerResponse.jsonUnsafe({ status: "OK" })
  })
})

const desk: Desk = { protocol: "fal", refuse, moderatedInput }

/**
 * The queue of fal, whose key is sent with the scheme `Key`, and below `/run` its host that waits
 * for the result.
 */
export const fal: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Key", () => refuse(401)),
  routes: [
    ...falModels.flatMap((model) => [submitAt(desk, model), runAt(desk, model)]),
    statusAt(desk),
    resultAt(desk),
    cancelAt(desk)
  ]
}
