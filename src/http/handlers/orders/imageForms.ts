/**
 * Reads image edits that are sent as forms, where every value is a text and every picture is a
 * file.
 */
import { Effect } from "effect"
import type { VendorParameter } from "../../../domain/catalog/vendorParameters.ts"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { mediaTypeOf } from "../../../domain/files/mediaTypes.ts"
import type { ImageProtocolRow } from "../../../domain/image/ImageProtocol.ts"
import { MASK } from "../../../domain/image/ImageRequest.ts"
import { fieldKey, resemblances } from "../../../domain/nearest.ts"
import type { FormFile, FormParts } from "../../api/middlewares.ts"

type Kind = VendorParameter["type"]
const contractKinds = { n: "integer", partial_images: "integer", stream: "boolean" } as const

/** The types of fields by field name, over all protocols. A field without an entry is a text. */
export const formKinds = (rows: Iterable<ImageProtocolRow>): ReadonlyMap<string, Kind> =>
  new Map([
    ...[...rows].flatMap(({ families }) =>
      families.flatMap(({ parameters }) =>
        Object.entries(parameters).map(([name, { type }]) => [name, type] as const)
      )
    ),
    ...Object.entries(contractKinds)
  ])

/**
 * Parses a text as the type of its field. A text that does not match the type is returned
 * unchanged, so that the error quotes it.
 */
const parseText = (kind: Kind | undefined, text: string): string | number | boolean => {
  switch (kind) {
    case "integer":
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text
    case "number":
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : text
    default:
      return text
  }
}

const pictureField = resemblances(
  ["image", "images", "image_url", MASK].map((name) => [name, name] as const)
)
const imagePattern = /^(images?|image_url)(?:\[\d*\])?$/
const metadataPattern = /^metadata\[([^\][]+)\]$/

const invalidField = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const imageTypePattern = /^image\/[\w.+-]{1,60}$/

/** The file as a `data:` URL. */
const dataUrlOf = Effect.fnUntraced(function* ({ field, contentType, bytes }: FormFile) {
  if (bytes.byteLength === 0) return yield* invalidField(field, "The file is empty")
  const declaredType = imageTypePattern.test(contentType) ? contentType : "application/octet-stream"
  yield* Effect.yieldNow
  return `data:${mediaTypeOf(bytes) ?? declaredType};base64,${bytes.toString("base64")}`
})

const misplacedFile = (field: string) => {
  const name = field.slice(0, 100).toWellFormed()
  const nearestField = pictureField(fieldKey(name))
  const suggestion = nearestField === undefined ? "" : `; did you mean ${nearestField}?`
  return invalidField(name, `Expected a text, not a file${suggestion}`)
}

/**
 * Converts the edit to a JSON body. For a repeated field the last value counts; for images all
 * values count.
 */
export const editOfForm = Effect.fnUntraced(function* (
  { fields, files }: FormParts,
  kinds: ReadonlyMap<string, Kind>
): Effect.fn.Return<Readonly<Record<string, unknown>>, InvalidRequest> {
  const body = new Map<string, unknown>()
  const metadata = new Map<string, string>()
  const images: Array<string> = []
  for (const file of files) {
    if (imagePattern.test(file.field)) images.push(yield* dataUrlOf(file))
    else if (file.field === MASK) body.set(MASK, yield* dataUrlOf(file))
    else return yield* misplacedFile(file.field)
  }
  for (const [name, text] of fields) {
    const metadataName = metadataPattern.exec(name)?.[1]
    if (imagePattern.test(name)) images.push(text)
    else if (metadataName !== undefined) metadata.set(metadataName, text)
    else body.set(name, parseText(kinds.get(name), text))
  }
  if (images.length > 0) body.set("image", images)
  if (metadata.size > 0) body.set("metadata", Object.fromEntries(metadata))
  return Object.fromEntries(body)
})
