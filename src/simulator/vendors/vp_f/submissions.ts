import { type Effect, Schema } from "effect"
import { decodeBody, type Refusal, refusedField } from "../../Vendor.ts"
import { ofFault } from "../cloud.ts"
import type { CloudFamily } from "./families.ts"

const optional = Schema.optionalKey

const Model = Schema.NonEmptyString
const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))
const prompt = (maxCharacters: number) =>
  Schema.NonEmptyString.check(Schema.isMaxLength(maxCharacters))
const Prompt26 = prompt(1500)
const Prompt27 = prompt(5000)
const Prompt30 = prompt(20000)
const NegativePrompt = optional(Schema.String.check(Schema.isMaxLength(500)))
const wholeNumber = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const media = <const T extends ReadonlyArray<string>>(...types: T) =>
  optional(
    Schema.Array(
      Schema.Struct({ type: Schema.Literals(types), url: Url, reference_voice: optional(Url) })
    )
  )

const common = {
  duration: optional(Schema.Int),
  prompt_extend: optional(Schema.Boolean),
  watermark: optional(Schema.Boolean),
  seed: optional(wholeNumber(0, 2147483647))
}
const tierFields = { ...common, resolution: optional(Schema.String) }
const withSize = { ...common, size: optional(Schema.String) }
const shotType = optional(Schema.Literals(["single", "multi"]))
const audio = optional(Schema.Boolean)
const ratio = optional(Schema.Literals(["16:9", "9:16", "1:1", "4:3", "3:4"]))

/** Media fields that a text model refuses. */
const noMedia = { img_url: refusedField, media: refusedField, reference_urls: refusedField }

const Text26 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    ...noMedia,
    prompt: Prompt26,
    negative_prompt: NegativePrompt,
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct({ ...withSize, shot_type: shotType })
})

const Text27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    ...noMedia,
    prompt: Prompt27,
    negative_prompt: NegativePrompt,
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct({ ...tierFields, ratio })
})

const Image26 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt26,
    negative_prompt: NegativePrompt,
    img_url: Url,
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct({ ...tierFields, shot_type: shotType, audio })
})

const Image27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: optional(Prompt27),
    negative_prompt: NegativePrompt,
    media: media("first_frame", "last_frame", "driving_audio", "first_clip")
  }),
  parameters: Schema.Struct(tierFields)
})

const Reference26 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt26,
    negative_prompt: NegativePrompt,
    reference_urls: Schema.Array(Url)
  }),
  parameters: Schema.Struct({ ...withSize, shot_type: shotType, audio })
})

const Reference27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt27,
    negative_prompt: NegativePrompt,
    media: media("reference_image", "reference_video", "first_frame")
  }),
  parameters: Schema.Struct({ ...tierFields, ratio })
})

const All30 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: optional(Prompt30),
    media: media(
      "first_frame",
      "last_frame",
      "reference_image",
      "reference_video",
      "reference_audio"
    )
  }),
  parameters: Schema.Struct({
    ...tierFields,
    ratio: optional(Schema.Literals(["adaptive", "16:9", "9:16", "1:1", "4:3", "3:4", "21:9"])),
    audio
  })
})

/** A request for any model. */
export interface Submission {
  readonly input: {
    readonly prompt?: string
    readonly img_url?: string
    readonly audio_url?: string
    readonly media?: ReadonlyArray<{
      readonly type: string
      readonly url: string
      readonly reference_voice?: string
    }>
    readonly reference_urls?: ReadonlyArray<string>
  }
  readonly parameters: {
    readonly duration?: number
    readonly prompt_extend?: boolean
    readonly resolution?: string
    readonly size?: string
    readonly ratio?: string
    readonly audio?: boolean
  }
}

const lenient = { unknownFields: "ignored", refuse: ofFault } as const

export const decodeModel = decodeBody(Schema.Struct({ model: Model }), lenient)
const decodeText26 = decodeBody(Text26, lenient)
const decodeText27 = decodeBody(Text27, lenient)
const decodeImage26 = decodeBody(Image26, lenient)
const decodeImage27 = decodeBody(Image27, lenient)
const decodeReference26 = decodeBody(Reference26, lenient)
const decodeReference27 = decodeBody(Reference27, lenient)
const decodeAll30 = decodeBody(All30, lenient)

/**
 * Returns the reader of request bodies for a family's models; it ignores fields that only other
 * models have.
 */
export const readerOf = ({
  mode,
  version
}: CloudFamily): ((body: unknown) => Effect.Effect<Submission, Refusal>) => {
  const older = version === "2.6"
  switch (mode) {
    case "text":
      return older ? decodeText26 : decodeText27
    case "image":
      return older ? decodeImage26 : decodeImage27
    case "reference":
      return older ? decodeReference26 : decodeReference27
    case "all":
      return decodeAll30
  }
}
