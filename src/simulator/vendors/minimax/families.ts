/** The vendor's models, with the inputs, lengths and resolutions of each. */
import * as ModelFamily from "../ModelFamily.ts"

/** What a video is made from; the vendor derives it from the roles of the content. */
export type Mode = "text" | "frames" | "references"

const standard: ModelFamily.ModelFamily<Mode> = {
  name: "h3",
  ids: /^MiniMax-H3$/,
  modes: {
    text: {},
    frames: { first_frame: 1, last_frame: 1 },
    references: { reference_image: 9, reference_video: 3, reference_audio: 3 }
  },
  seconds: [4, 15],
  choosesSeconds: false,
  resolutions: ["768P", "2K"],
  parameters: ["aigc_watermark", "callback_url"]
}

const families: ReadonlyArray<ModelFamily.ModelFamily<Mode>> = [
  standard,
  {
    ...standard,
    name: "h3 max",
    ids: /^MiniMax-H3-Max$/,
    seconds: [5, 15],
    resolutions: ["480P", "768P"],
    parameters: ["callback_url"]
  }
]

/** The fallback for unknown model ids, which has every resolution. */
const anyFamily = { ...standard, name: "any", resolutions: ["480P", "768P", "2K"] }

/** A model newer than all families, which makes longer videos and more resolutions. */
const newFamily: ModelFamily.ModelFamily<Mode> = {
  ...anyFamily,
  accepts: [1, ModelFamily.longestNewSeconds],
  resolutions: [...anyFamily.resolutions, "720P", "1080P", "4K"]
}

export const familyOf = (model: string): ModelFamily.ModelFamily<Mode> =>
  ModelFamily.familyOf(families, model, ModelFamily.isNewModel(model) ? newFamily : anyFamily)
