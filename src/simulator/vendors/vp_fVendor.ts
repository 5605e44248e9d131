import { Effect } from "effect"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placing.ts"
import { assumedInputSeconds, producedSeconds } from "../rendering.ts"
import { isOn } from "../switches.ts"
import {
  type Call,
  type Desk,
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
  moderatedInput,
  newId,
  noModel,
  notSynchronous,
  ofFault,
  pending,
  pollTask,
  refuse,
  type TaskForm
} from "./cloud.ts"
import { type Ask, decodeModel, type Kind, kindOf, readerOf } from "./vp_f/asks.ts"

const sizes: Readonly<Record<string, readonly [resolution: string, ratio: string]>> = {
  "1280*720": ["720p", "16:9"],
  "720*1280": ["720p", "9:16"],
  "960*960": ["720p", "1:1"],
  "1088*832": ["720p", "4:3"],
  "832*1088": ["720p", "3:4"],
  "1920*1080": ["1080p", "16:9"],
  "1080*1920": ["1080p", "9:16"],
  "1440*1440": ["1080p", "1:1"],
  "1632*1248": ["1080p", "4:3"],
  "1248*1632": ["1080p", "3:4"]
}

const isVideoUrl = (url: string) => /^data:video\/|\.(mp4|mov)([?#]|$)/i.test(url)

const mediaCount = ({ input }: Ask, ...types: ReadonlyArray<string>) =>
  (input.media ?? []).filter(({ type }) => types.includes(type)).length

const videoCount = (ask: Ask): number =>
  (ask.input.reference_urls ?? []).filter(isVideoUrl).length +
  mediaCount(ask, "reference_video", "first_clip")

const imageMedia = new Set([
  "first_frame",
  "driving_audio,first_frame",
  "first_frame,last_frame",
  "driving_audio,first_frame,last_frame",
  "first_clip",
  "first_clip,last_frame"
])

const referencesFault = (images: number, videos: number): Refusal | undefined => {
  const total = images + videos
  if (total < 1 || total > 5) return invalid("The number of references is not 1 to 5")
  return videos > 3 ? invalid("There are more than 3 reference videos") : undefined
}

const askFault = ({ mode, version }: Kind, ask: Ask): Refusal | undefined => {
  const { input, parameters } = ask
  if (parameters.size !== undefined && sizes[parameters.size] === undefined) {
    return invalid("The size is not match the allowed size")
  }
  if (mode === "reference" && version === "2.6") {
    const urls = input.reference_urls ?? []
    const videos = urls.filter(isVideoUrl).length
    return referencesFault(urls.length - videos, videos)
  }
  if (input.media === undefined) return undefined
  for (const field of ["img_url", "audio_url", "reference_urls"] as const) {
    if (input[field] !== undefined)
      return ofFault({ path: `input.${field}`, problem: "unexpected" })
  }
  if (mode === "image") {
    const set = input.media.map(({ type }) => type).sort()
    return imageMedia.has(set.join())
      ? undefined
      : invalid("The combination of input.media is not supported")
  }
  if (mediaCount(ask, "first_frame") > 1) return invalid("There is more than one first_frame")
  const videos = mediaCount(ask, "reference_video")
  if (videos > 0 && (parameters.duration ?? 5) > 10) {
    return invalid("The duration with a reference video is at most 10")
  }
  return referencesFault(mediaCount(ask, "reference_image"), videos)
}

const lacksMedia = (kind: Kind, { input }: Ask): boolean =>
  kind.version === "2.7" && kind.mode !== "text" && input.media === undefined

const usageOf = ({ order, model, switches }: AcceptedEntry, { produced }: EndedEntry) => {
  if (isOn(switches, "nousage")) return undefined
  const { mode, version } = kindOf(model)
  const input = mode === "reference" ? order.inputs.videos * assumedInputSeconds : 0
  const output = produced.seconds ?? 0
  const size = order.resolution === "720p" ? "1280*720" : "1920*1080"
  return {
    duration: input + output,
    input_video_duration: input,
    output_video_duration: output,
    SR: Number.parseInt(order.resolution ?? "", 10),
    ...(version === "2.6" ? { size: order.size ?? size } : { ratio: order.ratio ?? "16:9" }),
    video_count: 1
  }
}

const taskForm: TaskForm = {
  lifecycle: {
    between,
    cancels: true,
    unusable: ({ echo }) => echo.lacks_media === true,
    produced: producedSeconds
  },
  unusable: "Field required: input.media",
  made: Effect.fnUntraced(function* (accepted: AcceptedEntry, ended: EndedEntry) {
    const { prompt = "", extended } = accepted.echo
    return {
      output: {
        orig_prompt: prompt,
        ...(extended === true ? { actual_prompt: `${prompt} In soft light, slowly.` } : {}),
        video_url: (yield* MediaLinks).video(ended)
      },
      usage: usageOf(accepted, ended)
    }
  }),
  usageFields: ["duration", "output_video_duration"]
}

const draftOf = (model: string, kind: Kind, ask: Ask) => {
  const { input, parameters } = ask
  const takesSize = kind.version === "2.6" && kind.mode !== "image"
  const size = takesSize ? (parameters.size ?? "1920*1080") : null
  const [resolution, shape] =
    size === null
      ? [(parameters.resolution ?? "1080P").toLowerCase(), parameters.ratio ?? "16:9"]
      : (sizes[size] ?? [null, null])
  const videos = videoCount(ask)
  return {
    kind: "video",
    model,
    prompt: input.prompt ?? "",
    order: {
      seconds: parameters.duration ?? 5,
      resolution,
      ratio: kind.mode === "image" ? null : shape,
      n: null,
      size,
      inputs: {
        images:
          (input.img_url === undefined ? 0 : 1) +
          (input.reference_urls ?? []).filter((url) => !isVideoUrl(url)).length +
          mediaCount(ask, "first_frame", "last_frame", "reference_image"),
        videos,
        audios: (input.audio_url === undefined ? 0 : 1) + mediaCount(ask, "driving_audio")
      },
      generate_audio: parameters.audio ?? true
    },
    clientToken: null,
    echo: {
      prompt: input.prompt ?? "",
      extended: parameters.prompt_extend ?? true,
      lacks_media: lacksMedia(kind, ask)
    },
    newId
  } as const
}

const submitAt = (desk: Desk, needsHeader: boolean) =>
  Effect.fnUntraced(function* (call: Call) {
    if (needsHeader && !asksAsync(call.headers)) return yield* notSynchronous()
    const { model } = yield* decodeModel(call.body)
    if (isMissingModel(model)) return yield* noModel(model)
    const kind = kindOf(model)
    const ask = yield* readerOf(kind)(call.body)
    const fault = askFault(kind, ask)
    if (fault !== undefined) return yield* fault
    return yield* placeOrder(desk, call, draftOf(model, kind, ask), (accepted) =>
      Effect.succeed(pending(accepted))
    )
  })

/** The routes of the protocol at a desk, where they are and whether submits need the async header. */
export const routesAt = (
  desk: Desk,
  paths: {
    readonly submit: `/${string}`
    /** Followed by the task id. */
    readonly poll: `/${string}`
    readonly needsHeader: boolean
  }
): ReadonlyArray<VendorRoute> => [
  { method: "POST", path: paths.submit, handle: submitAt(desk, paths.needsHeader) },
  {
    method: "GET",
    path: `${paths.poll}/:id`,
    handle: (call) => pollTask(desk, call.params.id ?? "", taskForm)
  }
]

const desk: Desk = { protocol: "vp_f", refuse, moderatedInput }

/** The cloud's video family, whose models differ in the shape of the request. */
export const vp_f: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: routesAt(desk, {
    submit: "/api/v1/services/aigc/video-generation/video-synthesis",
    poll: "/api/v1/tasks",
    needsHeader: true
  })
}
