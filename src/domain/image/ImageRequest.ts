/** The request body of an image order. */
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
  unknownFields,
  withoutFaults
} from "../requestFields.ts"
import { type GatewayFields, gatewayFieldsOf, unpricedImageWork } from "../unpricedWork.ts"
import {
  DEFAULT_IMAGES,
  type ImageFamily,
  MAX_IMAGES,
  MIN_IMAGES,
  type PlainImageOrder,
  standardOptions
} from "./ImageProtocol.ts"
import { AUTO, type ImageDimension, imageDimensions } from "./imagePrices.ts"

const COUNT = `a whole number from ${MIN_IMAGES} to ${MAX_IMAGES}`
const media = optional(Media, `${ONE_MEDIUM}, or an array of them`).annotate({
  description: `Reference images: ${ONE_MEDIUM}, or an array of them`
})

const MAX_PARTIAL_IMAGES = 3

/** The fields of an image order, both as JSON and as a form. */
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

/** Refuses partial images without a stream. */
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
 * The body of `POST /v1/images/generations`. Fields that are not listed belong to the vendor:
 * `ip_a` and the standard form behind `ip_c` forward them, the other protocols send only the fields
 * they know.
 */
export const ImageBody = Schema.StructWithRest(ImageFields, anyFields)
  .check(partialImagesCheck)
  .annotate({
    identifier: "ImageOrder",
    description:
      "Further fields belong to the vendor: ip_a and the standard form behind ip_c pass them on, but for those that would have more images made than n says, have them delivered elsewhere, or resemble one of the fields above: each has one spelling and one place"
  })
/**
 * The type of a body without the vendor's fields, so that code reads by name only fields whose
 * spelling is checked. `quality` and `size` are included although they may be vendor fields,
 * because a price can depend on them.
 */
export type ImageBody = typeof ImageFields.Type & Readonly<Partial<Record<ImageDimension, unknown>>>

/** The input images of an edit. */
export interface ImageEdit {
  /** The http, https or data URLs or file ids of the images, in order. */
  readonly references: ReadonlyArray<string>
  /** The mask: the area of the first image that is to change. */
  readonly mask: string | null
  /** The references that are uploaded files of the organisation. */
  readonly files: ReadonlyArray<FileReference>
}

/** An image order: new images, or changed versions of the images in `edit`. */
export interface ImageRequest {
  readonly body: ImageBody
  readonly edit: ImageEdit | null
}

/** The number of images ordered and billed, regardless of how many the vendor returns. */
export const imageCount = (body: ImageBody): number => body.n ?? DEFAULT_IMAGES

/**
 * The addresses of the reference images: first those of `image`, then `images`, then `image_url`.
 */
export const referenceImages = (body: ImageBody): ReadonlyArray<string> =>
  [body.image, body.images, body.image_url].flatMap(mediaUrls)

/** The order with each value in one place; an edit's images are its references. */
export const plainOrderOf = ({ body, edit }: ImageRequest): PlainImageOrder => ({
  prompt: body.prompt,
  n: imageCount(body),
  size: typeof body.size === "string" && body.size !== AUTO ? body.size : null,
  references: edit?.references ?? referenceImages(body),
  mask: edit?.mask ?? null,
  fields: body
})

/** A field that only edits have. */
export const MASK = "mask"
/** Fields that are only labels; no value of such a field orders anything. */
const labels = ["user"]

/** The names of the fields of orders and edits. */
export const imageFieldNames: ReadonlyArray<string> = [...Object.keys(ImageFields.fields), MASK]
const orderNames = [...imageFieldNames, ...imageDimensions]
const gatewayFieldsByFamily = new WeakMap<ImageFamily["parameters"], GatewayFields>()

/** The fields that the gateway reads in orders and edits for the models of a family. */
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
 * Refuses fields that the upstream models of a family do not support: invalid values of their
 * parameters, options of the standard form that they lack, references and streams. If the body is
 * forwarded, fields are also refused that make a vendor produce more than is paid for, that deliver
 * the images elsewhere, or that resemble one of the gateway's fields.
 */
export const checkImages = (
  { body, edit }: ImageRequest,
  family: ImageFamily
): Result.Result<void, InvalidRequest> => {
  const faults = [
    ...unknownImageFields(body, family),
    ...parameterFaults(body, family.parameters),
    ...unsupportedOptions(body, family),
    ...editFaults(edit, family),
    ...streamFaults(body, family),
    ...(family.passesOn ? unpricedImageWork(body, gatewayImageFields(family)) : [])
  ]
  const otherFault = family.faultOf?.(plainOrderOf({ body, edit })) ?? null
  return withoutFaults(faults.length > 0 || otherFault === null ? faults : [otherFault])
}

/** The fields that a family with a full list of its fields does not have. */
const unknownImageFields = (
  body: ImageBody,
  { parameters, hasAllFields = false }: ImageFamily
): ReadonlyArray<FieldFault> => {
  if (!hasAllFields) return []
  const names = [...orderNames, ...standardOptions, ...labels]
  const knownFields = Object.fromEntries(names.map((name) => [name, true]))
  return unknownFields(
    Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    { ...knownFields, ...parameters }
  )
}

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
