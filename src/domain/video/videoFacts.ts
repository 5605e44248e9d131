/** The facts of a video order that its price may depend on. */
import { Schema } from "effect"
import { Resolution } from "./tiers.ts"

/**
 * What a video is made from: a text alone, a first frame, a first and a last frame, or reference
 * images and videos, with or without frames.
 */
export const InputMode = Schema.Literals(["text", "image", "frames", "reference"])
export type InputMode = typeof InputMode.Type

export const factFields = {
  resolution: Resolution,
  /** Whether the video has sound; null if the model decides and no field can change that. */
  sound: Schema.NullOr(Schema.Boolean),
  /** Whether the order has a reference video. */
  withVideo: Schema.Boolean,
  mode: InputMode
}
/** The names of the facts, as lines of a price table name them. */
export const FactName = Schema.Literals(["resolution", "sound", "input_video", "mode"])
export type FactName = typeof FactName.Type

const VideoFacts = Schema.Struct(factFields)
export type VideoFacts = typeof VideoFacts.Type
