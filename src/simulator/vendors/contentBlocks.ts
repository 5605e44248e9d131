import { Schema } from "effect"
import type { MediaRole } from "./ModelFamily.ts"
import type { ContentFamily, TaskType } from "./vp_a/families.ts"

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
  }),
  Schema.Struct({
    type: Schema.Literal("draft_task"),
    draft_task: Schema.Struct({ id: Schema.NonEmptyString })
  })
])

/** The content blocks of an order for a video that is billed by tokens. */
export const Content = Schema.Array(Block).check(Schema.isMinLength(1))
export type Content = typeof Content.Type

export const countBlocks = (content: Content, type: Content[number]["type"]): number =>
  content.filter((block) => block.type === type).length

/** The texts of all blocks, one per line. */
export const textOf = (content: Content): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/** The role of each medium. A medium whose block states no role gets its default role. */
const rolesOf = (content: Content): ReadonlyArray<MediaRole> => {
  const images = content.filter((block) => block.type === "image_url")
  const otherRoles = content.flatMap((block) =>
    block.type === "video_url" || block.type === "audio_url" ? [block.role] : []
  )
  const withoutRole = images.filter(({ role }) => role === undefined).length
  const isReference =
    withoutRole > 1 ||
    otherRoles.length > 0 ||
    images.some(({ role }) => role === "reference_image")
  const meaning = isReference ? "reference_image" : "first_frame"
  return [...images.map(({ role }) => role ?? meaning), ...otherRoles]
}

const frames: ReadonlySet<MediaRole> = new Set(["first_frame", "last_frame"])

/** The task type that the vendor derives from the content. */
export const taskTypeOf = (content: Content): TaskType => {
  const roles = rolesOf(content)
  if (roles.some((role) => !frames.has(role))) return "r2v"
  if (roles.includes("last_frame")) return "flf2v"
  return roles.length > 0 ? "i2v" : "t2v"
}

/**
 * The fault of a combination of blocks, each of which is valid by itself; undefined where the
 * vendors accept the combination.
 */
export const contentProblem = (
  content: Content,
  { modes, takesSoundAlone }: Pick<ContentFamily, "modes" | "takesSoundAlone">
): string | undefined => {
  const roles = rolesOf(content)
  const count = (role: MediaRole) => roles.filter((one) => one === role).length
  if (count("first_frame") > 1 || count("last_frame") > 1) {
    return "has more than one image for the same frame."
  }
  if (count("last_frame") > count("first_frame")) return "has a last frame without a first frame."
  const frameCount = roles.filter((role) => frames.has(role)).length
  if (frameCount > 0 && frameCount < roles.length)
    return "mixes first or last frame with reference media."
  for (const [type, role] of references) {
    const limit = modes.r2v?.[role]
    if (limit !== undefined && count(role) > limit) return `has more than ${limit} ${type} blocks.`
  }
  const heardAlone = roles.length > 0 && count("reference_audio") === roles.length
  return heardAlone && !takesSoundAlone ? "has audio without an image or a video." : undefined
}

const references = [
  ["image_url", "reference_image"],
  ["video_url", "reference_video"],
  ["audio_url", "reference_audio"]
] as const
