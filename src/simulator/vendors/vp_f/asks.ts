import { type Effect, Schema } from "effect"
import { decodeBody, type Refusal } from "../../Vendor.ts"
import { ofFault } from "../cloud.ts"

const optional = Schema.optionalKey

const Model = Schema.NonEmptyString
const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))
const prompt = (maxCharacters: number) =>
  Schema.NonEmptyString.check(Schema.isMaxLength(maxCharacters))
const Prompt26 = prompt(1500)
const Prompt27 = prompt(5000)
const NegativePrompt = Schema.String.check(Schema.isMaxLength(500))
const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const media = <const T extends ReadonlyArray<string>>(...types: T) =>
  optional(Schema.Array(Schema.Struct({ type: Schema.Literals(types), url: Url })))

const common = {
  duration: optional(whole(2, 15)),
  prompt_extend: optional(Schema.Boolean),
  watermark: optional(Schema.Boolean),
  seed: optional(whole(0, 2147483647))
}
const tiered = { ...common, resolution: optional(Schema.Literals(["720P", "1080P"])) }
const sized = { ...common, size: optional(Schema.String) }
const shotType = optional(Schema.Literals(["single", "multi"]))
const audio = optional(Schema.Boolean)
const ratio = optional(Schema.Literals(["16:9", "9:16", "1:1", "4:3", "3:4"]))

const Text26 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt26,
    negative_prompt: optional(NegativePrompt),
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct({ ...sized, shot_type: shotType })
})

const Text27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt27,
    negative_prompt: optional(NegativePrompt),
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct({ ...tiered, ratio })
})

const image26Input = Schema.Struct({ prompt: Prompt26, img_url: Url, audio_url: optional(Url) })
const Image26 = Schema.Struct({
  model: Model,
  input: image26Input,
  parameters: Schema.Struct({ ...tiered, shot_type: shotType })
})
const Flash26 = Schema.Struct({
  model: Model,
  input: image26Input,
  parameters: Schema.Struct({ ...tiered, shot_type: shotType, audio })
})

/** The fields of 2.6 are let through, as their being no use is only found at work. */
const Image27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: optional(Prompt27),
    media: media("first_frame", "last_frame", "driving_audio", "first_clip"),
    img_url: optional(Url),
    audio_url: optional(Url)
  }),
  parameters: Schema.Struct(tiered)
})

const Reference26 = Schema.Struct({
  model: Model,
  input: Schema.Struct({ prompt: Prompt26, reference_urls: Schema.Array(Url) }),
  parameters: Schema.Struct({
    ...sized,
    duration: optional(whole(2, 10)),
    shot_type: shotType,
    audio
  })
})

const Reference27 = Schema.Struct({
  model: Model,
  input: Schema.Struct({
    prompt: Prompt27,
    media: media("reference_image", "reference_video", "first_frame"),
    reference_urls: optional(Schema.Array(Url))
  }),
  parameters: Schema.Struct({ ...tiered, ratio, audio })
})

/** What the shape of a request depends on. */
export interface Kind {
  readonly mode: "text" | "image" | "reference"
  readonly version: "2.6" | "2.7"
  readonly flash: boolean
}

/** Told by the model id alone; an id without a mode is a text model, one without a version is 2.7. */
export const kindOf = (model: string): Kind => ({
  mode: model.includes("-i2v") ? "image" : model.includes("-r2v") ? "reference" : "text",
  version: model.includes("2.6") ? "2.6" : "2.7",
  flash: model.includes("-flash")
})

/** A request for any kind of model. */
export interface Ask {
  readonly input: Partial<typeof Text26.Type.input> &
    Partial<typeof Image26.Type.input> & {
      readonly media?: ReadonlyArray<{ readonly type: string; readonly url: string }>
      readonly reference_urls?: ReadonlyArray<string>
    }
  readonly parameters: typeof Text26.Type.parameters &
    typeof Text27.Type.parameters &
    typeof Flash26.Type.parameters
}

export const decodeModel = decodeBody(Schema.Struct({ model: Model }), {
  unknownFields: "ignored",
  refuse: ofFault
})
const strict = { unknownFields: "refused", refuse: ofFault } as const
const decodeText26 = decodeBody(Text26, strict)
const decodeText27 = decodeBody(Text27, strict)
const decodeImage26 = decodeBody(Image26, strict)
const decodeFlash26 = decodeBody(Flash26, strict)
const decodeImage27 = decodeBody(Image27, strict)
const decodeReference26 = decodeBody(Reference26, strict)
const decodeReference27 = decodeBody(Reference27, strict)

/** Reads the body of a request for that kind of model; fields of other kinds are refused. */
export const readerOf = ({
  mode,
  version,
  flash
}: Kind): ((body: unknown) => Effect.Effect<Ask, Refusal>) => {
  const older = version === "2.6"
  switch (mode) {
    case "text":
      return older ? decodeText26 : decodeText27
    case "image":
      return older ? (flash ? decodeFlash26 : decodeImage26) : decodeImage27
    case "reference":
      return older ? decodeReference26 : decodeReference27
  }
}
