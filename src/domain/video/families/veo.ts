/**
 * The models of Google Veo. The inputs of an order are a text, frames, reference images or a video to
 * extend, and all of them are sent to the same address.
 */
import {
  familyOf,
  type PlaceOrder,
  rolesByForms,
  type VideoFamily,
  type VideoForm
} from "./VideoFamily.ts"

export type VeoMode = "text" | "frames" | "references" | "extension"

type Form = VideoForm<VeoMode>

/** The lengths of every model, in seconds. */
export const veoSeconds = [4, 6, 8] as const
/** The only length of orders with references, or with a resolution above 720p. */
export const FULL_SECONDS = 8
export const veoSecondsAt = { "1080p": [FULL_SECONDS], "4K": [FULL_SECONDS] } as const

const text: Form = { mode: "text", takes: {} }
const firstFrame: Form = { mode: "frames", takes: { first_frame: 1 }, needs: ["first_frame"] }
const frames: Form = {
  mode: "frames",
  takes: { first_frame: 1, last_frame: 1 },
  needs: ["first_frame"]
}
const references: Form = {
  mode: "references",
  takes: { reference_image: 3 },
  needs: ["reference_image"],
  onlySeconds: [FULL_SECONDS]
}

/** The only resolution of a video that is extended, and of the result. */
export const EXTENDED_RESOLUTION = "720p"

/**
 * The vendor adds 7 seconds to a video that it made, and demands a length of 8 in the request. It does
 * not document what it bills, so an extension is priced as the full length of the request, which is
 * not less than the seconds that it adds.
 */
const extension: Form = {
  mode: "extension",
  takes: { extend_video: 1 },
  needs: ["extend_video"],
  onlySeconds: [FULL_SECONDS],
  resolutions: [EXTENDED_RESOLUTION]
}

type VeoFamily = VideoFamily<VeoMode>

const version31 = {
  forms: [text, frames, references, extension],
  seconds: [4, 8],
  onlySeconds: veoSeconds,
  resolutions: ["720p", "1080p", "4K"],
  sound: "always",
  parameters: ["negative_prompt", "person_generation", "seed"]
} satisfies Partial<VeoFamily>

const version30 = {
  ...version31,
  forms: [text, firstFrame],
  resolutions: ["720p", "1080p"]
} satisfies Partial<VeoFamily>

export const veoFamilies: ReadonlyArray<VeoFamily> = [
  { ...version31, name: "Veo 3.1 fast", ids: /veo-3[.-]1-fast/i },
  {
    ...version31,
    name: "Veo 3.1 lite",
    ids: /veo-3[.-]1-lite/i,
    forms: [text, frames],
    resolutions: ["720p", "1080p"]
  },
  { ...version31, name: "Veo 3.1", ids: /veo-3[.-]1(?!\d)/i },
  { ...version30, name: "Veo 3.0 fast", ids: /veo-3[.-]0-fast/i },
  { ...version30, name: "Veo 3.0", ids: /veo-3[.-]0(?!\d)/i }
]

/**
 * The fallback for unknown models, which may have every input but a video to extend; the vendor
 * itself refuses others.
 */
export const unknownVeo: Pick<VeoFamily, "forms" | "sound"> = {
  forms: [text, frames, references],
  sound: "unset"
}

export const veoFormsOf = (upstreamModel: string): Pick<VeoFamily, "forms" | "sound"> =>
  familyOf(veoFamilies, upstreamModel) ?? unknownVeo

export const placeVeo: PlaceOrder = (upstreamModel, blocks) => {
  const family = veoFormsOf(upstreamModel)
  return { roles: rolesByForms(family, blocks), sound: family.sound }
}
