/**
 * Shots of a video: an order may list them with their texts and lengths in place of one prompt. Each
 * shot is a text block with its seconds, so that its text counts wherever the prompt counts.
 */
import { Result, Schema } from "effect"
import { InvalidRequest } from "../Errors.ts"
import { MAX_PROMPT, Prompt } from "../plainText.ts"
import { anyFields, fieldCheck, unknownFields } from "../requestFields.ts"

/** The most shots of one order, above the limit of every vendor. */
export const MAX_SHOTS = 64
/** The longest shot of an order, which is the longest video of any model. */
const MAX_SHOT_SECONDS = 3600

const SECONDS = `a whole number of seconds from 1 to ${MAX_SHOT_SECONDS}`

const shotFields = {
  prompt: Prompt.annotate({
    expected: `a text of at most ${MAX_PROMPT} characters`,
    description: "What is to be seen in the shot; may hold flags, which count for the whole video"
  }),
  seconds: Schema.Number.check(
    Schema.isInt({ expected: SECONDS }),
    Schema.isBetween({ minimum: 1, maximum: MAX_SHOT_SECONDS }, { expected: SECONDS })
  ).annotate({ description: "The length of the shot" })
}

const shotAliases = new Map([
  ["duration", "seconds"],
  ["length", "seconds"],
  ["text", "prompt"]
])

const OpenShot = Schema.Struct(shotFields)

/** A shot. Unknown fields are refused, because they would have no effect. */
const Shot: Schema.Codec<typeof OpenShot.Type, typeof OpenShot.Encoded> = Schema.StructWithRest(
  OpenShot,
  anyFields
).check(fieldCheck((value) => unknownFields(value, shotFields, shotAliases)))

/** What a list of shots is, as errors say it. */
export const SHOTS = `an array of 1 to ${MAX_SHOTS} shots {prompt, seconds}`

export const Shots = Schema.Array(Shot).check(
  Schema.isMinLength(1, { expected: SHOTS }),
  Schema.isMaxLength(MAX_SHOTS, { expected: SHOTS })
)
export type Shots = typeof Shots.Type

/** What a model takes of shots. */
export interface ShotLimits {
  /** The largest number of shots. */
  readonly most: number
  /** The shortest and the longest shot, in whole seconds. */
  readonly seconds: readonly [min: number, max: number]
}

/** A text of an order. */
export interface TextBlock {
  readonly type: "text"
  readonly text: string
  /** The length of the shot that the text describes; missing for a text of the whole video. */
  readonly shotSeconds?: number
}

interface ShotBlock extends TextBlock {
  readonly shotSeconds: number
}

/** A block of an order, of which only texts matter here. */
type Block = TextBlock | { readonly type: "image" | "audio" | "video" }

/** The shots of an order as blocks, in their order. */
export const shotBlocks = (shots: Shots): ReadonlyArray<ShotBlock> =>
  shots.map(({ prompt, seconds }) => ({ type: "text", text: prompt, shotSeconds: seconds }))

/** The shots among the blocks of an order, in their order; empty for an order without shots. */
export const shotsOf = (
  blocks: ReadonlyArray<Block>
): ReadonlyArray<{ readonly text: string; readonly seconds: number }> =>
  blocks.flatMap((block) =>
    block.type === "text" && block.shotSeconds !== undefined
      ? [{ text: block.text, seconds: block.shotSeconds }]
      : []
  )

/** The length of the shots together, which is the length of their video. */
export const secondsOfShots = (shots: Shots): number =>
  shots.reduce((sum, { seconds }) => sum + seconds, 0)

const refuse = (param: string, message: string) =>
  Result.fail(new InvalidRequest({ message: `${param}: ${message}`, param }))

/** Refuses shots that the model does not take; `limits` is undefined for a model without shots. */
export const checkShots = (
  limits: ShotLimits | undefined,
  blocks: ReadonlyArray<Block>
): Result.Result<void, InvalidRequest> => {
  const shots = shotsOf(blocks)
  if (shots.length === 0) return Result.void
  if (limits === undefined) {
    return refuse("shots", "This model takes no list of shots; give one prompt and a duration")
  }
  const { most, seconds: span } = limits
  if (shots.length > most) {
    return refuse("shots", `Expected at most ${most} shots for this model, not ${shots.length}`)
  }
  const [min, max] = span
  const index = shots.findIndex(({ seconds }) => seconds < min || seconds > max)
  return index === -1
    ? Result.void
    : refuse(
        `shots[${index}].seconds`,
        `Expected ${min} to ${max} seconds for a shot of this model, not ${shots[index]?.seconds}`
      )
}

/** The limits of several offers together; undefined if none takes shots. */
export const shotLimitsTogether = (limits: ReadonlyArray<ShotLimits>): ShotLimits | undefined =>
  limits.length === 0
    ? undefined
    : {
        most: Math.max(...limits.map(({ most }) => most)),
        seconds: [
          Math.min(...limits.map(({ seconds: [min] }) => min)),
          Math.max(...limits.map(({ seconds: [, max] }) => max))
        ]
      }
