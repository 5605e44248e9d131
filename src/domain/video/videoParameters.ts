/**
 * Vendor-specific fields of video orders. Fields that change the price are excluded. Fields by
 * which the video is delivered elsewhere or at another time are excluded as well.
 */
import type { VendorParameter, VendorParameters } from "../catalog/vendorParameters.ts"

/** The vendor fields of a protocol's row. */
export interface VideoParameters {
  /** The parameters by their names in the API. */
  readonly parameters: VendorParameters
  /** Patterns of the model ids that have a parameter, for parameters that only some models have. */
  readonly modelsWith?: Readonly<Record<string, RegExp>>
}

const flag = (description: string, defaultValue?: boolean): VendorParameter => ({
  type: "boolean",
  ...(defaultValue === undefined ? {} : { default: defaultValue }),
  description
})

const seed = (minimum: number, maximum: number, random: string): VendorParameter => ({
  type: "integer",
  minimum,
  maximum,
  description: `Repeats a video as far as the vendor can; ${random} takes another each time`
})

const watermark = flag("Whether the video is marked as made by AI", false)

export const blockParameters: VideoParameters = {
  parameters: {
    seed: seed(-1, 4_294_967_295, "-1"),
    camera_fixed: flag("Whether the camera stands still"),
    watermark,
    return_last_frame: flag("Whether the answer has the last frame as a picture, too", false),
    omni_reference_task_type: {
      type: "choice",
      values: ["auto", "reference", "edit", "extend"],
      description:
        "What the vendor does with input videos; it must agree with their roles, which set it when it is left out"
    }
  }
}

export const unifiedParameters: VideoParameters = {
  parameters: {
    watermark,
    multi_shot: flag("Whether the video may have several shots", true)
  },
  modelsWith: { multi_shot: /^(?!.*turbo)/i }
}

export const tierParameters: VideoParameters = {
  parameters: { seed: seed(0, 2_147_483_647, "0"), watermark }
}

export const cloudParameters: VideoParameters = {
  parameters: {
    seed: seed(0, 2_147_483_647, "leaving it out"),
    watermark,
    negative_prompt: { type: "text", max_length: 500, description: "What is not to be seen" },
    prompt_extend: flag("Whether the vendor rewrites the prompt", true),
    shot_type: {
      type: "choice",
      values: ["single", "multi"],
      description: "One shot or several; only where the prompt is rewritten"
    }
  },
  modelsWith: { shot_type: /(?<!\d)2\.6(?!\d)/ }
}

export const veoParameters: VideoParameters = {
  parameters: {
    seed: seed(0, 4_294_967_295, "leaving it out"),
    negative_prompt: { type: "text", description: "What is not to be seen" },
    person_generation: {
      type: "choice",
      values: ["dont_allow", "allow_adult", "allow_all"],
      description: "Which people may be seen; the vendor allows not every choice everywhere"
    }
  }
}

export const miniMaxParameters: VideoParameters = { parameters: { watermark } }

export const noParameters: VideoParameters = { parameters: {} }
