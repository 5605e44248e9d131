/**
 * The limits of a model, if they differ from the defaults: the largest inputs and outputs, and what
 * can be ordered of a video model.
 */
import { Schema } from "effect"
import { videoLimitFields } from "../video/videoLimits.ts"

const wholeNumber = (minimum: number, maximum: number, description: string) =>
  Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween(
        { minimum, maximum },
        { expected: `a whole number from ${minimum} to ${maximum}` }
      )
    ).annotate({ description })
  )

/** The default limits of a model. */
export const usualLimits = {
  input_video_seconds: 15,
  input_tokens: 1_000_000,
  output_tokens: 4096,
  image_tokens: 1500,
  thought_tokens: 0
} as const

const MAX_TOKENS = 10_000_000

const sizeFields = {
  input_video_seconds: wholeNumber(
    1,
    3600,
    `Of video models billed by tokens: the most seconds of reference video an order may have; ${usualLimits.input_video_seconds} when left out`
  ),
  input_tokens: wholeNumber(
    1,
    MAX_TOKENS,
    `Of text models: the most input tokens, which an order with media of unknown size is held for; ${usualLimits.input_tokens} when left out`
  ),
  output_tokens: wholeNumber(
    1,
    MAX_TOKENS,
    `Of text models: the output tokens of a choice that are held where the client sets no bound; ${usualLimits.output_tokens} when left out`
  ),
  image_tokens: wholeNumber(
    1,
    MAX_TOKENS,
    `Of text models: the input tokens an image is held for; ${usualLimits.image_tokens} when left out`
  ),
  thought_tokens: wholeNumber(
    1,
    MAX_TOKENS,
    "Of text models whose vendor counts what is thought beside the client's bound: the most output tokens that may be thought for a choice, which are charged above the hold; none when left out"
  )
}

const voicesField = Schema.optionalKey(
  Schema.Array(Schema.NonEmptyString).annotate({
    description:
      "Of models that speak: the only voices that can be ordered, by name or by the id of one's own; any when left out"
  })
)

export const ModelLimits = Schema.Struct({
  ...sizeFields,
  ...videoLimitFields,
  voices: voicesField
}).annotate({
  identifier: "ModelLimits",
  description: "What an order of the model can be, as far as it is not the usual"
})
export type ModelLimits = typeof ModelLimits.Type

/** Every limit of size, either the model's own or the default. */
export type Limits = Readonly<Record<keyof typeof sizeFields, number>>

export const limitsOf = ({ limits }: { readonly limits?: ModelLimits }): Limits =>
  limits === undefined ? usualLimits : { ...usualLimits, ...limits }
