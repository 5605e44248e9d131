/**
 * Decides the facts of an order before the hold. What the client leaves open is set to the vendor's
 * default and sent, so that nothing is billed that was not ordered.
 */
import type { InputRole } from "./families/VideoFamily.ts"
import type { Resolution } from "./tiers.ts"
import type { VideoInput } from "./VideoInput.ts"
import { placeOrder, type VideoCall } from "./VideoProtocol.ts"
import type { InputMode, VideoFacts } from "./videoFacts.ts"

const references: ReadonlyArray<InputRole> = [
  "reference_image",
  "reference_video",
  "edit_video",
  "extend_video"
]

const modeOf = (roles: ReadonlySet<InputRole>): InputMode => {
  if (references.some((role) => roles.has(role))) return "reference"
  if (roles.has("last_frame") || roles.has("middle_frame")) return "frames"
  return roles.has("first_frame") ? "image" : "text"
}

/**
 * The facts of an order, the number of images that are sent as references, and the value of
 * `generate_audio` that makes its sound certain.
 */
export const factsOf = (
  call: VideoCall,
  { blocks, generateAudio }: Pick<VideoInput, "blocks" | "generateAudio">,
  resolution: Resolution
): {
  readonly facts: VideoFacts
  readonly referenceImages: number
  readonly generateAudio: boolean | null
} => {
  const { row, listed } = call
  const vendor = row.relays ? (listed ?? row) : row
  const { roles, sound: soundOfModel } = placeOrder(call, blocks)
  const ordered = generateAudio ?? vendor.soundsByDefault ?? true
  const sounds = { switch: ordered, always: true, never: false, unset: null }
  return {
    facts: {
      resolution,
      sound: sounds[soundOfModel],
      withVideo: blocks.some(({ type }) => type === "video"),
      mode: modeOf(new Set(roles))
    },
    referenceImages: roles.filter((role) => role === "reference_image").length,
    generateAudio: soundOfModel === "switch" ? ordered : generateAudio
  }
}
