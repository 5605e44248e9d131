/** The image protocols. */
import type { VendorParameters } from "../catalog/vendorParameters.ts"

/** What the upstream models of one kind take and do. */
export interface ImageFamily {
  /** What their names are like; the first family of a protocol that fits counts. */
  readonly models: RegExp
  /** Whether the vendor also gets the fields the gateway does not know. */
  readonly passesOn: boolean
  /** Fields of the vendor's own. */
  readonly parameters: VendorParameters
  /** Reference images of an edit, and whether one of them may have a mask; null: there are no edits. */
  readonly references: { readonly max: number; readonly mask: boolean } | null
  /** Whether images can come while they are made. */
  readonly streams: boolean
  /** Whether `auto` is a size that can be sent. */
  readonly hasAutoSize: boolean
  /** Whether a call makes one image, so that several are as many calls. */
  readonly isOneByOne?: boolean
  /** Where the pictures of an edit go: to a path of its own, or as a field of an order of new images. */
  readonly edits?: "path" | "field"
}

/** What one protocol offers; a new vendor begins with such a row. */
export interface ImageProtocolRow {
  readonly families: ReadonlyArray<ImageFamily>
}

/** The relay's models that take images in the common standard form. */
export const relayedStandardModels = /^doubao/

const anyModel = /^/

/** Longest name of a quality. */
const MAX_WORD = 64

/** The options of the common standard form; vendors have words of their own for quality. */
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

/** Where a model has no field for one of them, only `auto` may be said of it. A style is of any form. */
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

/** The cloud's own models: one image a call, and no path for edits. */
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

export const imageProtocols = {
  ip_a: { families: [seedreamFamily, standardFamily] },
  ip_b: { families: [messagesFamily] },
  ip_c: {
    families: [
      { ...seedreamFamily, ...relayFamily, models: /^doubao.*seed(?:ream|edit)/i },
      { ...standardFamily, ...relayFamily, models: relayedStandardModels },
      messagesFamily
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

/** What the upstream model takes and does: nothing but the plain order where no family is its own. */
export const imageFamilyOf = ({ families }: ImageProtocolRow, upstreamModel: string): ImageFamily =>
  families.find(({ models }) => models.test(upstreamModel)) ?? unknownFamily

/** Number of images a request may ask for. */
export const MIN_IMAGES = 1
export const MAX_IMAGES = 10
export const DEFAULT_IMAGES = 1
