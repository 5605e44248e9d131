/** The input of an image edit: files in a form, or addresses in JSON. */
import { Effect, Predicate, Schema } from "effect"
import type { Call } from "../../Vendor.ts"
import { invalid } from "../standardErrors.ts"

const Picture = Schema.String.check(
  Schema.isPattern(/^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]/)
)
const isPicture = Schema.is(Picture)
const isMask = Schema.is(Schema.String.check(Schema.isPattern(/^data:image\/png;base64,./)))
const isAddress = Schema.is(
  Schema.Struct({
    image_url: Schema.Union([Picture, Schema.String.check(Schema.isPattern(/^https?:\/\/\S/))])
  })
)

const MAX_PICTURES = 16

/** Form fields that are converted to numbers, because every value in a form is text. */
const numbers: ReadonlySet<string> = new Set(["n", "partial_images", "output_compression", "seed"])

const formValue = (name: string, value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (numbers.has(name) && /^\d+$/.test(value)) return Number(value)
  return name === "stream" && /^(?:true|false)$/.test(value) ? value === "true" : value
}

const formEdit = Effect.fnUntraced(function* (form: Readonly<Record<string, unknown>>) {
  const { image, "image[]": imageList, mask, ...fields } = form
  const pictures = [image ?? [], imageList ?? []].flat()
  if (!pictures.every(isPicture)) return yield* invalid("image", "image must be png, jpeg or webp")
  if (mask !== undefined && !isMask(mask)) return yield* invalid("mask", "mask must be a png file")
  return {
    pictures: pictures.length,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, formValue(name, value)])
    )
  }
})

const jsonEdit = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>) {
  const { images, mask, ...fields } = body
  const pictures = Array.isArray(images) ? images : []
  if (!pictures.every(isAddress))
    return yield* invalid("images", "images must be a list of image_url")
  if (mask !== undefined && !isAddress(mask)) {
    return yield* invalid("mask", "mask must have an image_url")
  }
  return { pictures: pictures.length, fields }
})

/** Reads an edit; returns the order without its pictures, and their number. */
export const readEdit = Effect.fnUntraced(function* ({ headers, body }: Call) {
  const fields = Predicate.isObject(body) ? { ...body } : {}
  const isForm = headers["content-type"]?.startsWith("multipart/form-data") === true
  const edit = yield* isForm ? formEdit(fields) : jsonEdit(fields)
  return edit.pictures < 1 || edit.pictures > MAX_PICTURES
    ? yield* invalid("image", `1 to ${MAX_PICTURES} images are needed`)
    : edit
})
