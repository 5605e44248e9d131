/** The cloud's models, by version and by the input they start from. */
import * as ModelFamily from "../ModelFamily.ts"

type Mode = "text" | "image" | "reference" | "all"
type Version = "2.6" | "2.7" | "3.0"

export interface CloudFamily extends ModelFamily.ModelFamily<Mode> {
  readonly mode: Mode
  /** The version of the request form; models older than 2.6 have the form of 2.6. */
  readonly version: Version
  /** Whether the sound can be switched off; the videos of all other models always have sound. */
  readonly switchesSound: boolean
}

const common = ["prompt_extend", "seed", "watermark"]
const upTo1080p = ["720P", "1080P"]
const fields26 = [...common, "negative_prompt", "shot_type"]
const fields27 = [...common, "negative_prompt", "ratio"]

const references = { reference_image: 5, reference_video: 3 }

const text26: CloudFamily = {
  name: "2.6 text",
  ids: /2\.[0-6]/,
  mode: "text",
  version: "2.6",
  modes: { text: { reference_audio: 1 } },
  seconds: [2, 15],
  choosesSeconds: false,
  resolutions: upTo1080p,
  parameters: [...fields26, "size"],
  switchesSound: false
}

const image26: CloudFamily = {
  ...text26,
  name: "2.6 image",
  ids: /2\.[0-6].*i2v/,
  mode: "image",
  modes: { image: { first_frame: 1, reference_audio: 1 } },
  parameters: fields26
}

const reference26: CloudFamily = {
  ...text26,
  name: "2.6 reference",
  ids: /2\.[0-6].*r2v/,
  mode: "reference",
  modes: { reference: references },
  seconds: [2, 10]
}

const text27: CloudFamily = {
  ...text26,
  name: "2.7 text",
  ids: /t2v/,
  version: "2.7",
  parameters: fields27
}

const image27: CloudFamily = {
  ...text27,
  name: "2.7 image",
  ids: /i2v/,
  mode: "image",
  modes: { image: { first_frame: 1, last_frame: 1, reference_audio: 1, extend_video: 1 } },
  parameters: [...common, "negative_prompt"]
}

const reference27: CloudFamily = {
  ...text27,
  name: "2.7 reference",
  ids: /r2v/,
  mode: "reference",
  modes: { reference: { ...references, first_frame: 1 } }
}

const withSwitch = (family: CloudFamily, name: string, ids: RegExp): CloudFamily => ({
  ...family,
  name,
  ids,
  parameters: [...family.parameters, "audio"],
  switchesSound: true
})

const version3: CloudFamily = {
  name: "3.0",
  ids: /wan-?3|3\.0-video/,
  mode: "all",
  version: "3.0",
  modes: {
    all: {
      first_frame: 1,
      last_frame: 1,
      reference_image: 10,
      reference_video: 5,
      reference_audio: 5
    }
  },
  seconds: [2, 30],
  choosesSeconds: true,
  resolutions: ["480P", ...upTo1080p],
  parameters: [...common, "audio", "ratio"],
  switchesSound: true
}

const families: ReadonlyArray<CloudFamily> = [
  version3,
  withSwitch(image26, "2.6 image flash", /2\.[0-6].*i2v-flash/),
  withSwitch(reference26, "2.6 reference flash", /2\.[0-6].*r2v-flash/),
  image26,
  reference26,
  text26,
  text27,
  image27,
  reference27
]

/** Matches the ids of the versions that the families describe. */
const knownVersion = /(?<!\d)(?:[01]\.\d|2\.[0-7]|3\.0)(?!\d)/

/**
 * Finds the family of a model. Ids without a mode are treated as text models of version 2.7. A model
 * newer than all families makes longer videos and more resolutions.
 */
export const familyOf = (model: string): CloudFamily => {
  const family = ModelFamily.familyOf(families, model, { ...text27, name: "any" })
  if (knownVersion.test(model) || !ModelFamily.isNewModel(model)) return family
  return {
    ...family,
    accepts: [family.seconds[0], ModelFamily.longestNewSeconds],
    resolutions: ["480P", "720P", "768P", "1080P", "2K", "4K"]
  }
}
