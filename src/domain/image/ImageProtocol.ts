/** The image protocols. */
import type { VendorParameters } from "../catalog/vendorParameters.ts"
import type { FieldFault } from "../requestFields.ts"

/** An order of images, each value in one place. */
export interface PlainImageOrder {
  readonly prompt: string
  readonly n: number
  /** The size as the client gave it; null if the vendor chooses it. */
  readonly size: string | null
  readonly references: ReadonlyArray<string>
  readonly mask: string | null
  /** All fields of the order, with those of the vendor. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The features of a family of upstream models. */
export interface ImageFamily {
  /**
   * A pattern of the models' names; the first family of a protocol whose pattern matches counts.
   */
  readonly models: RegExp
  /** Whether fields that the gateway does not know are forwarded to the vendor. */
  readonly passesOn: boolean
  /** Whether `parameters` has every field of the vendor, so that any other one is refused. */
  readonly hasAllFields?: boolean
  /** The vendor-specific fields. */
  readonly parameters: VendorParameters
  /**
   * The maximum number of reference images of an edit, and whether the first may have a mask; null
   * if the family has no edits.
   */
  readonly references: {
    /** The minimum number in every order, if the models change images alone. */
    readonly min?: number
    readonly max: number
    readonly mask: boolean
  } | null
  /** Whether images can be streamed while they are generated. */
  readonly streams: boolean
  /** Whether the vendor accepts the size `auto`. */
  readonly hasAutoSize: boolean
  /**
   * Whether a call makes only one image, so that an order of several images needs one call for
   * each.
   */
  readonly isOneByOne?: boolean
  /**
   * The place of an edit's images in the vendor's API: a separate path, or a field of a generation
   * request.
   */
  readonly edits?: "path" | "field"
  /** Whether the vendor answers images in base64 alone; false if missing. */
  readonly answersBytes?: boolean
  /**
   * What the vendor's API has no field for in an order, if the other features do not say it; null if
   * the order can be written.
   */
  readonly faultOf?: (order: PlainImageOrder) => FieldFault | null
}

/** The features of one protocol. Support for a new vendor begins with such a row. */
export interface ImageProtocolRow {
  readonly families: ReadonlyArray<ImageFamily>
}

/** The relay's models that accept the common standard form. */
export const relayedStandardModels = /^doubao/

const anyModel = /^/

/** The maximum length of the name of a quality. */
const MAX_WORD = 64

/** The options of the common standard form. Vendors have their own names of qualities. */
const standardParameters = {
  quality: {
    type: "text",
    max_length: MAX_WORD,
    description: "How well it is drawn, such as high"
  },
  background: {
    type: "choice",
    values: ["transparent", "opaque", "auto"],
    description: "What is behind the picture"
  },
  output_format: {
    type: "choice",
    values: ["png", "jpeg", "webp"],
    description: "The format of the file"
  },
  output_compression: {
    type: "integer",
    minimum: 0,
    maximum: 100,
    description: "How well a jpeg or webp is kept, in per cent"
  },
  moderation: {
    type: "choice",
    values: ["low", "auto"],
    description: "How strictly contents are looked at"
  },
  input_fidelity: {
    type: "choice",
    values: ["high", "low"],
    description: "How closely reference images are followed"
  }
} as const satisfies VendorParameters

/**
 * The names of the standard options, including `style`, whose values are not checked. A model that
 * lacks an option accepts only `auto` for it.
 */
export const standardOptions: ReadonlyArray<string> = [...Object.keys(standardParameters), "style"]

const standardFamily = {
  models: anyModel,
  passesOn: true,
  parameters: standardParameters,
  references: { max: 16, mask: true },
  streams: true,
  hasAutoSize: true
} as const satisfies ImageFamily

const messagesFamily = {
  models: anyModel,
  passesOn: false,
  parameters: {
    negative_prompt: { type: "text", max_length: 500, description: "What is not to be seen" },
    prompt_extend: { type: "boolean", description: "Whether the vendor writes the prompt out" },
    watermark: { type: "boolean", description: "Whether the vendor puts its mark on it" },
    seed: {
      type: "integer",
      minimum: 0,
      maximum: 2_147_483_647,
      description: "The same seed gives about the same image"
    }
  },
  references: { max: 9, mask: false },
  streams: false,
  hasAutoSize: false
} as const satisfies ImageFamily

/** The cloud's own models, which make one image per call and have no path for edits. */
const seedreamFamily = {
  ...standardFamily,
  models: /seed(?:ream|edit)/i,
  references: { max: 14, mask: false },
  hasAutoSize: false,
  isOneByOne: true,
  edits: "field"
} as const satisfies ImageFamily

const relayFamily = {
  references: { max: 14, mask: false },
  streams: false,
  edits: "field"
} as const

const geminiFamily = {
  models: anyModel,
  passesOn: false,
  parameters: {
    aspect_ratio: {
      type: "choice",
      values: ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
      description: "The shape of the image; left out, the model or the first input image decides"
    },
    seed: {
      type: "integer",
      minimum: 0,
      maximum: 2_147_483_647,
      description: "The same seed gives about the same image"
    }
  },
  references: { max: 14, mask: false },
  streams: false,
  hasAutoSize: false,
  isOneByOne: true,
  edits: "field",
  answersBytes: true
} as const satisfies ImageFamily

export const imageProtocols = {
  ip_a: { families: [seedreamFamily, standardFamily] },
  ip_b: { families: [messagesFamily] },
  ip_c: {
    families: [
      { ...seedreamFamily, ...relayFamily, models: /^doubao.*seed(?:ream|edit)/i },
      { ...standardFamily, ...relayFamily, models: relayedStandardModels },
      messagesFamily
    ]
  },
  gemini: {
    families: [
      { ...geminiFamily, models: /gemini-2[.-]5/i, references: { max: 3, mask: false } },
      geminiFamily
    ]
  }
} as const satisfies Record<string, ImageProtocolRow>

export type ImageProtocol = keyof typeof imageProtocols

const unknownFamily: ImageFamily = {
  models: anyModel,
  passesOn: false,
  parameters: {},
  references: null,
  streams: false,
  hasAutoSize: false
}

/**
 * The family of an upstream model. A model that matches no family accepts no vendor-specific
 * fields, edits or streams.
 */
export const imageFamilyOf = ({ families }: ImageProtocolRow, upstreamModel: string): ImageFamily =>
  families.find(({ models }) => models.test(upstreamModel)) ?? unknownFamily

/** The minimum, maximum and default number of images in a request. */
export const MIN_IMAGES = 1
export const MAX_IMAGES = 10
export const DEFAULT_IMAGES = 1
