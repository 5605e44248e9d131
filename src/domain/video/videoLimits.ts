/**
 * What can be ordered of a video model, where the operator states it: the limits of a model replace
 * those of its protocol's row, and the limits of a mount narrow those of its model.
 */
import { Predicate, Schema } from "effect"
import { MAX_PROMPT } from "../plainText.ts"
import type { InputRole } from "./families/VideoFamily.ts"
import { Ratio } from "./sizes.ts"
import { Resolution } from "./tiers.ts"

/** The longest video that a model can be given as its limit, in seconds. */
const MAX_SECONDS = 3600
/** The largest number of media of one role, which is the most that an order can hold. */
const MAX_INPUTS = 64

const wholeNumber = (minimum: number, maximum: number) =>
  Schema.Int.check(
    Schema.isBetween(
      { minimum, maximum },
      { expected: `a whole number from ${minimum} to ${maximum}` }
    )
  )

const Second = wholeNumber(1, MAX_SECONDS)
const SECONDS = 'the least and the most seconds as [3, 30], or {"one_of": [4, 6, 8]}'

/** The least and the most of whole seconds. */
export const SecondsSpan = Schema.Tuple([Second, Second])

export const SecondsLimit = Schema.Union([
  SecondsSpan,
  Schema.Struct({
    one_of: Schema.Array(Second).annotate({ description: "The only seconds that can be ordered" })
  })
]).annotate({ expected: SECONDS })
export type SecondsLimit = typeof SecondsLimit.Type

const inputs = (description: string) =>
  Schema.optionalKey(wholeNumber(0, MAX_INPUTS).annotate({ description }))

/** The largest number of media by role; a role that is left out is not accepted. */
export const InputLimits = Schema.Struct({
  first_frame: inputs("Pictures that the video begins with"),
  middle_frame: inputs("Pictures between the first and the last one"),
  last_frame: inputs("Pictures that it ends with"),
  reference_image: inputs("Reference pictures"),
  reference_video: inputs("Reference videos"),
  reference_audio: inputs("Reference sounds"),
  edit_video: inputs("Videos to edit"),
  extend_video: inputs("Videos to extend")
} satisfies Record<InputRole, unknown>)
export type InputLimits = typeof InputLimits.Type

/** The limits of video models; what is left out stays as the protocol's row has it. */
export const videoLimitFields = {
  seconds: Schema.optionalKey(
    SecondsLimit.annotate({
      description: `Of video models: whole output seconds, ${SECONDS}; the protocol's bounds when left out`
    })
  ),
  smart: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Of video models: whether -1 can be ordered, which lets the model choose its length; not of models billed by ordered seconds"
    })
  ),
  resolutions: Schema.optionalKey(
    Schema.Array(Resolution).annotate({
      description: "Of video models: the resolutions; those of the protocol when left out"
    })
  ),
  ratios: Schema.optionalKey(
    Schema.Array(Ratio).annotate({
      description: "Of video models: the only aspect ratios that can be ordered"
    })
  ),
  inputs: Schema.optionalKey(
    InputLimits.annotate({
      description:
        "Of video models: the most media of each role; a role that is left out is not accepted"
    })
  ),
  max_prompt: Schema.optionalKey(
    wholeNumber(1, MAX_PROMPT).annotate({
      description: "Of video models: the most characters of all texts of an order"
    })
  ),
  silent: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Of video models: false where a video without sound cannot be ordered"
    })
  ),
  sound: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Of video models: false where a video with sound cannot be ordered"
    })
  )
}

/** The limits of a mount. */
export const VideoLimits = Schema.Struct(videoLimitFields).annotate({
  identifier: "VideoLimits",
  description: "What the channel takes of a video model, where that is less than the model's limits"
})
export type VideoLimits = typeof VideoLimits.Type

export const hasOneOf = (
  seconds: SecondsLimit
): seconds is Extract<SecondsLimit, { readonly one_of: unknown }> =>
  Predicate.hasProperty(seconds, "one_of")

/** The seconds of a closed interval, in order. */
export const secondsBetween = ([min, max]: readonly [number, number]): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, max - min + 1) }, (_, index) => min + index)

/** The seconds of a limit, in order. */
export const secondsOfLimit = (limit: SecondsLimit): ReadonlyArray<number> =>
  hasOneOf(limit) ? limit.one_of.toSorted((one, other) => one - other) : secondsBetween(limit)

/** The smallest interval that holds all the seconds. */
export const spanOf = (seconds: ReadonlyArray<number>): readonly [min: number, max: number] => [
  Math.min(...seconds),
  Math.max(...seconds)
]

/** Seconds for people: runs of three or more as intervals, such as `3 to 10, 12`. */
export const describeSeconds = (seconds: ReadonlyArray<number>): string => {
  const runs: Array<[first: number, last: number]> = []
  for (const second of seconds) {
    const run = runs.at(-1)
    if (run !== undefined && second === run[1] + 1) run[1] = second
    else runs.push([second, second])
  }
  return runs
    .map(([first, last]) => {
      if (first === last) return String(first)
      return last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`
    })
    .join(", ")
}
