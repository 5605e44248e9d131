/** Edits of images as forms: every value is a text there, and pictures are files. */
import { Effect } from "effect"
import type { VendorParameter } from "../../../domain/catalog/vendorParameters.ts"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { mediaTypeOf } from "../../../domain/files/mediaTypes.ts"
import type { ImageProtocolRow } from "../../../domain/image/ImageProtocol.ts"
import { MASK } from "../../../domain/image/ImageRequest.ts"
import { fieldKey, resemblances } from "../../../domain/nearest.ts"
import type { FormFile, FormParts } from "../../api/middlewares.ts"

type Kind = VendorParameter["type"]
const ownKinds = { n: "integer", partial_images: "integer", stream: "boolean" } as const

/** What the fields are that are no texts, in any of the protocols. */
export const formKinds = (rows: Iterable<ImageProtocolRow>): ReadonlyMap<string, Kind> =>
  new Map([
    ...[...rows].flatMap(({ families }) =>
      families.flatMap(({ parameters }) =>
        Object.entries(parameters).map(([name, { type }]) => [name, type] as const)
      )
    ),
    ...Object.entries(ownKinds)
  ])

/** The value a text stands for; the text itself where it stands for none, so that it is refused as it is. */
const textValue = (kind: Kind | undefined, text: string): string | number | boolean => {
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
const listed = /^(images?|image_url)(?:\[\d*\])?$/
const noted = /^metadata\[([^\][]+)\]$/

const refused = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const plainType = /^image\/[\w.+-]{1,60}$/

/** The file as an address that has it in it. */
const addressOf = Effect.fnUntraced(function* ({ field, contentType, bytes }: FormFile) {
  if (bytes.byteLength === 0) return yield* refused(field, "The file is empty")
  const told = plainType.test(contentType) ? contentType : "application/octet-stream"
  yield* Effect.yieldNow
  return `data:${mediaTypeOf(bytes) ?? told};base64,${bytes.toString("base64")}`
})

/** The same edit as JSON would say it. Of a field that comes twice the last one counts, but of images all. */
export const editOfForm = Effect.fnUntraced(function* (
  { fields, files }: FormParts,
  kinds: ReadonlyMap<string, Kind>
): Effect.fn.Return<Readonly<Record<string, unknown>>, InvalidRequest> {
  const body = new Map<string, unknown>()
  const metadata = new Map<string, string>()
  const images: Array<string> = []
  for (const file of files) {
    if (listed.test(file.field)) images.push(yield* addressOf(file))
    else if (file.field === MASK) body.set(MASK, yield* addressOf(file))
    else {
      const name = file.field.slice(0, 100).toWellFormed()
      const near = pictureField(fieldKey(name))
      const question = near === undefined ? "" : `; did you mean ${near}?`
      return yield* refused(name, `Expected a text, not a file${question}`)
    }
  }
  for (const [name, text] of fields) {
    const note = noted.exec(name)?.[1]
    if (listed.test(name)) images.push(text)
    else if (note !== undefined) metadata.set(note, text)
    else body.set(name, textValue(kinds.get(name), text))
  }
  return {
    ...Object.fromEntries(body),
    ...(images.length === 0 ? {} : { image: images }),
    ...(metadata.size === 0 ? {} : { metadata: Object.fromEntries(metadata) })
  }
})
