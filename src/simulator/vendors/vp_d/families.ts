/** The vendor's models, grouped by the paths that serve them. */
import * as ModelFamily from "../ModelFamily.ts"

export const modes = ["text-to-video", "image-to-video", "omni-video"] as const
export type Mode = (typeof modes)[number]

export interface ClipFamily extends ModelFamily.ModelFamily<Mode> {
  /**
   * Whether the ratio is required where neither a first frame nor a reference video determines it.
   */
  readonly needsRatio: boolean
  readonly multiShot: "free" | "only with a reference video" | "none"
  readonly switchesSound: boolean
  readonly ratios: ReadonlyArray<string>
  /** Whether the video always has sound, on models where sound cannot be switched. */
  readonly hasAlwaysSound?: boolean
}

const text = {}
const firstFrame = { first_frame: 1 }
const frameCounts = { first_frame: 1, last_frame: 1 }
/**
 * The limits of references. The real vendor enforces these numbers; the simulator refuses no order
 * because of them.
 */
const references = {
  ...frameCounts,
  reference_image: 7,
  reference_video: 1,
  edit_video: 1,
  extend_video: 1
}

const common = ["aspect_ratio", "callback_url", "external_task_id", "watermark_info"]
const upTo1080p = ["720p", "1080p"]

const standard: ClipFamily = {
  name: "3.0",
  ids: /^kling-v?3(?:[.-]0)?(?:-cn|-glb)?$/,
  modes: { "text-to-video": text, "image-to-video": frameCounts },
  seconds: [3, 15],
  choosesSeconds: false,
  resolutions: [...upTo1080p, "4k"],
  parameters: [...common, "audio", "multi_shot"],
  needsRatio: false,
  multiShot: "free",
  switchesSound: true,
  ratios: ["16:9", "9:16", "1:1"]
}

const turbo: ClipFamily = {
  ...standard,
  name: "3.0 turbo",
  ids: /turbo/,
  modes: { "text-to-video": text, "image-to-video": firstFrame },
  resolutions: upTo1080p,
  parameters: common,
  multiShot: "none",
  switchesSound: false
}

const families: ReadonlyArray<ClipFamily> = [
  {
    ...standard,
    name: "o1",
    ids: /^kling-(?:.*-)?o1(?:-cn|-glb)?$/,
    modes: { "omni-video": references },
    seconds: [3, 10],
    resolutions: upTo1080p,
    parameters: common,
    needsRatio: true,
    multiShot: "none",
    switchesSound: false
  },
  {
    ...standard,
    name: "omni",
    ids: /^kling-(?:.*-)?omni(?:-cn|-glb)?$/,
    modes: { "omni-video": references },
    needsRatio: true,
    multiShot: "only with a reference video"
  },
  { ...turbo, name: "2.5 turbo", ids: /2[.-]5-turbo/, seconds: [5, 10], onlySeconds: [5, 10] },
  { ...turbo, hasAlwaysSound: true },
  {
    ...standard,
    name: "2.6",
    ids: /^kling-v?2[.-]6(?:-cn|-glb)?$/,
    seconds: [5, 10],
    onlySeconds: [5, 10],
    resolutions: upTo1080p,
    parameters: [...common, "audio"],
    multiShot: "none"
  },
  standard
]

/**
 * The fallbacks for unknown model ids: every mode is supported, but references only where the id
 * ends with `-omni`.
 */
const anyFamily: ClipFamily = { ...standard, name: "any" }
const anyOmni: ClipFamily = {
  ...anyFamily,
  modes: { ...standard.modes, "omni-video": references }
}

/** A model newer than all families makes longer videos, and more resolutions and ratios. */
const asNew = (family: ClipFamily): ClipFamily => ({
  ...family,
  modes: { ...family.modes, "image-to-video": { ...frameCounts, middle_frame: 8 } },
  accepts: [3, ModelFamily.longestNewSeconds],
  resolutions: [...family.resolutions, "768p", "2k"],
  ratios: [...family.ratios, "4:3", "3:4", "21:9"]
})

export const familyOf = (model: string): ClipFamily => {
  const fallback = model.endsWith("-omni") ? anyOmni : anyFamily
  const isNew = ModelFamily.isNewModel(model)
  return ModelFamily.familyOf(families, model, isNew ? asNew(fallback) : fallback)
}
