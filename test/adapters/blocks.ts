/** Blocks of orders, and the media addresses all new wire cases use. */

import type { ImageRole } from "../../src/domain/video/VideoBody.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import { textBlock } from "./support.ts"

export const PROMPT = "a lighthouse at dusk"
export const IMAGE = "https://x.test/1.png"
export const SECOND_IMAGE = "https://x.test/2.png"
export const AUDIO = "https://x.test/a.mp3"
export const VIDEO = "https://x.test/v.mp4"
export const OUTPUT = "https://files.test/o.mp4?Expires=1"

export const prompt = textBlock(PROMPT)
/** The role is null where the client wrote none. */
export const image = (
  url: string = IMAGE,
  role: ImageRole | null = "reference_image"
): VideoBlock => ({
  type: "image",
  role,
  url
})
export const audio: VideoBlock = { type: "audio", url: AUDIO }
export const video: VideoBlock = { type: "video", url: VIDEO }

/** Content blocks of these on the wire. */
export const wireText = { type: "text", text: PROMPT }
export const wireImage = (url: string = IMAGE, role: ImageRole | null = "reference_image") => ({
  type: "image_url",
  ...(role === null ? {} : { role }),
  image_url: { url }
})
export const wireAudio = {
  type: "audio_url",
  role: "reference_audio",
  audio_url: { url: AUDIO }
}
export const wireVideo = {
  type: "video_url",
  role: "reference_video",
  video_url: { url: VIDEO }
}

/** A finished task of a protocol that is billed by ordered seconds. */
export const done = {
  _tag: "Succeeded",
  videoUrl: OUTPUT,
  usage: { completionTokens: null, outputSeconds: null }
} as const
export const processing = { _tag: "Processing" } as const
export const unknown = { _tag: "Unknown" } as const
export const failed = (code: string, message: string) =>
  ({ _tag: "Failed", code, message }) as const
