import { Schema } from "effect"

const MediaUrl = Schema.Struct({
  url: Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.|asset:\/\/\S)/))
})

const Block = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.NonEmptyString }),
  Schema.Struct({
    type: Schema.Literal("image_url"),
    image_url: MediaUrl,
    role: Schema.optionalKey(Schema.Literals(["first_frame", "last_frame", "reference_image"]))
  }),
  Schema.Struct({
    type: Schema.Literal("video_url"),
    video_url: MediaUrl,
    role: Schema.Literal("reference_video")
  }),
  Schema.Struct({
    type: Schema.Literal("audio_url"),
    audio_url: MediaUrl,
    role: Schema.Literal("reference_audio")
  })
])

/** The blocks of an order for a video that is billed by tokens. */
export const Content = Schema.Array(Block).check(Schema.isMinLength(1))
export type Content = typeof Content.Type

export const countBlocks = (content: Content, type: Content[number]["type"]): number =>
  content.filter((block) => block.type === type).length

/** All texts, one per line. */
export const textOf = (content: Content): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

const limits = [
  ["image_url", 9],
  ["video_url", 3],
  ["audio_url", 3]
] as const

/** What the vendors refuse about blocks that are fine one by one; undefined when they take them. */
export const contentProblem = (content: Content): string | undefined => {
  for (const [type, limit] of limits) {
    if (countBlocks(content, type) > limit) return `has more than ${limit} ${type} blocks.`
  }
  const images = content.filter((block) => block.type === "image_url")
  const firsts = images.filter(({ role }) => role === "first_frame" || role === undefined).length
  const lasts = images.filter(({ role }) => role === "last_frame").length
  const references = content.length - countBlocks(content, "text") - firsts - lasts
  if (firsts > 1 || lasts > 1) return "has more than one image for the same frame."
  if (lasts > firsts) return "has a last frame without a first frame."
  if (firsts > 0 && references > 0) return "mixes first or last frame with reference media."
  const seen = images.length + countBlocks(content, "video_url")
  return countBlocks(content, "audio_url") > 0 && seen === 0
    ? "has audio without an image or a video."
    : undefined
}
