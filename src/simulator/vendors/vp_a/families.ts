/** The generations of the vendor's models, by the task types that it derives from the content. */
import type { SizesName } from "../../rendering.ts"
import * as ModelFamily from "../ModelFamily.ts"

/** Text, first frame, first and last frame, reference media. */
export type TaskType = "t2v" | "i2v" | "flf2v" | "r2v"

export interface ContentFamily extends ModelFamily.ModelFamily<TaskType> {
  readonly makesSound: boolean
  /** Whether a sound may be the only reference. */
  readonly takesSoundAlone: boolean
  /** Whether a text alone may leave the ratio to the model. */
  readonly adaptsToText: boolean
  /** Which sizes the resolutions are rendered in. */
  readonly sizes: SizesName
}

const common = [
  "callback_url",
  "execution_expires_after",
  "generate_audio",
  "ratio",
  "return_last_frame",
  "seed",
  "watermark"
]

const text = {}
const firstFrame = { first_frame: 1 }
const bothFrames = { first_frame: 1, last_frame: 1 }

const pro10: ContentFamily = {
  name: "seedance 1.0",
  ids: /seedance-1[-.]0/,
  modes: { t2v: text, i2v: firstFrame, flf2v: bothFrames },
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
  parameters: [...common, "camera_fixed", "draft", "service_tier"],
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
    flf2v: bothFrames,
    r2v: { reference_image: 9, reference_video: 3, reference_audio: 3 }
  },
  seconds: [4, 15],
  resolutions: ["480p", "720p", "1080p", "4k"],
  parameters: [...common, "priority"],
  sizes: "newer"
}

const standard25: ContentFamily = {
  ...standard20,
  name: "seedance 2.5",
  ids: /seedance-2[-.]5/,
  modes: {
    ...standard20.modes,
    r2v: { reference_image: 30, reference_video: 10, reference_audio: 10 }
  },
  seconds: [4, 30],
  resolutions: ["480p", "720p", "1080p"],
  parameters: [...common, "omni_reference_task_type", "output_format", "priority"],
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

/** Ids of no family are served as the newer models are, with every option there is. */
const anyFamily: ContentFamily = {
  ...standard20,
  name: "any",
  parameters: [...new Set(families.flatMap(({ parameters }) => parameters))]
}

export const familyOf = (model: string): ContentFamily =>
  ModelFamily.familyOf(families, model, anyFamily)
