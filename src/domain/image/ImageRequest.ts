/** What a client may write in an image request. */
import { type Result, Schema } from "effect"
import { parameterFaults } from "../catalog/vendorParameters.ts"
import type { InvalidRequest } from "../Errors.ts"
import { type FileReference, Media, mediaUrls, ONE_MEDIUM } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import { Prompt, plainText } from "../plainText.ts"
import {
  anyFields,
  CallbackUrl,
  type FieldFault,
  fieldCheck,
  optional,
  optionalBoolean,
  optionalWholeNumber,
  withoutFaults
} from "../requestFields.ts"
import { type GatewayFields, gatewayFieldsOf, unpricedImageWork } from "../unpricedWork.ts"
import {
  DEFAULT_IMAGES,
  type ImageFamily,
  MAX_IMAGES,
  MIN_IMAGES,
  standardOptions
} from "./ImageProtocol.ts"
import { AUTO, type ImageDimension, imageDimensions } from "./imagePrices.ts"

const COUNT = `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}`
const media = optional(Media, `${ONE_MEDIUM}, or an array of them`).annotate({
  description: `Reference images: ${ONE_MEDIUM}, or an array of them`
})

const MAX_PARTIAL_IMAGES = 3

/** What an order of images says, however it is sent. */
export const orderFields = {
  model: plainText().annotate({ description: "A model of modality image" }),
  prompt: Prompt.check(Schema.isNonEmpty()).annotate({ description: "What is to be seen" }),
  n: optionalWholeNumber(COUNT, { minimum: MIN_IMAGES, maximum: MAX_IMAGES }).annotate({
    description: `Images to make and to pay, ${DEFAULT_IMAGES} when left out`
  }),
  size: optional(plainText(64), "a size such as 1024x1024").annotate({
    description: "Size, as the vendor names it"
  }),
  response_format: optional(Schema.Literals(["url", "b64_json"]), "url or b64_json").annotate({
    description: "Addresses, which is the default, or base64; ip_b always answers addresses"
  }),
  stream: optionalBoolean.annotate({
    description: "Whether the images come as events while they are made; not of every protocol"
  }),
  partial_images: optionalWholeNumber(`a whole number from 0 to ${MAX_PARTIAL_IMAGES}`, {
    minimum: 0,
    maximum: MAX_PARTIAL_IMAGES
  }).annotate({ description: "Unfinished images before each, of a stream" }),
  metadata: MetadataField,
  callback_url: CallbackUrl
}

interface Streamed {
  readonly stream?: boolean | null | undefined
  readonly partial_images?: number | null | undefined
}

/** Unfinished images come in a stream alone. */
export const partialImagesCheck = fieldCheck(({ stream, partial_images: partial }: Streamed) =>
  stream !== true && (partial ?? 0) > 0
    ? [{ path: "partial_images", message: "Expected 0, or stream: true beside it" }]
    : []
)

const ImageFields = Schema.Struct({
  ...orderFields,
  image: media,
  images: media,
  image_url: media
})

/**
 * Body of `POST /v1/images/generations`. Fields not named here belong to the vendor: `ip_a` and
 * the standard form behind `ip_c` pass them on, the others send only those they know.
 */
export const ImageBody = Schema.StructWithRest(ImageFields, anyFields)
  .check(partialImagesCheck)
  .annotate({
    identifier: "ImageOrder",
    description:
      "Further fields belong to the vendor: ip_a and the standard form behind ip_c pass them on, but for those that would have more images made than n says, have them delivered elsewhere, or resemble one of the fields above: each has one spelling and one place"
  })
/**
 * Without the vendor's fields, so that only what has its one spelling can be read by name. What a price
 * depends on may be one of them.
 */
export type ImageBody = typeof ImageFields.Type & Readonly<Partial<Record<ImageDimension, unknown>>>

/** The pictures an edit is made from. */
export interface ImageEdit {
  /** http, https or data URLs, or ids of files, in their order. */
  readonly references: ReadonlyArray<string>
  /** Where the first of them is to change. */
  readonly mask: string | null
  /** Those of them that are files of the organisation's own. */
  readonly files: ReadonlyArray<FileReference>
}

/** What is ordered: new images, or with `edit` others of those it has. */
export interface ImageRequest {
  readonly body: ImageBody
  readonly edit: ImageEdit | null
}

/** The number ordered and billed, whatever number comes back. */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES

/** Addresses of the reference images, those of `image` first, then `images`, then `image_url`. */
export const referenceImages = (body: ImageBody): ReadonlyArray<string> =>
  [body.image, body.images, body.image_url].flatMap(mediaUrls)

/** A field of edits alone. */
export const MASK = "mask"
/** Nothing is ordered by them, whatever stands in them. */
const labels = ["user"]

const orderNames = [...Object.keys(ImageFields.fields), MASK, ...imageDimensions]
const gatewayFieldsByFamily = new WeakMap<ImageFamily["parameters"], GatewayFields>()

/** The fields that the gateway reads of an order of the family's models, and of an edit. */
export const gatewayImageFields = ({
  parameters
}: Pick<ImageFamily, "parameters">): GatewayFields => {
  const gatewayFields =
    gatewayFieldsByFamily.get(parameters) ??
    gatewayFieldsOf([...orderNames, ...Object.keys(parameters)], labels)
  gatewayFieldsByFamily.set(parameters, gatewayFields)
  return gatewayFields
}

/**
 * Refuses what the upstream models of a family do not take: values of their parameters that they do
 * not have, options of the standard form that they have no field for, references and streams. A body
 * that is passed on may have no fields by which a vendor would make more than is paid for, or deliver
 * it elsewhere, and none that resembles a field of the gateway's own.
 */
export const checkImages = (
  { body, edit }: ImageRequest,
  family: ImageFamily
): Result.Result<void, InvalidRequest> =>
  withoutFaults([
    ...parameterFaults(body, family.parameters),
    ...unsupportedOptions(body, family),
    ...editFaults(edit, family),
    ...streamFaults(body, family),
    ...(family.passesOn ? unpricedImageWork(body, gatewayImageFields(family)) : [])
  ])

function* streamFaults(
  body: ImageBody,
  { streams, isOneByOne = false }: ImageFamily
): Generator<FieldFault> {
  if (body.stream !== true) return
  if (!streams) {
    yield { path: "stream", message: "Expected false: this model's images are answered whole" }
  } else if (isOneByOne && imageCount(body) > 1) {
    yield { path: "n", message: "Expected 1: this model has one image in a stream" }
  }
}

function* unsupportedOptions(
  body: Readonly<Record<string, unknown>>,
  { parameters, passesOn }: ImageFamily
): Generator<FieldFault> {
  if (passesOn) return
  for (const name of standardOptions) {
    const value = body[name] ?? AUTO
    if (value === AUTO || Object.hasOwn(parameters, name)) continue
    yield { path: name, message: "Expected auto or nothing: this model has no such option" }
  }
}

function* editFaults(edit: ImageEdit | null, { references }: ImageFamily): Generator<FieldFault> {
  if (edit === null) return
  if (references === null) {
    yield { path: "model", message: "This model makes images from text alone and takes no edits" }
  } else if (edit.references.length > references.max) {
    yield { path: "image", message: `Expected at most ${references.max} images for this model` }
  }
  if (edit.mask !== null && references?.mask === false) {
    yield { path: "mask", message: "Expected no mask: this model has no field for one" }
  }
}
