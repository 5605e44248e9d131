/** The vendor's models, grouped by the paths that serve them. */
import * as ModelFamily from "../ModelFamily.ts"

export const modes = ["text2video", "img2video", "start-end2video", "reference2video"] as const
export type Mode = (typeof modes)[number]

const text = {}
const firstFrame = { first_frame: 1 }
const frameCounts = { first_frame: 1, last_frame: 1 }
const references = { reference_image: 7 }

/**
 * The turbo models, which are served on every path. An order with references must have at least 3
 * seconds.
 */
const turbo: ModelFamily.ModelFamily<Mode> = {
  name: "turbo",
  ids: /^viduq3-turbo(?:-cn|-glb)?$/,
  modes: {
    text2video: text,
    img2video: firstFrame,
    "start-end2video": frameCounts,
    reference2video: references
  },
  seconds: [1, 16],
  choosesSeconds: false,
  resolutions: ["540p", "720p", "1080p"],
  parameters: [
    "aspect_ratio",
    "audio",
    "bgm",
    "callback_url",
    "movement_amplitude",
    "off_peak",
    "payload",
    "seed",
    "style",
    "watermark",
    "wm_position",
    "wm_url"
  ]
}

const families: ReadonlyArray<ModelFamily.ModelFamily<Mode>> = [
  {
    ...turbo,
    name: "reference",
    ids: /^viduq3(?:-mix)?(?:-cn|-glb)?$/,
    modes: { reference2video: references },
    seconds: [3, 16],
    parameters: [...turbo.parameters, "audio_type"]
  },
  {
    ...turbo,
    name: "pro fast",
    ids: /^viduq3-pro-fast(?:-cn|-glb)?$/,
    modes: { img2video: firstFrame }
  },
  {
    ...turbo,
    name: "pro",
    ids: /^viduq3-pro(?:-cn|-glb)?$/,
    modes: { text2video: text, img2video: firstFrame, "start-end2video": frameCounts }
  },
  turbo
]

/** The fallback for unknown model ids, which is served on every path. */
const anyFamily = { ...turbo, name: "any" }

/** A model newer than all families, which makes longer videos and more resolutions. */
const newFamily: ModelFamily.ModelFamily<Mode> = {
  ...anyFamily,
  accepts: [1, ModelFamily.longestNewSeconds],
  resolutions: [...turbo.resolutions, "768p", "2K", "4K"]
}

export const familyOf = (model: string): ModelFamily.ModelFamily<Mode> =>
  ModelFamily.familyOf(families, model, ModelFamily.isNewModel(model) ? newFamily : anyFamily)
