/** The models of MiniMax H3. All inputs are sent as content blocks with a role each. */
import {
  familyOf,
  type PlaceOrder,
  rolesByForms,
  type VideoFamily,
  type VideoForm
} from "./VideoFamily.ts"

export type MiniMaxMode = "text" | "frames" | "references"

type Form = VideoForm<MiniMaxMode>

const text: Form = { mode: "text", takes: {} }
const frames: Form = { mode: "frames", takes: { first_frame: 1, last_frame: 1 } }
/** `needs` is set because the vendor refuses a sound as the only reference. */
const references: Form = {
  mode: "references",
  takes: { reference_image: 9, reference_video: 3, reference_audio: 3 },
  needs: ["reference_image", "reference_video"]
}

type MiniMaxFamily = VideoFamily<MiniMaxMode>

const standard = {
  forms: [text, frames, references],
  seconds: [4, 15],
  resolutions: ["768p", "2K"],
  sound: "always",
  parameters: ["watermark"]
} satisfies Partial<MiniMaxFamily>

export const miniMaxFamilies: ReadonlyArray<MiniMaxFamily> = [
  {
    ...standard,
    name: "MiniMax H3 Max",
    ids: /(?:minimax|hailuo)[-_]h?3[-_]max/i,
    seconds: [5, 15],
    resolutions: ["480p", "768p"],
    parameters: []
  },
  { ...standard, name: "MiniMax H3", ids: /(?:minimax|hailuo)[-_](?:h3|0?3)(?![\d.])/i }
]

/** The fallback for unknown models; the vendor itself refuses inputs that a model does not have. */
const unknownMiniMax: Pick<MiniMaxFamily, "forms" | "sound"> = {
  forms: standard.forms,
  sound: "unset"
}

export const miniMaxFormsOf = (upstreamModel: string): Pick<MiniMaxFamily, "forms" | "sound"> =>
  familyOf(miniMaxFamilies, upstreamModel) ?? unknownMiniMax

export const placeMiniMax: PlaceOrder = (upstreamModel, blocks) => {
  const family = miniMaxFormsOf(upstreamModel)
  return { roles: rolesByForms(family, blocks), sound: family.sound }
}
