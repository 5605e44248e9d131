/**
 * Decides the facts of an order before the hold. What the client leaves open is set to the vendor's
 * default and sent, so that nothing is billed that was not ordered.
 */
import { Result } from "effect"
import { familyOf, placeMedia, type VideoFamily } from "./families/VideoFamily.ts"
import type { Resolution } from "./tiers.ts"
import type { VideoInput } from "./VideoInput.ts"
import { familiesOf, type VideoProtocolRow } from "./VideoProtocol.ts"
import type { InputMode, VideoFacts } from "./videoFacts.ts"

/** The forms of a model that no family describes. */
const anyForm: Pick<VideoFamily, "forms"> = {
  forms: [
    { mode: "frames", takes: { first_frame: 1, last_frame: 1 } },
    {
      mode: "references",
      takes: {
        first_frame: 1,
        last_frame: 1,
        reference_image: 1,
        reference_video: 1,
        reference_audio: 1
      }
    }
  ]
}

const modeOf = (
  family: Pick<VideoFamily, "forms">,
  { blocks }: Pick<VideoInput, "blocks">
): InputMode => {
  // Some vendors get media that their family has no form for, and refuse them themselves.
  const placed = Result.orElse(placeMedia(family, blocks), () => placeMedia(anyForm, blocks))
  const roles = new Set(
    Result.isSuccess(placed) ? placed.success.media.map(({ role }) => role) : []
  )
  if (roles.has("reference_image") || roles.has("reference_video")) return "reference"
  if (roles.has("last_frame")) return "frames"
  return roles.has("first_frame") ? "image" : "text"
}

/** How a mount calls a model: the protocol, the protocol it is listed under, the vendor's model. */
export interface VideoCall {
  readonly row: VideoProtocolRow
  readonly listed: VideoProtocolRow | undefined
  readonly upstreamModel: string
}

/** The facts of an order, and the value of `generate_audio` that makes its sound certain. */
export const factsOf = (
  { row, listed, upstreamModel }: VideoCall,
  input: Pick<VideoInput, "blocks" | "generateAudio">,
  resolution: Resolution
): { readonly facts: VideoFacts; readonly generateAudio: boolean | null } => {
  const family = familyOf(familiesOf(row, listed), upstreamModel)
  const vendor = row.relays ? (listed ?? row) : row
  const soundOfModel = family?.sound ?? vendor.soundOfUnknown ?? "unset"
  const ordered = input.generateAudio ?? vendor.soundsByDefault ?? true
  const sounds = { switch: ordered, always: true, never: false, unset: null }
  return {
    facts: {
      resolution,
      sound: sounds[soundOfModel],
      withVideo: input.blocks.some(({ type }) => type === "video"),
      mode: modeOf(family ?? anyForm, input)
    },
    generateAudio: soundOfModel === "switch" ? ordered : input.generateAudio
  }
}
