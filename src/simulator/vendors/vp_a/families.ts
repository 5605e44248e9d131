/**
 * The generations of the vendor's models, each with the task types that it supports. The vendor
 * derives the task type from the content.
 */
import type { SizesName } from "../../rendering.ts"
import * as ModelFamily from "../ModelFamily.ts"

/**
 * The task types: from text, from a first frame, from first and last frame, from reference media.
 */
export type TaskType = "t2v" | "i2v" | "flf2v" | "r2v"

export interface ContentFamily extends ModelFamily.ModelFamily<TaskType> {
  readonly makesSound: boolean
  /** Whether an audio may be the only reference. */
  readonly takesSoundAlone: boolean
  /** Whether an order without media may let the model choose the ratio. */
  readonly adaptsToText: boolean
  /** The table of sizes for the resolutions. */
  readonly sizes: SizesName
}

const common = [
  "callback_url",
  "execution_expires_after",
  "generate_audio",
  "ratio",
  "seed",
  "watermark"
]
const withLastFrame = [...common, "return_last_frame"]

const text = {}
const firstFrame = { first_frame: 1 }
const frameCounts = { first_frame: 1, last_frame: 1 }

const pro10: ContentFamily = {
  name: "seedance 1.0",
  ids: /seedance-1[-.]0/,
  modes: { t2v: text, i2v: firstFrame, flf2v: frameCounts },
  seconds: [2, 12],
  choosesSeconds: false,
  resolutions: ["480p", "720p", "1080p"],
  parameters: [...common, "camera_fixed", "frames", "service_tier"],
  makesSound: false,
  takesSoundAlone: false,
  adaptsToText: false,
  sizes: "older"
}

const pro15: ContentFamily = {
  ...pro10,
  name: "seedance 1.5",
  ids: /seedance-1[-.]5/,
  seconds: [4, 12],
  choosesSeconds: true,
  parameters: [...withLastFrame, "camera_fixed", "draft", "service_tier"],
  makesSound: true,
  adaptsToText: true
}

const standard20: ContentFamily = {
  ...pro15,
  name: "seedance 2.0",
  ids: /seedance-2[-.]0/,
  modes: {
    t2v: text,
    i2v: firstFrame,
    flf2v: frameCounts,
    r2v: { reference_image: 9, reference_video: 3, reference_audio: 3 }
  },
  seconds: [4, 15],
  resolutions: ["480p", "720p", "1080p", "4k"],
  parameters: [...withLastFrame, "priority"],
  sizes: "newer"
}

const standard25: ContentFamily = {
  ...standard20,
  name: "seedance 2.5",
  ids: /seedance-2[-.]5/,
  modes: {
    ...standard20.modes,
    r2v: {
      reference_image: 30,
      reference_video: 10,
      reference_audio: 10,
      edit_video: 1,
      extend_video: 1
    }
  },
  seconds: [4, 30],
  resolutions: ["480p", "720p", "1080p"],
  parameters: [...withLastFrame, "omni_reference_task_type", "output_format", "priority"],
  takesSoundAlone: true,
  sizes: "2.5"
}

const families: ReadonlyArray<ContentFamily> = [
  {
    ...pro10,
    name: "seedance 1.0 fast",
    ids: /seedance-1[-.]0-pro-fast/,
    modes: { t2v: text, i2v: firstFrame }
  },
  pro10,
  pro15,
  {
    ...standard20,
    name: "seedance 2.0 fast and mini",
    ids: /seedance-2[-.]0-(?:fast|mini)/,
    resolutions: ["480p", "720p"]
  },
  standard20,
  standard25
]

/** The fallback for unknown model ids: it works like the newer models and supports every option. */
const anyFamily: ContentFamily = {
  ...standard20,
  name: "any",
  parameters: [...new Set(families.flatMap(({ parameters }) => parameters))]
}

/** A model newer than all families, which makes longer videos and more resolutions. */
const newFamily: ContentFamily = {
  ...anyFamily,
  accepts: [4, ModelFamily.longestNewSeconds],
  resolutions: [...anyFamily.resolutions, "768p", "2k"]
}

export const familyOf = (model: string): ContentFamily =>
  ModelFamily.familyOf(families, model, ModelFamily.isNewModel(model) ? newFamily : anyFamily)
