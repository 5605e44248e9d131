/** The request body of an image edit, as JSON or as a form. */
import { Schema } from "effect"
import { type FileReference, filesIn, MediaRef, MediaUrl, urlOf } from "../mediaUrls.ts"
import { fieldKey, similarNames } from "../nearest.ts"
import {
  anyFields,
  type FieldFault,
  fieldCheck,
  MAX_FIELD_FAULTS,
  optional
} from "../requestFields.ts"
import { namesInName } from "../unpricedWork.ts"
import { standardOptions } from "./ImageProtocol.ts"
import { type ImageRequest, MASK, orderFields, partialImagesCheck } from "./ImageRequest.ts"
import { imageDimensions } from "./imagePrices.ts"

/** The maximum number of images in one edit, above the limit of every vendor. */
const MAX_REFERENCES = 16

const REFERENCE_FORMS = "a URL, {url}, {image_url}, the id of a file or {file_id}"

const Reference = Schema.Union([MediaRef, Schema.Struct({ image_url: MediaUrl })]).annotate({
  description: "A URL, {url}, {image_url}, the id of a file or {file_id}",
  expected: REFERENCE_FORMS
})
type Reference = typeof Reference.Type

const References = Schema.Union([Reference, Schema.Array(Reference)])
const references = optional(References, `${REFERENCE_FORMS}, or an array of them`).annotate({
  description: `The images to change: ${REFERENCE_FORMS}, or an array of them, ${MAX_REFERENCES} in all`
})

const EditFields = Schema.Struct({
  ...orderFields,
  image: references,
  images: references,
  image_url: references,
  [MASK]: optional(Reference, REFERENCE_FORMS).annotate({
    description: "Where the first image is to change: what is transparent in it"
  })
})

const mediumOf = (reference: Reference): MediaRef =>
  typeof reference === "object" && "image_url" in reference ? reference.image_url : reference

const addressOf = (reference: Reference): string => urlOf(mediumOf(reference))

type References = typeof References.Type | null | undefined
interface Pictures {
  readonly image?: References
  readonly images?: References
  readonly image_url?: References
}

const addressesOf = ({ image, images, image_url }: Pictures): ReadonlyArray<string> =>
  [image, images, image_url].flatMap((references) => [references ?? []].flat().map(addressOf))

const countFaults = (body: Pictures): ReadonlyArray<FieldFault> => {
  const { length } = addressesOf(body)
  if (length === 0) return [{ path: "image", message: "This field is required" }]
  const message = `Expected at most ${MAX_REFERENCES} images`
  return length > MAX_REFERENCES ? [{ path: "image", message }] : []
}

const similarField = similarNames([
  ...Object.keys(EditFields.fields),
  ...imageDimensions,
  ...standardOptions
])

/** The escapes that forms use for quotes and line ends in a field name. */
const escapes = /%(?:0[ad]|22)/gi

/**
 * Refuses field names that a form cannot carry: brackets would mean nested fields, and characters
 * that need an escape may be lost.
 */
const nameFaults = (body: object): ReadonlyArray<FieldFault> =>
  Object.keys(body)
    .filter((name) => /[[\]]/.test(name) || name.search(escapes) >= 0)
    .slice(0, MAX_FIELD_FAULTS)
    .map((name) => {
      const path = name.slice(0, MAX_NAME).toWellFormed()
      const similarFields = namesInName(path.replaceAll(escapes, "")).flatMap(
        (part) => similarField(fieldKey(part)) ?? []
      )
      const question = similarFields.length === 0 ? "" : `; did you mean ${similarFields.at(-1)}?`
      return {
        path,
        message: `Expected a name without brackets, quotes and ends of lines${question}`
      }
    })

const MAX_NAME = 100

/** The body of `POST /v1/images/edits`; the other fields are those of an order of new images. */
export const ImageEditBody = Schema.StructWithRest(EditFields, anyFields)
  .check(partialImagesCheck, fieldCheck(countFaults), fieldCheck(nameFaults))
  .annotate({
    identifier: "ImageEdit",
    description:
      "Images to change, and what they are to become; further fields belong to the vendor"
  })
export type ImageEditBody = typeof EditFields.Type

/** The files of an edit, with the fields that refer to them. */
const filesOf = ({
  mask,
  ...pictures
}: Pictures & { readonly mask: Reference | null }): ReadonlyArray<FileReference> => [
  ...Object.entries(pictures).flatMap(([field, references]) => {
    const media = [references ?? []].flat().map(mediumOf)
    return filesIn(field, "image", Array.isArray(references) ? media : media[0])
  }),
  ...filesIn("mask", "image", mask === null ? null : mediumOf(mask))
]

export const editRequest = ({
  image,
  images,
  image_url,
  mask = null,
  ...body
}: ImageEditBody): ImageRequest => ({
  body,
  edit: {
    references: addressesOf({ image, images, image_url }),
    mask: mask === null ? null : addressOf(mask),
    files: filesOf({ image, images, image_url, mask })
  }
})
