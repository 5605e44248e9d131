import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, millisOf } from "../Book.ts"
import { randomText, requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placing.ts"
import { producedSeconds } from "../rendering.ts"
import { type Lifecycle, type Sighting, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  type KeyProblem,
  keyOf,
  Refusal,
  type Vendor
} from "../Vendor.ts"

const maxPromptCharacters = 3072
const maxTurboImagePromptCharacters = 2500

const Prompt = Schema.NonEmptyString.check(Schema.isMaxLength(maxPromptCharacters))
const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))

const baseSettings = {
  resolution: Schema.optionalKey(Schema.Literals(["720p", "1080p", "4k"])),
  duration: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 3, maximum: 15 }))),
  audio: Schema.optionalKey(Schema.Literals(["native", "off"])),
  multi_shot: Schema.optionalKey(Schema.Boolean)
}
const aspectRatio = Schema.optionalKey(Schema.Literals(["16:9", "9:16", "1:1"]))

const options = Schema.Struct({
  callback_url: Schema.optionalKey(Schema.String),
  external_task_id: Schema.optionalKey(Schema.NonEmptyString),
  watermark_info: Schema.optionalKey(Schema.Struct({ enabled: Schema.Boolean }))
}).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))

const PromptItem = Schema.Struct({ type: Schema.Literal("prompt"), text: Prompt })
const mediaItem = <const T extends ReadonlyArray<string>>(...types: T) =>
  Schema.Struct({ type: Schema.Literals(types), url: Url })
const Frame = mediaItem("first_frame", "last_frame")
const Reference = mediaItem("refer_image", "feature_video", "base_video")

const TextSubmit = Schema.Struct({
  prompt: Prompt,
  settings: Schema.Struct({ ...baseSettings, aspect_ratio: aspectRatio }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  ),
  options
})

const ImageSubmit = Schema.Struct({
  contents: Schema.Array(Schema.Union([PromptItem, Frame])),
  settings: Schema.Struct(baseSettings).pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  options
})

const OmniSubmit = Schema.Struct({
  contents: Schema.Array(Schema.Union([PromptItem, Frame, Reference])),
  settings: Schema.Struct({
    ...baseSettings,
    audio: Schema.optionalKey(Schema.Literals(["native", "off", "original"])),
    aspect_ratio: aspectRatio
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  options
})

/** A request of any mode. */
type Ask = typeof OmniSubmit.Type

/** The form of every error. */
export const refusal = (status: number, code: number, message: string) =>
  new Refusal({ status, body: { code, message, request_id: requestId() } })

const invalid = (what: string) => refusal(400, 1201, `Invalid value: ${what}`)

export const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") return refusal(400, 1200, "Invalid request parameters: not a JSON object")
  return problem === "missing"
    ? refusal(400, 1200, `Invalid request parameters: ${path} is required`)
    : invalid(problem === "unexpected" ? `${path} is not supported here` : path)
}

const keyFaults = {
  missing: [1001, "Authorization is empty"],
  scheme: [1002, "Authorization is invalid"],
  unknown: [1000, "Authentication failed"]
} as const

const keyRefusal = (problem: KeyProblem) => {
  const [code, message] = keyFaults[problem]
  return refusal(401, code, message)
}

export const noModel = (model: string) =>
  refusal(404, 1203, `The requested model does not exist: ${model}`)

const causes: Readonly<Record<number, readonly [code: number, message: string]>> = {
  401: keyFaults.unknown,
  402: [1101, "The account is in arrears"],
  403: [1103, "Not authorised to use this resource"],
  404: [1202, "The requested method does not exist"],
  405: [1202, "The requested method does not exist"],
  408: [5002, "The server timed out inside"],
  429: [1302, "Too many requests, the rate limit was exceeded"],
  503: [5001, "The server is temporarily unavailable for maintenance"],
  504: [5002, "The server timed out inside"]
}
const otherCause = [1200, "Invalid request parameters"] as const
const ownCause = [5000, "Internal server error"] as const

const refuse = (status: number): Refusal =>
  refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

export const moderatedInput = () =>
  refusal(400, 1301, "The prompt did not pass the content safety check")

const strict = { unknownFields: "refused", refuse: ofFault } as const
const decodeText = decodeBody(TextSubmit, strict)
const decodeImage = decodeBody(ImageSubmit, strict)
const decodeOmni = decodeBody(OmniSubmit, strict)

type Mode = "text" | "image" | "omni"

const isTurbo = (model: string) => model.includes("turbo")

const countOf = (ask: Ask, ...types: ReadonlyArray<string>) =>
  ask.contents.filter(({ type }) => types.includes(type)).length

const contentsFault = (mode: Mode, ask: Ask): Refusal | undefined => {
  if (countOf(ask, "prompt") !== 1) return refusal(400, 1200, "Exactly one prompt is required")
  for (const type of ["first_frame", "last_frame", "feature_video", "base_video"]) {
    if (countOf(ask, type) > 1) return invalid(`contents has more than one ${type}`)
  }
  if (mode === "image" && countOf(ask, "first_frame") === 0) {
    return refusal(400, 1200, "Invalid request parameters: first_frame is required")
  }
  return countOf(ask, "last_frame") > countOf(ask, "first_frame")
    ? invalid("last_frame needs a first_frame")
    : undefined
}

const settingsFault = (mode: Mode, model: string, ask: Ask): Refusal | undefined => {
  const { settings } = ask
  if (isTurbo(model)) {
    if (settings.resolution === "4k") return invalid("settings.resolution 4k on this model")
    if (settings.audio !== undefined) return invalid("settings.audio is not supported here")
    if (settings.multi_shot !== undefined)
      return invalid("settings.multi_shot is not supported here")
    const tooLong = promptOf(ask).length > maxTurboImagePromptCharacters
    if (mode === "image" && tooLong) return invalid("prompt is too long")
  }
  const videos = countOf(ask, "feature_video", "base_video")
  if (videos > 0 && settings.audio === "native")
    return invalid("settings.audio native with a video")
  if (countOf(ask, "base_video") > 0 && settings.multi_shot !== false) {
    return invalid("settings.multi_shot must be false with base_video")
  }
  if (settings.aspect_ratio !== undefined && videos + countOf(ask, "first_frame") > 0) {
    return invalid("settings.aspect_ratio with a frame or a video")
  }
  return undefined
}

export const lifecycle: Lifecycle = {
  between: ["submitted", "processing"],
  cancels: false,
  produced: producedSeconds
}

/** In tenths of the vendor's unit per second. */
const receipt = ({ order }: AcceptedEntry): string => {
  const dear = order.generate_audio === true || order.inputs.videos > 0
  return String(((order.seconds ?? 0) * (dear ? 9 : 6)) / 10)
}

/** The form of every other answer. */
export const success = (data: Schema.Json) => ({
  code: 0,
  message: "SUCCEED",
  request_id: requestId(),
  data
})

const row = (
  accepted: AcceptedEntry,
  status: string,
  message: string,
  updatedAtMillis: number
) => ({
  id: accepted.upstream_id,
  status,
  message,
  ...(accepted.client_token === null ? {} : { external_id: accepted.client_token }),
  create_time: millisOf(accepted),
  update_time: updatedAtMillis
})

/** The messages of tasks that failed. */
export const failures = {
  moderated: "risk control",
  internal: "internal error",
  unusable: "invalid parameters",
  cancelled: "the task was cancelled",
  expired: "the task took too long"
} as const

const pollRow = Effect.fnUntraced(function* (
  sighting: Sighting
): Effect.fn.Return<Option.Option<Schema.Json>, Refusal, MediaLinks> {
  switch (sighting._tag) {
    case "Broken":
      return yield* refuse(500)
    case "Forgotten":
      return Option.none()
    case "Between": {
      const { accepted, status } = sighting
      return Option.some({ ...row(accepted, status, "", millisOf(accepted)), billing: [] })
    }
    case "Ended": {
      const { accepted, ended } = sighting
      if (ended.reason !== null) {
        const failed = row(accepted, "failed", failures[ended.reason], millisOf(ended))
        return Option.some({ ...failed, billing: [{ amount: "0" }] })
      }
      const url = (yield* MediaLinks).video(ended)
      const { watermark } = accepted.echo
      const output = { type: "video", url, duration: `${ended.produced.seconds}.041` }
      return Option.some({
        ...row(accepted, "succeeded", "", millisOf(ended)),
        outputs: [watermark === true ? { ...output, watermark_url: url } : output],
        billing: [{ charge_type: "unit", amount: receipt(accepted), package_type: "video" }]
      })
    }
  }
})

const newId = (): string => `9${randomText("0123456789", 17)}`

const promptOf = (ask: Ask): string =>
  ask.contents.flatMap((item) => (item.type === "prompt" ? [item.text] : [])).join("\n")

const readers: Record<Mode, (body: unknown) => Effect.Effect<Ask, Refusal>> = {
  text: (body) =>
    Effect.map(decodeText(body), ({ prompt, ...rest }) => ({
      contents: [{ type: "prompt", text: prompt }],
      ...rest
    })),
  image: decodeImage,
  omni: decodeOmni
}

const submit = (mode: Mode) =>
  Effect.fnUntraced(function* (call: Call) {
    const model = call.params.model ?? ""
    if (isMissingModel(model) || (mode === "omni" && !model.endsWith("-omni"))) {
      return yield* noModel(model)
    }
    const ask = yield* readers[mode](call.body)
    const fault = contentsFault(mode, ask) ?? settingsFault(mode, model, ask)
    if (fault !== undefined) return yield* fault
    const { settings, options } = ask
    const framed = countOf(ask, "first_frame", "feature_video", "base_video") > 0
    return yield* placeOrder(
      desk,
      call,
      {
        kind: "video",
        model,
        prompt: promptOf(ask),
        order: {
          seconds: settings.duration ?? 5,
          resolution: settings.resolution ?? "720p",
          ratio: framed ? null : (settings.aspect_ratio ?? "16:9"),
          n: null,
          size: null,
          inputs: {
            images: countOf(ask, "first_frame", "last_frame", "refer_image"),
            videos: countOf(ask, "feature_video", "base_video"),
            audios: 0
          },
          generate_audio: settings.audio === "native"
        },
        clientToken: options.external_task_id ?? null,
        echo: { watermark: options.watermark_info?.enabled ?? false },
        newId
      },
      (accepted) => Effect.succeed(success(row(accepted, "submitted", "", millisOf(accepted))))
    )
  })

const listed = (text: string | null): ReadonlyArray<string> =>
  (text ?? "").split(",").filter((one) => one !== "")

const poll = Effect.fnUntraced(function* (call: Call) {
  const tasks = yield* Tasks
  const tokens = listed(call.query.get("external_task_ids"))
  const named = yield* Effect.forEach(tokens, (token) => tasks.idsOfToken("vp_d", token))
  const ids = new Set([...listed(call.query.get("task_ids")), ...named.flat()])
  if (ids.size === 0 && tokens.length === 0) {
    return yield* refusal(400, 1200, "Invalid request parameters: task_ids is required")
  }
  const rows = yield* Effect.forEach(ids, (id) =>
    Effect.flatMap(tasks.poll(desk, id, lifecycle), pollRow)
  )
  return HttpServerResponse.jsonUnsafe(success(rows.flatMap(Option.toArray)))
})

const desk: Desk = { protocol: "vp_d", refuse, moderatedInput }

/** The unified task interface: the model in the path, errors by code. */
export const vp_d: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", keyRefusal),
  routes: [
    { method: "POST", path: "/text-to-video/:model", handle: submit("text") },
    { method: "POST", path: "/image-to-video/:model", handle: submit("image") },
    { method: "POST", path: "/omni-video/:model", handle: submit("omni") },
    { method: "GET", path: "/tasks", handle: poll }
  ]
}
