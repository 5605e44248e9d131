/** Videos from `POST /v1/videos/generations`, polled until the task has ended. */
import {
  InvalidArgumentError,
  type JSONObject,
  type SharedV4Warning,
  type Experimental_VideoModelV4 as VideoModelV4,
  type Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
  type Experimental_VideoModelV4File as VideoModelV4File
} from "@ai-sdk/provider"
import {
  combineHeaders,
  convertImageModelFileToDataUri,
  createJsonResponseHandler,
  detectMediaType,
  getFromApi,
  postJsonToApi
} from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { makeParameterCheck, seedFields, unsupportedWarning } from "./modelParameters.ts"
import { loadFile } from "./resultFiles.ts"

const acceptedSchema = z.looseObject({ id: z.string() })

const taskSchema = z.discriminatedUnion("task_status", [
  z.looseObject({ task_status: z.literal("processing") }),
  z.looseObject({
    task_status: z.literal("succeeded"),
    content: z.looseObject({ video_url: z.string() }),
    usage: z.looseObject({ completion_tokens: z.number().optional() }).optional(),
    expires_at: z.union([z.string(), z.number()]).nullish()
  }),
  z.looseObject({
    task_status: z.literal("failed"),
    error: z.looseObject({ code: z.string(), message: z.string() }).optional()
  })
])

/**
 * The gateway's resolutions in pixels at 16:9, the only aspect ratio for which it guarantees
 * pixels.
 */
const sizes: ReadonlyArray<readonly [resolution: string, width: number, height: number]> = [
  ["480p", 864, 480],
  ["540p", 960, 540],
  ["720p", 1280, 720],
  ["768p", 1360, 768],
  ["768p", 1366, 768],
  ["1080p", 1920, 1080],
  ["1080p", 1920, 1088],
  ["2K", 2560, 1440],
  ["4K", 3840, 2160]
]

const bySize = new Map(
  sizes.flatMap(([resolution, width, height]) => [
    [`${width}x${height}`, { resolution, ratio: "16:9" }],
    [`${height}x${width}`, { resolution, ratio: "9:16" }]
  ])
)

/**
 * The resolution and aspect ratio of an order. Refuses a size in pixels that the gateway cannot
 * make exactly: the video would be made, and charged, in another size.
 */
const shapeOf = ({ resolution, aspectRatio }: VideoModelV4CallOptions): JSONObject => {
  const ratio = aspectRatio === undefined ? {} : { ratio: aspectRatio }
  if (resolution === undefined) return ratio
  const sizeParameters = bySize.get(resolution)
  if (sizeParameters === undefined) {
    throw new InvalidArgumentError({
      argument: "resolution",
      message:
        `The gateway has no resolution of exactly ${resolution}: expected one of ` +
        `${[...bySize.keys()].join(", ")}, or providerOptions.${PROVIDER}.resolution ` +
        "such as 720p beside aspectRatio."
    })
  }
  if (aspectRatio !== undefined && aspectRatio !== sizeParameters.ratio) {
    throw new InvalidArgumentError({
      argument: "aspectRatio",
      message: `resolution ${resolution} has the aspect ratio ${sizeParameters.ratio}, not ${aspectRatio}.`
    })
  }
  return sizeParameters
}

const imageBlock = (file: VideoModelV4File, role: string): JSONObject => ({
  type: "image_url",
  role,
  image_url: { url: addressOf(file) }
})

const addressOf = (file: VideoModelV4File): string =>
  file.type === "url" ? file.url : convertImageModelFileToDataUri(file)

/**
 * The content block of a reference, chosen by its media type; null for other types than image,
 * video and audio. A file without a media type counts as an image.
 */
const referenceBlock = (file: VideoModelV4File): JSONObject | null => {
  const [kind] = (file.mediaType ?? "image/*").split("/")
  switch (kind) {
    case "image":
      return imageBlock(file, "reference_image")
    case "audio":
      return { type: "audio_url", role: "reference_audio", audio_url: { url: addressOf(file) } }
    case "video":
      return { type: "video_url", role: "reference_video", video_url: { url: addressOf(file) } }
    default:
      return null
  }
}

/**
 * The frames and references of an order as content blocks, which are sent in addition to the
 * prompt.
 */
const contentOf = (
  { image, frameImages = [], inputReferences = [] }: VideoModelV4CallOptions,
  warnings: Array<SharedV4Warning>
): ReadonlyArray<JSONObject> => {
  const first =
    image ?? frameImages.find(({ frameType }) => frameType === "first_frame")?.image ?? null
  const last = frameImages.find(({ frameType }) => frameType === "last_frame")?.image ?? null
  return [
    ...(first === null ? [] : [imageBlock(first, "first_frame")]),
    ...(last === null ? [] : [imageBlock(last, "last_frame")]),
    ...inputReferences.flatMap((file) => {
      const block = referenceBlock(file)
      if (block !== null) return [block]
      warnings.push(
        unsupportedWarning("inputReferences", `A file of type ${file.mediaType} is left out.`)
      )
      return []
    })
  ]
}

const bodyOf = (
  modelId: string,
  options: VideoModelV4CallOptions & { webhookUrl?: string },
  seed: JSONObject,
  warnings: Array<SharedV4Warning>
): JSONObject => {
  const { prompt, duration, generateAudio, fps, n, webhookUrl } = options
  if (fps !== undefined) {
    warnings.push(unsupportedWarning("fps", "The model decides the frames per second."))
  }
  if (n > 1) {
    warnings.push(unsupportedWarning("n", "An order is one video: leave maxVideosPerCall out."))
  }
  const content = contentOf(options, warnings)
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(content.length === 0 ? {} : { content: [...content] }),
    ...(duration === undefined ? {} : { duration }),
    ...shapeOf(options),
    ...(generateAudio === undefined ? {} : { generate_audio: generateAudio }),
    ...seed,
    ...(webhookUrl === undefined ? {} : { callback_url: webhookUrl }),
    ...options.providerOptions[PROVIDER],
    model: modelId
  }
}

/**
 * The video for the AI SDK: its address, from which the SDK loads it without a key. A video at a
 * trusted address is loaded here, because the SDK refuses private addresses.
 */
const videoOf = async (connection: Connection, url: string, signal?: AbortSignal) => {
  if (!connection.trusts(url)) return { type: "url", url, mediaType: "video/mp4" } as const
  const { data, mediaType } = await loadFile(connection, url, signal)
  const isVideo = mediaType?.startsWith("video/") === true
  return {
    type: "binary",
    data,
    mediaType: isVideo
      ? mediaType
      : (detectMediaType({ data, topLevelType: "video" }) ?? "video/mp4")
  } as const
}

export const makeVideoModel = (connection: Connection, modelId: string): VideoModelV4 => {
  const acceptsParameter = makeParameterCheck(connection, modelId)
  const common = (headers: Record<string, string | undefined> = {}, signal?: AbortSignal) => ({
    headers: combineHeaders(connection.headers(), headers),
    fetch: connection.fetch,
    failedResponseHandler,
    ...(signal === undefined ? {} : { abortSignal: signal })
  })

  return {
    specificationVersion: "v4",
    provider: `${PROVIDER}.video`,
    modelId,
    maxVideosPerCall: 1,

    handleWebhookOption: async ({ webhook }) => {
      const { url, received } = await webhook()
      return { webhookUrl: url, received }
    },

    doStart: async (options) => {
      const warnings: Array<SharedV4Warning> = []
      const seed = await seedFields(options.seed, acceptsParameter, warnings)
      const body = bodyOf(modelId, options, { ...seed }, warnings)
      const timestamp = new Date()
      const { value, responseHeaders: headers } = await postJsonToApi({
        ...common(options.headers, options.abortSignal),
        url: connection.url("/videos/generations"),
        body,
        successfulResponseHandler: createJsonResponseHandler(acceptedSchema)
      })
      return { operation: value.id, warnings, response: { timestamp, modelId, headers } }
    },

    doStatus: async ({ operation: id, abortSignal, headers: callHeaders }) => {
      if (typeof id !== "string") {
        throw new InvalidArgumentError({
          argument: "operation",
          message: "Expected the id of a video task, such as vt_...: what doStart has answered."
        })
      }
      const timestamp = new Date()
      const { value, responseHeaders: headers } = await getFromApi({
        ...common(callHeaders, abortSignal),
        url: connection.url(`/videos/${encodeURIComponent(id)}`),
        validateUrl: false,
        successfulResponseHandler: createJsonResponseHandler(taskSchema)
      })
      const response = { timestamp, modelId, headers }
      switch (value.task_status) {
        case "processing":
          return { status: "pending", response }
        case "failed":
          return {
            status: "error",
            error: `${value.error?.message ?? "The video failed"} (${id}, ${value.error?.code ?? "failed"})`,
            response
          }
        case "succeeded": {
          const { content, usage, expires_at } = value
          const facts = {
            id,
            url: content.video_url,
            ...(usage?.completion_tokens === undefined
              ? {}
              : { completionTokens: usage.completion_tokens }),
            ...(expires_at === undefined || expires_at === null ? {} : { expiresAt: expires_at })
          }
          return {
            status: "completed",
            videos: [await videoOf(connection, content.video_url, abortSignal)],
            warnings: [],
            providerMetadata: { [PROVIDER]: { videos: [facts] } },
            response
          }
        }
      }
    }
  }
}
