/**
 * The models of vp_e. Each model has some of the vendor's four paths, and each path accepts images
 * of one role.
 */
import {
  familyOf,
  type PlaceOrder,
  rolesByForms,
  type VideoFamily,
  type VideoForm
} from "./VideoFamily.ts"

export type TierMode = "text2video" | "img2video" | "start-end2video" | "reference2video"

type Form = VideoForm<TierMode>

const text: Form = { mode: "text2video", takes: {} }
const firstFrame: Form = { mode: "img2video", takes: { first_frame: 1 }, needs: ["first_frame"] }
const frames: Form = {
  mode: "start-end2video",
  takes: { first_frame: 1, last_frame: 1 },
  needs: ["last_frame"]
}
const references: Form = {
  mode: "reference2video",
  takes: { reference_image: 7 },
  needs: ["reference_image"]
}

const everyPath: ReadonlyArray<Form> = [text, firstFrame, frames, references]

const tier = (
  name: string,
  family: Pick<VideoFamily<TierMode>, "forms"> & Partial<VideoFamily<TierMode>>
): VideoFamily<TierMode> => ({
  name,
  ids: new RegExp(`(?:^|[^a-z0-9])${name}(?:-cn|-glb)?$`, "i"),
  seconds: [1, 16],
  resolutions: ["540p", "720p", "1080p"],
  sound: "switch",
  parameters: ["seed", "watermark"],
  ...family
})

export const tierFamilies: ReadonlyArray<VideoFamily<TierMode>> = [
  tier("viduq3", { forms: [references], seconds: [3, 16] }),
  tier("viduq3-mix", { forms: [references], seconds: [3, 16] }),
  tier("viduq3-pro", { forms: [text, firstFrame, frames] }),
  tier("viduq3-pro-fast", { forms: [firstFrame] }),
  tier("viduq3-turbo", { forms: everyPath })
]

/**
 * The fallback for unknown models. The images decide the path, and the vendor itself refuses images
 * that a model does not support.
 */
const unknownTier: Pick<VideoFamily<TierMode>, "forms"> = {
  forms: everyPath
}

export const tierFormsOf = (upstreamModel: string): Pick<VideoFamily<TierMode>, "forms"> =>
  familyOf(tierFamilies, upstreamModel) ?? unknownTier

export const placeTier: PlaceOrder = (upstreamModel, blocks) => ({
  roles: rolesByForms(tierFormsOf(upstreamModel), blocks),
  sound: "switch"
})
