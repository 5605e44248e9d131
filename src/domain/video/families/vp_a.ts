/**
 * The model families of vp_a's vendor. All inputs are sent as content blocks, which accept every
 * role, so these rows refuse nothing: they only tell clients which inputs a model accepts.
 */
import type { ImageRole } from "../VideoBody.ts"
import type { VideoBlock } from "../VideoInput.ts"
import {
  familyOf,
  type PlaceOrder,
  rolesWith,
  type VideoFamily,
  type VideoForm
} from "./VideoFamily.ts"

type ContentForm = VideoForm<"content">

const text: ContentForm = { mode: "content", takes: {} }
const frames: ContentForm = { mode: "content", takes: { first_frame: 1, last_frame: 1 } }

const standard = ["480p", "720p", "1080p"] as const
const common = ["seed", "watermark"]
const withLastFrame = [...common, "return_last_frame"]

type ContentFamily = VideoFamily<"content">

const firstGeneration = {
  forms: [text, frames],
  resolutions: standard,
  parameters: [...common, "camera_fixed"]
} satisfies Partial<ContentFamily>

const secondGeneration = {
  isSmart: true,
  sound: "switch",
  parameters: withLastFrame
} satisfies Partial<ContentFamily>

/**
 * The form with reference media. `needs` is set because the vendor refuses an audio file as the
 * only reference.
 */
const references: ContentForm = {
  mode: "content",
  takes: { reference_image: 9, reference_video: 3, reference_audio: 3 },
  needs: ["reference_image", "reference_video"]
}

const version20 = {
  ...secondGeneration,
  forms: [text, frames, references],
  seconds: [4, 15]
} satisfies Partial<ContentFamily>

/**
 * The model families. Their patterns also accept a dot in the version, as some resellers write it.
 */
export const contentFamilies: ReadonlyArray<ContentFamily> = [
  {
    ...secondGeneration,
    name: "Seedance 2.5",
    ids: /seedance[-_]?v?2[-._]5(?!\d)/i,
    forms: [
      text,
      frames,
      {
        mode: "content",
        takes: {
          reference_image: 30,
          reference_video: 10,
          reference_audio: 10,
          edit_video: 1,
          extend_video: 1
        }
      }
    ],
    parameters: [...withLastFrame, "omni_reference_task_type"],
    seconds: [4, 30],
    resolutions: standard
  },
  {
    ...version20,
    name: "Seedance 2.0 fast",
    ids: /seedance[-_]?v?2[-._]0[-_]fast/i,
    resolutions: ["480p", "720p"]
  },
  {
    ...version20,
    name: "Seedance 2.0 mini",
    ids: /seedance[-_]?v?2[-._]0[-_]mini/i,
    resolutions: ["480p", "720p"]
  },
  {
    ...version20,
    name: "Seedance 2.0",
    ids: /seedance[-_]?v?2[-._]0(?!\d)/i,
    resolutions: [...standard, "4K"]
  },
  {
    ...firstGeneration,
    name: "Seedance 1.5",
    ids: /seedance[-_]?v?1[-._]5(?!\d)/i,
    seconds: [4, 12],
    isSmart: true,
    sound: "switch",
    parameters: [...withLastFrame, "camera_fixed"]
  },
  {
    ...firstGeneration,
    name: "Seedance 1.0",
    ids: /seedance[-_]?v?1[-._]0(?!\d)/i,
    seconds: [2, 12],
    sound: "never"
  }
]

/** What a model without a family may take, as the vendor's ids of endpoints name no model. */
export const anyContent: Pick<ContentFamily, "forms"> = {
  forms: [
    text,
    frames,
    { mode: "content", takes: { ...references.takes, edit_video: 1, extend_video: 1 } }
  ]
}

const takesReferences = (upstreamModel: string): boolean =>
  familyOf(contentFamilies, upstreamModel)?.forms.some(
    ({ takes }) => takes.reference_image !== undefined
  ) ?? true

const isReference = (block: VideoBlock): boolean =>
  block.type === "image" ? block.role === "reference_image" : block.type !== "text"

/**
 * The role that is sent with images to which the client gave none; null sends no role. An image
 * without a role is the first frame to the vendor, and a first frame cannot be combined with
 * references.
 */
export const defaultContentRole = (
  upstreamModel: string,
  blocks: ReadonlyArray<VideoBlock>
): ImageRole | null => {
  const withoutRole = blocks.filter((block) => block.type === "image" && block.role === null)
  const isFirstFrame = withoutRole.length === 1 && !blocks.some(isReference)
  return isFirstFrame || !takesReferences(upstreamModel) ? null : "reference_image"
}

export const placeContent: PlaceOrder = (upstreamModel, blocks) => ({
  roles: rolesWith(blocks, defaultContentRole(upstreamModel, blocks) ?? "first_frame"),
  sound: familyOf(contentFamilies, upstreamModel)?.sound ?? "switch"
})
