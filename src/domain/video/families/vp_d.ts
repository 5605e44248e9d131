/**
 * The models of vp_d. The vendor's paths end in the name of the model, and most models have only
 * some of the paths.
 */
import { Result } from "effect"
import type { Resolution } from "../tiers.ts"
import type { VideoBlock } from "../VideoInput.ts"
import {
  describeInputs,
  familyOf,
  type PlacedOrder,
  type PlaceOrder,
  placeMedia,
  rolesWith,
  type SoundOfModel,
  type VideoFamily,
  type VideoForm
} from "./VideoFamily.ts"

export type UnifiedMode = "text-to-video" | "image-to-video" | "omni-video"

type Form = VideoForm<UnifiedMode>

const text: Form = { mode: "text-to-video", takes: {} }
const firstFrame: Form = { mode: "image-to-video", takes: { first_frame: 1 } }
const frames: Form = { mode: "image-to-video", takes: { first_frame: 1, last_frame: 1 } }
const omni: Form = {
  mode: "omni-video",
  takes: { first_frame: 1, last_frame: 1, reference_image: 7, reference_video: 1 }
}

/** The form with a video that is changed or continued; frames have no place beside it. */
const baseVideo = (role: "edit_video" | "extend_video"): Form => ({
  mode: "omni-video",
  takes: { reference_image: 4, [role]: 1 },
  needs: [role]
})
const omniForms: ReadonlyArray<Form> = [omni, baseVideo("edit_video"), baseVideo("extend_video")]

/** Matches the vendor's ids and the spellings of relays: `kling-3.0-turbo`, `kling-v3-turbo-cn`. */
const idsOf = (model: string): RegExp => new RegExp(`(?:^|[^a-z0-9])${model}(?:-cn|-glb)?$`, "i")

export const unifiedFamilies: ReadonlyArray<VideoFamily<UnifiedMode>> = [
  {
    name: "Kling O1",
    ids: idsOf("o1"),
    forms: omniForms,
    seconds: [3, 10],
    resolutions: ["720p", "1080p"],
    sound: "never",
    parameters: ["watermark"]
  },
  {
    name: "Kling 3.0 Omni",
    ids: idsOf("omni"),
    forms: omniForms,
    seconds: [3, 15],
    resolutions: ["720p", "1080p", "4K"],
    sound: "switch",
    parameters: ["watermark", "multi_shot"]
  },
  {
    name: "Kling 3.0 Turbo",
    ids: idsOf("kling-v?3(?:[.-]0)?-turbo"),
    forms: [text, firstFrame],
    seconds: [3, 15],
    resolutions: ["720p", "1080p"],
    sound: "always",
    parameters: ["watermark"]
  },
  {
    name: "Kling 3.0",
    ids: idsOf("kling-v?3(?:[.-]0)?"),
    forms: [text, frames],
    seconds: [3, 15],
    resolutions: ["720p", "1080p", "4K"],
    sound: "switch",
    parameters: ["watermark", "multi_shot"]
  },
  {
    name: "Kling 2.6",
    ids: idsOf("kling-v?2[.-]6"),
    forms: [text, frames],
    seconds: [5, 10],
    onlySeconds: [5, 10],
    resolutions: ["720p", "1080p"],
    sound: "switch",
    parameters: ["watermark"]
  },
  {
    name: "Kling 2.5 Turbo",
    ids: idsOf("kling-v?2[.-]5-turbo"),
    forms: [text, firstFrame],
    seconds: [5, 10],
    onlySeconds: [5, 10],
    resolutions: ["720p", "1080p"],
    sound: "never",
    parameters: ["watermark"]
  }
]

/**
 * The fallback for unknown models. The inputs decide the path, and the vendor itself refuses inputs
 * that a model does not support.
 */
export const unknownUnified: Pick<VideoFamily<UnifiedMode>, "forms" | "sound"> = {
  forms: [
    text,
    frames,
    {
      mode: "image-to-video",
      takes: { ...frames.takes, middle_frame: 8 },
      needs: ["middle_frame"]
    },
    { ...omni, takes: { ...omni.takes, reference_audio: 1 } },
    baseVideo("edit_video"),
    baseVideo("extend_video")
  ],
  sound: "switch"
}

/**
 * The input blocks with roles, for a model without a row in the table: an image without a role
 * becomes a reference if the order has other media.
 */
const rolesBesideOthers = (blocks: ReadonlyArray<VideoBlock>): ReadonlyArray<VideoBlock> =>
  blocks.filter(({ type }) => type !== "text").length === 1
    ? blocks
    : blocks.map((block) =>
        block.type === "image" ? { ...block, role: block.role ?? "reference_image" } : block
      )

export const unifiedSound = (upstreamModel: string): SoundOfModel =>
  (familyOf(unifiedFamilies, upstreamModel) ?? unknownUnified).sound

/** Whether a model has the setting for several shots, which is on where it is not sent. */
export const hasMultiShot = (upstreamModel: string): boolean =>
  familyOf(unifiedFamilies, upstreamModel)?.parameters.includes("multi_shot") ?? true

/** The path of an order, with its media; fails with the inputs of the model if it has no path. */
export const placeOnPath = (
  upstreamModel: string,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<PlacedOrder<UnifiedMode>, string> => {
  const known = familyOf(unifiedFamilies, upstreamModel)
  const family = known ?? unknownUnified
  return Result.mapError(
    placeMedia(family, known === null ? rolesBesideOthers(blocks) : blocks),
    () => describeInputs(family)
  )
}

export const placeUnified: PlaceOrder = (upstreamModel, blocks) => ({
  roles: Result.match(placeOnPath(upstreamModel, blocks), {
    onSuccess: ({ media }) => media.map(({ role }) => role),
    onFailure: () => rolesWith(blocks, "reference_image")
  }),
  sound: unifiedSound(upstreamModel)
})

/** The older API, which a relay has, takes a first frame alone, and has a switch for sound. */
export const placeOlderUnified: PlaceOrder = (_, blocks) => ({
  roles: rolesWith(blocks, "first_frame"),
  sound: "switch"
})

/** The resolutions of the vendor's older API, which a relay has, and which names each by a mode. */
export const olderUnifiedResolutions = ["720p", "1080p", "4K"] as const satisfies Array<Resolution>
