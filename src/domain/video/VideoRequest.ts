/**
 * What a client may write in a video request, and the one order it comes down to. Nothing here
 * knows a protocol: bounds and defaults are `VideoSku.ts`.
 */
import { Result, Schema } from "effect"
import { InvalidRequest } from "../Errors.ts"
import { fieldCheck, unknownFields, withoutFaults } from "../fieldFaults.ts"
import { fieldKey } from "../nearest.ts"
import { optional, optionalBoolean, optionalWholeNumber } from "../optional.ts"
import { anyFields } from "../passedOn.ts"
import { MAX_PROMPT, Prompt, plainText } from "../plainText.ts"
import { flagOf } from "./flagTable.ts"
import { type Said, takeFlags } from "./PromptFlags.ts"

/** More than any vendor takes; each has limits of its own, which it tells itself. */
export const MAX_BLOCKS = 64
export const MAX_IMAGES_IN = 16

/** One pattern for all of it would take ten times as long for large media. */
const isMediaUrl = (text: string): boolean =>
  (/^https?:\/\/./i.test(text) || (/^data:/i.test(text) && text.includes(","))) && !/\s/.test(text)

/** http, https or data: the gateway hands addresses on and never fetches them. */
export const MediaUrl = Schema.String.check(
  Schema.makeFilter(isMediaUrl, {
    expected: "an http, https or data URL",
    // Without it the description below is left out of the contract.
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL" })

const MediaObject = Schema.Struct({ url: MediaUrl })
const MediaRef = Schema.Union([MediaUrl, MediaObject]).annotate({
  description: "A URL, or {url}",
  expected: "a URL or {url}"
})
const MediaList = Schema.Array(MediaRef).check(
  Schema.isMaxLength(MAX_IMAGES_IN, { expected: `at most ${MAX_IMAGES_IN} of them` })
)
/** A URL, `{url}` or an array of either. */
export const Media = Schema.Union([MediaRef, MediaList])
export type Media = typeof Media.Type

const ImageRole = Schema.Literals(["reference_image", "first_frame", "last_frame"])
export type ImageRole = typeof ImageRole.Type

const blockType = <T extends string>(type: T) =>
  Schema.Literal(type).annotate({ description: "Tells the blocks apart" })

const TextBlock = Schema.Struct({
  type: blockType("text"),
  text: Prompt.annotate({ description: "What is to be seen; may hold flags" })
})
const ImageBlock = Schema.Struct({
  type: blockType("image_url"),
  role: optional(ImageRole, "a role: reference_image, first_frame or last_frame").annotate({
    description: "What the image is for; reference_image when left out"
  }),
  image_url: MediaRef
})
const AudioBlock = Schema.Struct({
  type: blockType("audio_url"),
  role: optional(Schema.Literal("reference_audio"), "the role reference_audio").annotate({
    description: "What the sound is for"
  }),
  audio_url: MediaRef
})
const ReferenceVideoBlock = Schema.Struct({
  type: blockType("video_url"),
  role: optional(Schema.Literal("reference_video"), "the role reference_video").annotate({
    description: "What the video is for; any of them prices the order with video input"
  }),
  video_url: MediaRef
})

const closedBlock = <Fields extends Schema.Struct.Fields>(block: Schema.Struct<Fields>) =>
  Schema.StructWithRest(block, anyFields).check(
    fieldCheck((value) => unknownFields(value, block.fields))
  )

const OpenBlock = Schema.Union([TextBlock, ImageBlock, AudioBlock, ReferenceVideoBlock])
type ContentBlock = typeof OpenBlock.Type

/** A field that a block does not have is refused: it would order nothing. */
const ContentBlock: Schema.Codec<ContentBlock, typeof OpenBlock.Encoded> = Schema.Union([
  closedBlock(TextBlock),
  closedBlock(ImageBlock),
  closedBlock(AudioBlock),
  closedBlock(ReferenceVideoBlock)
]).annotate({ expected: "a block of type text, image_url, audio_url or video_url" })

const media = (what: string) =>
  optional(Media, "a URL, {url} or an array of them").annotate({
    description: `${what}: a URL, {url} or an array of them; ignored beside content`
  })

export const ModelName = plainText()

/** Handed to the upstream unchanged. Without dashes, as resellers may write it into the text. */
const Ratio = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Pd}\u2212]{1,32}$/u, {
    expected: "an aspect ratio such as 16:9"
  })
)
const isRatio = Schema.is(Ratio)
const Resolution = Schema.String.check(Schema.isMaxLength(32))

const VideoFields = Schema.Struct({
  model: ModelName.annotate({ description: "A model of modality video" }),
  prompt: optional(Prompt, `a text of at most ${MAX_PROMPT} characters`).annotate({
    description: "What is to be seen; may hold the flags --duration, --resolution and --ratio"
  }),
  content: optional(
    Schema.Array(ContentBlock).check(
      Schema.isMaxLength(MAX_BLOCKS, { expected: `at most ${MAX_BLOCKS} blocks` })
    ),
    `an array of at most ${MAX_BLOCKS} content blocks`
  ).annotate({
    description: "Text and media as blocks; wins over top-level media"
  }),
  images: media("Images"),
  image: media("Images"),
  image_url: media("Images"),
  audio: media("Reference sound"),
  audio_url: media("Reference sound"),
  audios: media("Reference sound"),
  video: media("Reference videos"),
  video_url: media("Reference videos"),
  videos: media("Reference videos"),
  duration: optionalWholeNumber("a whole number of seconds").annotate({
    description:
      "Output seconds within the protocol's bounds, or -1 where the model may choose; 5 when left out"
  }),
  resolution: optional(Resolution, "a resolution such as 720p").annotate({
    description: "One of the model's resolutions, in any case; 720p when left out"
  }),
  ratio: optional(Ratio, "an aspect ratio such as 16:9").annotate({
    description: "Aspect ratio, handed to the vendor unchanged"
  }),
  generate_audio: optionalBoolean.annotate({
    description: "Whether the video gets a sound track; unrelated to reference sound"
  }),
  user: optional(Schema.String, "a text").annotate({
    description: "Whom the order is for, in the client's own words; not sent to the vendor"
  }),
  metadata: optional(Schema.Record(Schema.String, Schema.Unknown), "an object").annotate({
    description: "What the client likes to note; not sent to the vendor"
  })
})

/** By `fieldKey`, what other interfaces call the fields of this one. */
const meantFields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    duration: [
      ...["seconds", "second", "length", "video_length", "video_duration", "duration_seconds"],
      ...["n_seconds", "num_frames", "frames", "duration_ms"]
    ],
    resolution: ["size", "quality", "definition", "video_size", "video_quality"],
    ratio: ["aspect", "aspect_ratio", "video_ratio"],
    generate_audio: ["sound", "with_audio", "has_audio", "enable_audio", "with_sound"],
    prompt: ["text", "input", "description", "query", "message", "instruction"],
    content: ["contents", "messages", "blocks", "parts"],
    image: [
      ...["img", "img_url", "input_image", "init_image", "image_uri", "input_reference"],
      ...["first_frame", "first_frame_image", "start_image", "image_base64"]
    ],
    images: ["image_urls", "image_list", "reference_images", "input_images", "img_urls"],
    video: ["input_video", "reference_video", "video_uri"],
    videos: ["video_urls", "reference_videos"],
    audio: ["input_audio", "reference_audio", "audio_uri"],
    audios: ["audio_urls"],
    model: ["model_name", "model_id", "engine"]
  }).flatMap(([field, others]) => others.map((other) => [fieldKey(other), field] as const))
)

/**
 * Body of `POST /v1/videos/generations`. Other fields than these are kept, so that `checkVideoFields`
 * can refuse them.
 */
export const VideoBody: Schema.Codec<typeof VideoFields.Type, typeof VideoFields.Encoded> =
  Schema.StructWithRest(VideoFields, anyFields).annotate({
    identifier: "VideoOrder",
    description:
      "Needs a model and something to make the video from; other fields than these are refused"
  })
export type VideoBody = typeof VideoBody.Type

/** Refuses fields that no video order has: they would order nothing. */
export const checkVideoFields = (body: VideoBody): Result.Result<void, InvalidRequest> =>
  withoutFaults(unknownFields(body, VideoFields.fields, meantFields))

export type VideoBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly role: ImageRole; readonly url: string }
  | { readonly type: "audio"; readonly url: string }
  | { readonly type: "video"; readonly url: string }

/** What only a flag can say; a key is missing where none did. Not every vendor has a field for it. */
export interface VideoExtras {
  readonly seed?: number
  readonly cameraFixed?: boolean
  readonly watermark?: boolean
}

export const extraNames = ["seed", "cameraFixed", "watermark"] as const satisfies ReadonlyArray<
  keyof VideoExtras
>

/** One request, each value in exactly one place. `null` means the client did not say. */
export interface VideoInput extends VideoExtras {
  readonly blocks: ReadonlyArray<VideoBlock>
  /** A string is what a flag said where a whole number was expected. */
  readonly seconds: number | string | null
  readonly resolution: string | null
  readonly ratio: string | null
  readonly generateAudio: boolean | null
}

const urlOf = (media: string | typeof MediaObject.Type): string =>
  typeof media === "string" ? media : media.url

/** The addresses in their order; none when nothing was given. */
export const mediaUrls = (media: Media | null | undefined): ReadonlyArray<string> => {
  if (media === null || media === undefined) return []
  if (typeof media === "string" || "url" in media) return [urlOf(media)]
  return media.map(urlOf)
}

const toBlock = (block: ContentBlock): VideoBlock => {
  switch (block.type) {
    case "text":
      return block
    case "image_url":
      return {
        type: "image",
        role: block.role ?? "reference_image",
        url: urlOf(block.image_url)
      }
    case "audio_url":
      return { type: "audio", url: urlOf(block.audio_url) }
    case "video_url":
      return { type: "video", url: urlOf(block.video_url) }
  }
}

/** Top-level media, lifted into blocks in the order image, audio, video (Create, rule 1). */
const liftMedia = (body: VideoBody): ReadonlyArray<VideoBlock> => [
  ...[body.images, body.image, body.image_url]
    .flatMap(mediaUrls)
    .map((url): VideoBlock => ({ type: "image", role: "reference_image", url })),
  ...[body.audio, body.audio_url, body.audios]
    .flatMap(mediaUrls)
    .map((url): VideoBlock => ({ type: "audio", url })),
  ...[body.video, body.video_url, body.videos]
    .flatMap(mediaUrls)
    .map((url): VideoBlock => ({ type: "video", url }))
]

/** `content` wins over top-level media; a top-level prompt joins it when it holds no text. */
const gatherBlocks = (body: VideoBody): ReadonlyArray<VideoBlock> => {
  const prompt: ReadonlyArray<VideoBlock> =
    typeof body.prompt === "string" ? [{ type: "text", text: body.prompt }] : []
  if (body.content === null || body.content === undefined) return [...prompt, ...liftMedia(body)]
  const blocks = body.content.map(toBlock)
  return blocks.some((block) => block.type === "text") ? blocks : [...prompt, ...blocks]
}

const wholeNumberText = /^-?\d{1,9}$/

const secondsOfFlag = (flag: string | undefined): number | string | null =>
  flag === undefined ? null : wholeNumberText.test(flag) ? Number(flag) : flag

/** The vendors end at 32 bits. */
const isSeed = (flag: string) => /^-?\d{1,10}$/.test(flag)

const isBoolean = (flag: string) => /^(?:true|false)$/i.test(flag)

const isTrue = (flag: string) => flag.toLowerCase() === "true"

/** What a flag's value has to be, where anything else is refused; the others are the SKU's. */
const flagValues = [
  ["ratio", isRatio, "an aspect ratio such as 16:9", "ratio"],
  ["generateAudio", isBoolean, "true or false", "generate_audio"],
  ["seed", isSeed, "a whole number", "prompt"],
  ["cameraFixed", isBoolean, "true or false", "prompt"],
  ["watermark", isBoolean, "true or false", "prompt"]
] as const

const invalid = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const flagFault = (said: Said): InvalidRequest | null => {
  for (const [field, fits, expected, param] of flagValues) {
    const value = said[field]
    if (value !== undefined && !fits(value)) {
      return invalid(param, `Expected ${expected} behind ${flagOf(field)}`)
    }
  }
  return null
}

const extrasOf = ({ seed, cameraFixed, watermark }: Said): VideoExtras => ({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(cameraFixed === undefined ? {} : { cameraFixed: isTrue(cameraFixed) }),
  ...(watermark === undefined ? {} : { watermark: isTrue(watermark) })
})

/**
 * Brings a body to its one meaning. Body fields win over prompt flags; flags never stay in the
 * text. Fails on a flag that is not taken, and when nothing is left to make a video from.
 */
export const normaliseVideo = (body: VideoBody): Result.Result<VideoInput, InvalidRequest> =>
  Result.gen(function* () {
    const gathered = gatherBlocks(body)
    if (textOf(gathered).length > MAX_PROMPT) {
      return yield* Result.fail(
        invalid("content", `Expected at most ${MAX_PROMPT} characters of text in all`)
      )
    }
    const { blocks, said } = yield* takeFlags(gathered)
    const fault = flagFault(said)
    if (fault !== null) return yield* Result.fail(fault)
    if (countInputs(blocks).images > MAX_IMAGES_IN) {
      return yield* Result.fail(
        invalid("images", `Expected at most ${MAX_IMAGES_IN} images in all`)
      )
    }
    if (blocks.length === 0) {
      return yield* Result.fail(
        new InvalidRequest({
          message: "Give a prompt, a content block or some media to make the video from",
          param: "prompt"
        })
      )
    }
    return {
      blocks,
      seconds: body.duration ?? secondsOfFlag(said.duration),
      resolution: body.resolution ?? said.resolution ?? null,
      ratio: body.ratio ?? said.ratio ?? null,
      generateAudio:
        body.generate_audio ??
        (said.generateAudio === undefined ? null : isTrue(said.generateAudio)),
      ...extrasOf(said)
    }
  })

export interface InputCounts {
  readonly images: number
  readonly audios: number
  readonly videos: number
}

export const countInputs = (blocks: ReadonlyArray<VideoBlock>): InputCounts => {
  const count = (type: VideoBlock["type"]) => blocks.filter((block) => block.type === type).length
  return { images: count("image"), audios: count("audio"), videos: count("video") }
}

/** The order's text: all text blocks in their order, joined by line breaks; empty when none. */
export const textOf = (blocks: ReadonlyArray<VideoBlock>): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
