/** The vendor's models, grouped by the inputs that they have. */
import * as ModelFamily from "../ModelFamily.ts"

/** What a video is made from; the vendor derives it from the fields of the instance. */
export type Mode = "text" | "image" | "frames" | "references" | "extension"

const text = {}
const firstFrame = { first_frame: 1 }
const frameCounts = { first_frame: 1, last_frame: 1 }
const references = { reference_image: 3 }
const extension = { extend_video: 1 }

const standard31: ModelFamily.ModelFamily<Mode> = {
  name: "veo 3.1",
  ids: /^veo-3\.1-(?:fast-)?generate/,
  modes: { text, image: firstFrame, frames: frameCounts, references, extension },
  seconds: [4, 8],
  onlySeconds: [4, 6, 8],
  choosesSeconds: false,
  resolutions: ["720p", "1080p", "4k"],
  parameters: ["negativePrompt", "personGeneration", "seed"]
}

const families: ReadonlyArray<ModelFamily.ModelFamily<Mode>> = [
  standard31,
  {
    ...standard31,
    name: "veo 3.1 lite",
    ids: /^veo-3\.1-lite-generate/,
    modes: { text, image: firstFrame, frames: frameCounts },
    resolutions: ["720p", "1080p"]
  },
  {
    ...standard31,
    name: "veo 3.0",
    ids: /^veo-3\.0-(?:fast-)?generate/,
    modes: { text, image: firstFrame },
    resolutions: ["720p", "1080p"]
  }
]

/** The fallback for unknown model ids, which has every input. */
const anyFamily = { ...standard31, name: "any" }

/** A model newer than all families, which makes longer videos. */
const newFamily: ModelFamily.ModelFamily<Mode> = {
  name: "new",
  ids: anyFamily.ids,
  modes: anyFamily.modes,
  seconds: [4, 8],
  accepts: [1, ModelFamily.longestNewSeconds],
  choosesSeconds: false,
  resolutions: ["480p", "720p", "1080p", "2k", "4k"],
  parameters: anyFamily.parameters
}

export const familyOf = (model: string): ModelFamily.ModelFamily<Mode> =>
  ModelFamily.familyOf(families, model, ModelFamily.isNewModel(model) ? newFamily : anyFamily)
