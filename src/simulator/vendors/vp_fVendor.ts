import { Effect } from "effect"
import type { AcceptedEntry, EndedEntry, Order } from "../Book.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import {
  assumedInputSeconds,
  producedSeconds,
  renderedRatio,
  renderedResolution
} from "../rendering.ts"
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
  between,
  cancelTask,
  invalid,
  isAsyncRequest,
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
import * as ip_b from "./ip_bVendor.ts"
import { makesSeconds } from "./ModelFamily.ts"
import { type CloudFamily, familyOf } from "./vp_f/families.ts"
import { decodeModel, readerOf, type Submission } from "./vp_f/submissions.ts"

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

const mediaCount = ({ input }: Submission, ...types: ReadonlyArray<string>) =>
  (input.media ?? []).filter(({ type }) => types.includes(type)).length

const videoCount = (submission: Submission): number =>
  (submission.input.reference_urls ?? []).filter(isVideoUrl).length +
  mediaCount(submission, "reference_video", "first_clip")

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

const noCombination = () => invalid("The combination of input.media is not supported")

/** Checks the list of media of an order for a model of version 3.0. */
const allFault = ({ modes }: CloudFamily, submission: Submission): Refusal | undefined => {
  const { prompt, media = [] } = submission.input
  if (prompt === undefined && media.length === 0) {
    return ofFault({ path: "input.prompt", problem: "missing" })
  }
  for (const [type, max] of Object.entries(modes.all ?? {})) {
    if (mediaCount(submission, type) > max) return invalid(`There are more than ${max} ${type}`)
  }
  const frameCount = mediaCount(submission, "first_frame", "last_frame")
  return frameCount > 0 && frameCount < media.length ? noCombination() : undefined
}

const parametersFault = (family: CloudFamily, { parameters }: Submission): Refusal | undefined => {
  if (parameters.duration !== undefined && !makesSeconds(family, parameters.duration)) {
    return ofFault({ path: "parameters.duration", problem: "invalid" })
  }
  const { resolution } = parameters
  if (resolution !== undefined && !family.resolutions.includes(resolution)) {
    return ofFault({ path: "parameters.resolution", problem: "invalid" })
  }
  if (parameters.size !== undefined && sizes[parameters.size] === undefined) {
    return invalid("The size is not match the allowed size")
  }
  return undefined
}

const mediaFault = (family: CloudFamily, submission: Submission): Refusal | undefined => {
  const { input, parameters } = submission
  const { mode, version } = family
  if (mode === "all") return allFault(family, submission)
  if (mode === "reference" && version === "2.6") {
    const urls = input.reference_urls ?? []
    const videos = urls.filter(isVideoUrl).length
    return referencesFault(urls.length - videos, videos)
  }
  if (input.media === undefined) return undefined
  if (mode === "image") {
    const set = input.media.map(({ type }) => type).sort()
    return imageMedia.has(set.join()) ? undefined : noCombination()
  }
  if (mediaCount(submission, "first_frame") > 1)
    return invalid("There is more than one first_frame")
  const videos = mediaCount(submission, "reference_video")
  if (videos > 0 && (parameters.duration ?? 5) > 10) {
    return invalid("The duration with a reference video is at most 10")
  }
  return referencesFault(mediaCount(submission, "reference_image"), videos)
}

/**
 * Whether a required list of media is missing. Models of version 2.7 accept such an order, and fail
 * during processing.
 */
const lacksMedia = ({ version, mode }: CloudFamily, { input }: Submission): boolean =>
  version === "2.7" && mode !== "text" && input.media === undefined

/**
 * The billed input seconds. Where videos are references, input seconds cost as much as output
 * seconds.
 */
const inputSecondsOf = ({ order, model }: AcceptedEntry): number =>
  familyOf(model).mode === "image" ? 0 : order.inputs.videos * assumedInputSeconds

const usageOf = (acceptedEntry: AcceptedEntry, { produced }: EndedEntry) => {
  const { order, model, switches } = acceptedEntry
  if (isOn(switches, "nousage")) return undefined
  const input = inputSecondsOf(acceptedEntry)
  const output = produced.seconds ?? 0
  const size = order.resolution === "720p" ? "1280*720" : "1920*1080"
  return {
    duration: input + output,
    input_video_duration: input,
    output_video_duration: output,
    SR: Number.parseInt(renderedResolution(acceptedEntry) ?? "", 10),
    ...(familyOf(model).version === "2.6"
      ? { size: order.size ?? size }
      : { ratio: renderedRatio(acceptedEntry) }),
    video_count: 1
  }
}

const taskForm: TaskForm = {
  lifecycle: {
    runningStatuses: between,
    reportsCancellation: true,
    isUnusable: ({ echo }) => echo.lacks_media === true,
    productOf: (acceptedEntry) => producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
  },
  unusableMessage: "Field required: input.media",
  resultOf: Effect.fnUntraced(function* (acceptedEntry: AcceptedEntry, endedEntry: EndedEntry) {
    const { prompt = "", extended } = acceptedEntry.echo
    return {
      output: {
        orig_prompt: prompt,
        ...(extended === true ? { actual_prompt: `${prompt} In soft light, slowly.` } : {}),
        video_url: (yield* MediaLinks).video(endedEntry)
      },
      usage: usageOf(acceptedEntry, endedEntry)
    }
  }),
  usageFields: ["duration", "output_video_duration"]
}

const inputsOf = (submission: Submission): Order["inputs"] => {
  const { img_url, reference_urls = [], audio_url, media = [] } = submission.input
  const voices = media.filter((item) => item.reference_voice !== undefined).length
  return {
    images:
      (img_url === undefined ? 0 : 1) +
      reference_urls.filter((url) => !isVideoUrl(url)).length +
      mediaCount(submission, "first_frame", "last_frame", "reference_image"),
    videos: videoCount(submission),
    audios:
      (audio_url === undefined ? 0 : 1) +
      mediaCount(submission, "driving_audio", "reference_audio") +
      voices
  }
}

const draftOf = (model: string, family: CloudFamily, submission: Submission) => {
  const { input, parameters } = submission
  const acceptsSize = family.version === "2.6" && family.mode !== "image"
  const size = acceptsSize ? (parameters.size ?? "1920*1080") : null
  const usualRatio = family.mode === "all" ? "adaptive" : "16:9"
  const [resolution, shape] =
    size === null
      ? [(parameters.resolution ?? "1080P").toLowerCase(), parameters.ratio ?? usualRatio]
      : (sizes[size] ?? [null, null])
  return {
    kind: "video",
    model,
    prompt: input.prompt ?? "",
    order: {
      seconds: parameters.duration ?? 5,
      resolution,
      ratio: family.mode === "image" ? null : shape,
      n: null,
      size,
      inputs: inputsOf(submission),
      generate_audio: family.switchesSound ? (parameters.audio ?? true) : true
    },
    clientToken: null,
    echo: {
      prompt: input.prompt ?? "",
      extended: parameters.prompt_extend ?? true,
      lacks_media: lacksMedia(family, submission)
    },
    newId
  } as const
}

const submitAt = (desk: Desk, needsHeader: boolean) =>
  Effect.fnUntraced(function* (call: Call) {
    if (needsHeader && !isAsyncRequest(call.headers)) return yield* notSynchronous()
    const { model } = yield* decodeModel(call.body)
    if (isMissingModel(model)) return yield* noModel(model)
    const family = familyOf(model)
    const submission = yield* readerOf(family)(call.body)
    const fault = parametersFault(family, submission) ?? mediaFault(family, submission)
    if (fault !== undefined) return yield* fault
    return yield* placeOrder(desk, call, draftOf(model, family, submission), (acceptedEntry) =>
      Effect.succeed(pending(acceptedEntry))
    )
  })

/**
 * The routes of the protocol at a desk; `needsHeader` says whether orders need the header for
 * asynchronous calls.
 */
export const routesAt = (
  desk: Desk,
  paths: {
    readonly submit: `/${string}`
    /** The path for polls, which the task id follows. */
    readonly poll: `/${string}`
    readonly needsHeader: boolean
  },
  form = taskForm
): ReadonlyArray<VendorRoute> => [
  { method: "POST", path: paths.submit, handle: submitAt(desk, paths.needsHeader) },
  {
    method: "GET",
    path: `${paths.poll}/:id`,
    handle: (call) => pollTask(desk, call.params.id ?? "", form)
  },
  {
    method: "POST",
    path: `${paths.poll}/:id/cancel`,
    handle: (call) => cancelTask(desk, call.params.id ?? "", form)
  }
]

const desk: Desk = { protocol: "vp_f", refuse, moderatedInput }

/**
 * The form in which a task's polls are answered. Image tasks of the cloud are polled at the same
 * path as videos.
 */
const formOf = ({ kind }: AcceptedEntry): TaskForm => (kind === "image" ? ip_b.taskForm : taskForm)

const eitherForm: TaskForm = {
  ...taskForm,
  lifecycle: {
    ...taskForm.lifecycle,
    productOf: (acceptedEntry) => formOf(acceptedEntry).lifecycle.productOf(acceptedEntry)
  },
  resultOf: (acceptedEntry, endedEntry) =>
    formOf(acceptedEntry).resultOf(acceptedEntry, endedEntry),
  usageFields: [...taskForm.usageFields, ...ip_b.taskForm.usageFields]
}

/** The cloud's video family, whose models have different request forms. */
export const vp_f: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: [
    ...routesAt(
      desk,
      {
        submit: "/api/v1/services/aigc/video-generation/video-synthesis",
        poll: "/api/v1/tasks",
        needsHeader: true
      },
      eitherForm
    ),
    {
      method: "POST",
      path: "/api/v1/services/aigc/image-generation/generation",
      handle: ip_b.submitAt(desk, "async")
    }
  ]
}
