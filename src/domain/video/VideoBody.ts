/** The request body of a video order. `VideoInput.ts` normalizes it. */

import { Schema } from "effect"
import type { VendorParameters } from "../catalog/vendorParameters.ts"
import {
  MAX_MEDIA,
  Media,
  MediaRef,
  ONE_MEDIUM,
  ONE_VIDEO,
  VideoRef,
  videoRef
} from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { MAX_PROMPT, Prompt, plainText } from "../plainText.ts"
import {
  anyFields,
  CallbackUrl,
  type FieldFault,
  fieldCheck,
  nameList,
  optional,
  optionalBoolean,
  optionalWholeNumber,
  unknownFields
} from "../requestFields.ts"
import { SHOTS, Shots } from "./shots.ts"

/**
 * The maximum number of content blocks, above the limit of every vendor. Vendors enforce their own
 * limits.
 */
const MAX_BLOCKS = 64

const ImageRole = Schema.Literals(["reference_image", "first_frame", "middle_frame", "last_frame"])
export type ImageRole = typeof ImageRole.Type

const VideoRole = Schema.Literals(["reference_video", "edit_video", "extend_video"])
export type VideoRole = typeof VideoRole.Type
const videoRole = optional(
  VideoRole,
  "a role: reference_video, edit_video or extend_video"
).annotate({
  description:
    "What the video is for: a reference (when left out), the video to edit, or the video to extend. An edit has the length of its video. Any video prices the order with video input"
})

const blockType = <T extends string>(type: T) =>
  Schema.Literal(type).annotate({ description: "Tells the blocks apart" })

const TextBlock = Schema.Struct({
  type: blockType("text"),
  text: Prompt.annotate({ description: "What is to be seen; may hold flags" })
})
const ImageBlock = Schema.Struct({
  type: blockType("image_url"),
  role: optional(
    ImageRole,
    "a role: reference_image, first_frame, middle_frame or last_frame"
  ).annotate({
    description:
      "What the image is for. Left out, a lone image is the first frame where the model has one, and else a reference"
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
const VideoUrlBlock = Schema.Struct({
  type: blockType("video_url"),
  role: videoRole,
  video_url: VideoRef
})

const closedBlock = <Fields extends Schema.Struct.Fields>(block: Schema.Struct<Fields>) =>
  Schema.StructWithRest(block, anyFields).check(
    fieldCheck((value) => unknownFields(value, block.fields))
  )

const OpenBlock = Schema.Union([TextBlock, ImageBlock, AudioBlock, VideoUrlBlock])
export type ContentBlock = typeof OpenBlock.Type

/** A content block. Unknown fields of a block are refused, because they would have no effect. */
const ContentBlock: Schema.Codec<ContentBlock, typeof OpenBlock.Encoded> = Schema.Union([
  closedBlock(TextBlock),
  closedBlock(ImageBlock),
  closedBlock(AudioBlock),
  closedBlock(VideoUrlBlock)
]).annotate({ expected: "a block of type text, image_url, audio_url or video_url" })

const media = (what: string) =>
  optional(Media, `${ONE_MEDIUM}, or an array of them`).annotate({
    description: `${what}: ${ONE_MEDIUM}, or an array of them; ignored beside content`
  })

const OneVideo = videoRef({ role: videoRole })
const Videos = Schema.Union([
  OneVideo,
  Schema.Array(OneVideo).check(
    Schema.isMaxLength(MAX_MEDIA, { expected: `at most ${MAX_MEDIA} of them` })
  )
])
export type Videos = typeof Videos.Type
const videos = optional(Videos, `${ONE_VIDEO}, or an array of them`).annotate({
  description: `Input videos: ${ONE_VIDEO}, or an array of them, the objects with a role; ignored beside content`
})

/**
 * An aspect ratio, forwarded unchanged. Dashes are refused, because resellers may write the ratio
 * into the prompt.
 */
const Ratio = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Pd}\u2212]{1,32}$/u, {
    expected: "an aspect ratio such as 16:9"
  })
)
export const isRatio = Schema.is(Ratio)
const Resolution = Schema.String.check(Schema.isMaxLength(32))

/** The longest time for which an order may wait for a place at its channel. */
export const MAX_WAIT_SECONDS = 86_400
export const WaitSeconds = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: MAX_WAIT_SECONDS })
)

const VideoFields = Schema.Struct({
  model: plainText().annotate({ description: "A model of modality video" }),
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
  shots: optional(Shots, SHOTS).annotate({
    description:
      "The shots of the video in their order, in place of prompt: the sum of their seconds is its length. Only of models that have `shots` in `GET /v1/models`"
  }),
  images: media("Images"),
  image: media("Images"),
  image_url: media("Images"),
  audio: media("Reference sound"),
  audio_url: media("Reference sound"),
  audios: media("Reference sound"),
  video: videos,
  video_url: videos,
  videos,
  duration: optionalWholeNumber("a whole number of seconds").annotate({
    description:
      "Output seconds that the model offers, or -1 where it may choose; 5 or the nearest when left out"
  }),
  resolution: optional(Resolution, "a resolution such as 720p").annotate({
    description: "One of the model's resolutions, in any case; 720p when left out"
  }),
  ratio: optional(Ratio, "an aspect ratio such as 16:9").annotate({
    description:
      "Aspect ratio, handed to the vendor unchanged; one of the model's `ratios` where it lists them"
  }),
  generate_audio: optionalBoolean.annotate({
    description: "Whether the video gets a sound track; unrelated to reference sound"
  }),
  user: optional(Schema.String, "a text").annotate({
    description: "Whom the order is for, in the client's own words; not sent to the vendor"
  }),
  metadata: MetadataField,
  callback_url: CallbackUrl,
  max_wait: optional(
    WaitSeconds,
    `a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`
  ).annotate({
    description:
      "Seconds for which the order may wait for a place at a channel that has as many tasks as it may have; refused with 429 when left out"
  })
})

/** The names that the fields of this body have in other APIs. */
const fieldAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    duration: nameList(`
      seconds second length video_length video_duration duration_seconds n_seconds num_frames
      frames duration_ms
    `),
    resolution: ["size", "quality", "definition", "video_size", "video_quality"],
    ratio: ["aspect", "aspect_ratio", "video_ratio"],
    generate_audio: ["sound", "with_audio", "has_audio", "enable_audio", "with_sound"],
    prompt: ["text", "input", "description", "query", "message", "instruction"],
    content: ["contents", "messages", "blocks", "parts"],
    shots: ["multi_prompt", "multi_prompts", "shot_list", "scenes", "segments", "storyboard"],
    image: nameList(`
      img img_url input_image init_image image_uri input_reference first_frame first_frame_image
      start_image image_base64
    `),
    images: ["image_urls", "image_list", "reference_images", "input_images", "img_urls"],
    video: ["input_video", "reference_video", "video_uri"],
    videos: ["video_urls", "reference_videos"],
    audio: ["input_audio", "reference_audio", "audio_uri"],
    audios: ["audio_urls"],
    model: ["model_name", "model_id", "engine"],
    callback_url: ["webhook", "webhook_url", "callback", "notify_url", "notify_hook"]
  }).flatMap(([field, others]) => others.map((other) => [other, field] as const))
)

const VENDOR_FIELD =
  "Only of models that have it: `parameters` of `GET /v1/models` tells what it may be"
const vendorText = optional(Schema.String, "a text").annotate({ description: VENDOR_FIELD })
const vendorBoolean = optionalBoolean.annotate({ description: VENDOR_FIELD })

/** The vendor fields of the built-in protocols; an added protocol may have more. */
const ParameterFields = Schema.Struct({
  seed: optionalWholeNumber("a whole number").annotate({ description: VENDOR_FIELD }),
  negative_prompt: vendorText,
  camera_fixed: vendorBoolean,
  omni_reference_task_type: vendorText,
  return_last_frame: vendorBoolean,
  watermark: vendorBoolean,
  prompt_extend: vendorBoolean,
  multi_shot: vendorBoolean,
  shot_type: vendorText,
  person_generation: vendorText
})

const BodyFields = Schema.Struct({ ...VideoFields.fields, ...ParameterFields.fields })

/**
 * The body of `POST /v1/videos/generations`. Unknown fields are accepted here: which of them are
 * valid depends on the model, and `unknownVideoFields` reports the others.
 */
export const VideoBody: Schema.Codec<typeof BodyFields.Type, typeof BodyFields.Encoded> =
  Schema.StructWithRest(BodyFields, anyFields).annotate({
    identifier: "VideoOrder",
    description:
      "Needs a model and something to make the video from; fields that the model does not have are refused"
  })
export type VideoBody = typeof VideoBody.Type

/** The fields that every video order may have. */
export const videoFieldNames: ReadonlyArray<string> = Object.keys(VideoFields.fields)

/** The vendor fields of an order with a value other than null. */
export const vendorFieldsOf = (body: VideoBody): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => value !== null && !Object.hasOwn(VideoFields.fields, name)
    )
  )

/**
 * Faults for every field that is neither a common field nor one of the parameters, including null
 * fields.
 */
export const unknownVideoFields = (
  body: VideoBody,
  parameters: VendorParameters
): ReadonlyArray<FieldFault> =>
  unknownFields(body, { ...VideoFields.fields, ...parameters }, fieldAliases)
