import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "./Book.ts"
import { Content, contentProblem, countBlocks, textOf } from "./contentBlocks.ts"
import { numberFrom, randomText, requestId } from "./digest.ts"
import { MediaLinks } from "./Media.ts"
import { clipSize } from "./media/clip.ts"
import { placeOrder } from "./placing.ts"
import { framesPerSecond, producedVideo, Ratio, Resolution, renderedRatio } from "./rendering.ts"
import { isOn } from "./switches.ts"
import { type Lifecycle, type Sighting, Tasks } from "./Tasks.ts"
import {
  type BodyFault,
  type Call,
  decodeBody,
  isMissingModel,
  keyOf,
  Refusal,
  type Vendor
} from "./Vendor.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Submit = Schema.Struct({
  model: Schema.NonEmptyString,
  content: Content,
  duration: Schema.optionalKey(Schema.Union([Schema.Literal(-1), between(4, 15)])),
  resolution: Schema.optionalKey(Resolution),
  ratio: Schema.optionalKey(Ratio),
  generate_audio: Schema.optionalKey(Schema.Boolean),
  seed: Schema.optionalKey(between(-1, 4294967295)),
  camera_fixed: Schema.optionalKey(Schema.Boolean),
  watermark: Schema.optionalKey(Schema.Boolean),
  return_last_frame: Schema.optionalKey(Schema.Boolean),
  draft: Schema.optionalKey(Schema.Boolean),
  service_tier: Schema.optionalKey(Schema.Literals(["default", "flex"])),
  callback_url: Schema.optionalKey(Schema.String),
  execution_expires_after: Schema.optionalKey(between(3600, 259200))
})

/** Fields of the order that the poll repeats. */
const Echo = Schema.Struct({
  seed: Schema.Int,
  service_tier: Schema.String,
  execution_expires_after: Schema.Int,
  draft: Schema.Boolean,
  return_last_frame: Schema.Boolean
})

const refusal = (status: number, code: string, message: string, type: string, param?: string) =>
  new Refusal({
    status,
    body: {
      error: {
        code,
        message: `${message} Request id: ${requestId()}`,
        ...(param === undefined ? {} : { param }),
        type
      }
    }
  })

const invalid = (param: string, why = "is not valid.") =>
  refusal(
    400,
    "InvalidParameter",
    `The parameter \`${param}\` specified in the request ${why}`,
    "BadRequest",
    param
  )

const missing = (param: string) =>
  refusal(
    400,
    "MissingParameter",
    `The request is missing the required parameter \`${param}\`.`,
    "BadRequest",
    param
  )

const ofFault = ({ path, problem }: BodyFault) =>
  problem === "missing" ? missing(path) : invalid(path === "" ? "body" : path)

const badKey = () =>
  refusal(
    401,
    "AuthenticationError",
    "The API key in the request is missing or invalid.",
    "Unauthorized"
  )

const causes: Readonly<Record<number, readonly [code: string, message: string, type: string]>> = {
  403: ["AccountOverdueError", "The account has an overdue balance.", "Forbidden"],
  404: ["ResourceNotFound", "The specified resource is not found.", "NotFound"],
  429: [
    "RateLimitExceeded.EndpointRPMExceeded",
    "The requests per minute limit of the endpoint was exceeded.",
    "TooManyRequests"
  ]
}
const otherCause = ["InvalidParameter", "The request is not valid.", "BadRequest"] as const
const ownCause = [
  "InternalServiceError",
  "The service met an internal error.",
  "InternalServerError"
] as const

const refuse = (status: number): Refusal =>
  status === 401
    ? badKey()
    : refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const lifecycle: Lifecycle = {
  between: ["queued", "running"],
  cancels: true,
  produced: producedVideo
}

const seconds = (millis: number) => Math.floor(millis / 1000)

const common = (accepted: AcceptedEntry, status: string, updatedAtMillis: number) => ({
  id: accepted.upstream_id,
  model: accepted.model,
  status,
  created_at: seconds(millisOf(accepted)),
  updated_at: seconds(updatedAtMillis)
})

const failures = {
  moderated: {
    code: "OutputVideoSensitiveContentDetected",
    message: "The request failed because the output video may contain sensitive information."
  },
  internal: { code: ownCause[0], message: ownCause[1] }
} as const

const succeeded = Effect.fnUntraced(function* (accepted: AcceptedEntry, ended: EndedEntry) {
  const links = yield* MediaLinks
  const { order, switches } = accepted
  const tokens = ended.produced.completion_tokens ?? 0
  const usage = { completion_tokens: tokens, total_tokens: tokens }
  const echo: Partial<typeof Echo.Type> = Option.getOrElse(
    Schema.decodeUnknownOption(Echo)(accepted.echo),
    () => ({})
  )
  const { return_last_frame = false, ...echoed } = echo
  const lastFrame = links.image(accepted, 0, clipSize)
  return {
    ...common(accepted, "succeeded", millisOf(ended)),
    error: null,
    content: {
      video_url: links.video(ended),
      ...(return_last_frame ? { last_frame_url: lastFrame } : {})
    },
    ...(isOn(switches, "nousage") ? {} : { usage }),
    ...echoed,
    resolution: order.resolution,
    ratio: renderedRatio(accepted),
    duration: ended.produced.seconds,
    framespersecond: framesPerSecond,
    generate_audio: order.generate_audio
  }
})

/** Puts the word of `sim:usage=WORD` into the text itself, as no JSON value is like `1e309`. */
const withUsageWord = (text: string, word: string | undefined): string =>
  word === undefined
    ? text
    : text.replace(/("completion_tokens":)\d+/, (_, name: string) => `${name}${word}`)

const pollAnswer = Effect.fnUntraced(function* (sighting: Sighting) {
  switch (sighting._tag) {
    case "Broken":
      return yield* refuse(500)
    case "Forgotten":
      return yield* refuse(404)
    case "Between": {
      const { accepted, status } = sighting
      const body = { ...common(accepted, status, millisOf(accepted)), error: null }
      return HttpServerResponse.jsonUnsafe(body)
    }
    case "Ended": {
      const { accepted, ended } = sighting
      if (ended.event === "succeeded") {
        const text = JSON.stringify(yield* succeeded(accepted, ended))
        return HttpServerResponse.text(withUsageWord(text, accepted.switches.usage), {
          contentType: "application/json"
        })
      }
      const reason = ended.reason
      const error =
        reason === "moderated" || reason === "internal"
          ? {
              ...failures[reason],
              message: `${failures[reason].message} Request id: ${requestId()}`
            }
          : null
      const body = { ...common(accepted, ended.event, millisOf(ended)), error }
      return HttpServerResponse.jsonUnsafe(body)
    }
  }
})

const newId = (nowMillis: number): string => {
  const stamp = new Date(nowMillis).toISOString().replace(/\D/g, "").slice(0, 14)
  return `cgt-${stamp}-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 5)}`
}

const submit = Effect.fnUntraced(function* (call: Call) {
  const order = yield* decodeSubmit(call.body)
  const problem = contentProblem(order.content)
  if (problem !== undefined) return yield* invalid("content", problem)
  if (isMissingModel(order.model)) {
    return yield* refusal(
      404,
      "InvalidEndpointOrModel.NotFound",
      `The model or endpoint ${order.model} does not exist or you have no access to it.`,
      "NotFound"
    )
  }
  const prompt = textOf(order.content)
  const seed = order.seed === undefined || order.seed === -1 ? numberFrom(prompt, 1e9) : order.seed
  return yield* placeOrder(
    vp_a,
    call,
    {
      kind: "video",
      model: order.model,
      prompt,
      order: {
        seconds: order.duration ?? 5,
        resolution: order.resolution ?? "720p",
        ratio: order.ratio ?? "16:9",
        n: null,
        size: null,
        inputs: {
          images: countBlocks(order.content, "image_url"),
          videos: countBlocks(order.content, "video_url"),
          audios: countBlocks(order.content, "audio_url")
        },
        generate_audio: order.generate_audio ?? true
      },
      clientToken: null,
      echo: {
        seed,
        service_tier: order.service_tier ?? "default",
        execution_expires_after: order.execution_expires_after ?? 172800,
        draft: order.draft ?? false,
        return_last_frame: order.return_last_frame ?? false
      },
      newId
    },
    ({ upstream_id }) => Effect.succeed({ id: upstream_id })
  )
})

const poll = Effect.fnUntraced(function* (call: Call) {
  const tasks = yield* Tasks
  return yield* pollAnswer(yield* tasks.poll("vp_a", call.params.id ?? "", lifecycle))
})

const tasksPaths = ["/api/v3/contents/generations/tasks", "/v1/contents/generations/tasks"] as const

/** The task interface with content blocks and token usage. */
export const vp_a: Vendor = {
  protocol: "vp_a",
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  refuse,
  moderatedInput: () =>
    refusal(
      400,
      "InputTextSensitiveContentDetected",
      "The request failed because the input text may contain sensitive information.",
      "BadRequest"
    ),
  routes: tasksPaths.flatMap((path) => [
    { method: "POST" as const, path, handle: submit },
    { method: "GET" as const, path: `${path}/:id` as const, handle: poll }
  ])
}
