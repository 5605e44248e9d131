/** How much text a request has in it, beside its media, told from its JSON. */
import { Predicate } from "effect"

/** Content parts that carry a file have it under one of these. */
const mediaFields: ReadonlySet<string> = new Set([
  ...["image_url", "video_url", "audio_url", "file_url"],
  ...["input_image", "input_video", "input_audio", "input_file"],
  ...["image", "video", "audio", "file"]
])

/** Kinds of content parts, which are no text. */
const partTypes: ReadonlySet<unknown> = new Set([...mediaFields, "text", "input_text", "refusal"])

/** What is told apart in a content part. */
export const partFields: ReadonlyArray<string> = ["text", ...mediaFields]

/** Names inside a medium that say nothing to a model. */
const mediumFields: ReadonlySet<string> = new Set([
  ...["url", "data", "format", "detail", "filename"],
  ...["file_data", "file_id", "mime_type", "media_type"]
])

export interface TextSize {
  /** Of text, in UTF-8. */
  readonly bytes: number
  readonly media: number
}

/** Of `[]` and `{}`. */
const EMPTY_BYTES = 2

export const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8")

const sum = <A>(values: ReadonlyArray<A>, sizeOf: (value: A) => number): number =>
  values.reduce((total, value) => total + sizeOf(value), 0)

const addUp = (sizes: ReadonlyArray<TextSize>): TextSize => ({
  bytes: sum(sizes, ({ bytes }) => bytes),
  media: sum(sizes, ({ media }) => media)
})

/** Bytes of the fields of an object with their names, but for those that `skipped` says. */
export const fieldBytes = (
  fields: object,
  skipped: (name: string, value: unknown) => boolean = () => false
): number =>
  sum(Object.entries(fields), ([name, value]) =>
    skipped(name, value) ? 0 : bytesOf(name) + bytesIn(value)
  )

/** Bytes of all texts in a value, of the names of its fields, and of its numbers and the like. */
export const bytesIn = (value: unknown): number => {
  if (typeof value === "string") return bytesOf(value)
  if (!Predicate.isObjectOrArray(value)) return String(value).length
  const inner = Array.isArray(value) ? sum(value, bytesIn) : fieldBytes(value)
  return Math.max(inner, EMPTY_BYTES)
}

/** What a model wrote is found under any name here but these, which name or number the text. */
const silentFields: ReadonlySet<string> = new Set(["role", "type", "id", "index"])

/** Bytes of text in a message, or in a piece of one, that a model wrote. */
export const writtenBytes = (message: unknown): number => {
  if (typeof message === "string") return bytesOf(message)
  if (!Predicate.isObjectOrArray(message)) return 0
  return sum(Object.entries(message), ([name, inner]) =>
    silentFields.has(name) ? 0 : writtenBytes(inner)
  )
}

/** What a vendor may read as a document of text, an SVG too, is none of these. */
const mediumUrl = /^data:(?:image\/(?!svg)|audio\/|video\/|application\/pdf)[^,]{0,200};base64,/i
/** Nothing in it says whether it is text. */
const untypedUrl = /^data:(?:application\/octet-stream)?(?:;[^,]{0,200})?;base64,/i
/** Longer ones are more text than address. */
const MAX_ADDRESS_BYTES = 2048
/** How files begin in base64: PNG, JPEG, GIF, RIFF, MP4, WebM, Ogg, FLAC, MP3, AMR and PDF. */
const knownFile =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|AAAA..Z0eXB|GkXfo|T2dnUw|ZkxhQw|SUQz|IyFBTVI|JVBERi0)/

/** A pattern for all of it would go back over a large text whose end is wrong; so for base64. */
const isWebAddress = (text: string): boolean => /^https?:\/\/\S/i.test(text) && !/\s/.test(text)

const isBase64 = (text: string): boolean => {
  const filling = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const written = text.slice(0, text.length - filling)
  return written !== "" && !/[^\w+/-]/.test(written)
}

/** True for the bytes of an image, sound, film or PDF, which are no text. `trusted` needs no known beginning. */
const isFile = (text: string, trusted: boolean): boolean => {
  const [typed] = mediumUrl.exec(text) ?? []
  const [header = ""] = typed === undefined ? (untypedUrl.exec(text) ?? []) : [typed]
  const content = text.slice(header.length)
  const isMedium = typed !== undefined || trusted || knownFile.test(content)
  return isMedium && isBase64(content)
}

/** The media under one field, at least one, and the text that stands with them. */
const mediumSize = (value: unknown, trusted: boolean): TextSize => {
  if (typeof value === "string") {
    if (isFile(value, trusted)) return { bytes: 0, media: 1 }
    return isWebAddress(value)
      ? { bytes: Math.max(0, bytesOf(value) - MAX_ADDRESS_BYTES), media: 1 }
      : { bytes: bytesOf(value), media: 0 }
  }
  if (!Predicate.isObjectOrArray(value)) return { bytes: bytesIn(value), media: 0 }
  if (Object.keys(value).length === 0) return { bytes: EMPTY_BYTES, media: 0 }
  return addUp(
    Object.entries(value).map(([name, inner]) => {
      const { bytes, media } = mediumSize(
        inner,
        trusted && (name === "data" || Array.isArray(value))
      )
      const isNamed = !Array.isArray(value) && !mediumFields.has(name)
      return { bytes: bytes + (isNamed ? bytesOf(name) : 0), media }
    })
  )
}

/** A content part: its text, its media, each of them, and what stands beside them. */
const partSize = (part: object): TextSize =>
  addUp(
    Object.entries(part).map(([name, value]) => {
      if (mediaFields.has(name) && value !== null) {
        const { bytes, media } = mediumSize(value, name === "input_audio")
        return { bytes, media: Math.max(1, media) }
      }
      const isNamed = name !== "text" && name !== "type"
      const own = name === "type" && partTypes.has(value) ? 0 : bytesIn(value)
      return { bytes: own + (isNamed ? bytesOf(name) : 0), media: 0 }
    })
  )

/** The content of a message: a text, or its parts. */
export const contentSize = (
  content: string | ReadonlyArray<object> | null | undefined
): TextSize =>
  typeof content === "string"
    ? { bytes: bytesOf(content), media: 0 }
    : addUp((content ?? []).map(partSize))
