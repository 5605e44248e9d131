/** What a client may write in a video request. What it comes down to is `VideoInput.ts`. */

import { type Result, Schema } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { Media, MediaRef, ONE_MEDIUM } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { fieldKey } from "../nearest.ts"
import { MAX_PROMPT, Prompt, plainText } from "../plainText.ts"
import {
  anyFields,
  CallbackUrl,
  fieldCheck,
  optional,
  optionalBoolean,
  optionalWholeNumber,
  unknownFields,
  withoutFaults
} from "../requestFields.ts"

/** More than any vendor takes; each has limits of its own, which it tells itself. */
export const MAX_BLOCKS = 64

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
export type ContentBlock = typeof OpenBlock.Type

/** A field that a block does not have is refused: it would order nothing. */
const ContentBlock: Schema.Codec<ContentBlock, typeof OpenBlock.Encoded> = Schema.Union([
  closedBlock(TextBlock),
  closedBlock(ImageBlock),
  closedBlock(AudioBlock),
  closedBlock(ReferenceVideoBlock)
]).annotate({ expected: "a block of type text, image_url, audio_url or video_url" })

const media = (what: string) =>
  optional(Media, `${ONE_MEDIUM}, or an array of them`).annotate({
    description: `${what}: ${ONE_MEDIUM}, or an array of them; ignored beside content`
  })

/** Handed to the upstream unchanged. Without dashes, as resellers may write it into the text. */
const Ratio = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Pd}\u2212]{1,32}$/u, {
    expected: "an aspect ratio such as 16:9"
  })
)
export const isRatio = Schema.is(Ratio)
const Resolution = Schema.String.check(Schema.isMaxLength(32))

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
  metadata: MetadataField,
  callback_url: CallbackUrl
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
    model: ["model_name", "model_id", "engine"],
    callback_url: ["webhook", "webhook_url", "callback", "notify_url", "notify_hook"]
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
