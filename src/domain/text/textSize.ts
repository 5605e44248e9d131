/** How much text a request contains beside its media, read from its JSON. */
import { Predicate } from "effect"
import { nameList } from "../requestFields.ts"

/** Content parts that carry an image have it under one of these. */
const imageFields: ReadonlySet<string> = new Set(["image_url", "input_image", "image"])

/** Content parts that carry a file have it under one of these. */
const mediaFields: ReadonlySet<string> = new Set([
  ...imageFields,
  ...nameList("video_url audio_url file_url input_video input_audio input_file video audio file")
])

/** Kinds of content parts that a vendor reads the text of, and fetches nothing for. */
const textTypes: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text", "refusal"])

/** Kinds of content parts, which are no text. */
const partTypes: ReadonlySet<unknown> = new Set([...mediaFields, "text", "input_text", "refusal"])

/** The fields of a content part that the gateway reads. */
export const partFields: ReadonlyArray<string> = ["text", ...mediaFields]

/** Fields of a medium whose names are no text for a model. */
const mediumFields: ReadonlySet<string> = new Set(
  nameList("url data format detail filename file_data file_id mime_type media_type")
)

export interface TextSize {
  /** Bytes of text in UTF-8. */
  readonly bytes: number
  /** The part of `bytes` that is certainly read by the model. */
  readonly plainBytes: number
  /** Images, and other files that are in the request. */
  readonly media: number
  /** Bytes of those that are no images. */
  readonly inlineBytes: number
  /** Films, sounds and documents that are elsewhere: nobody here knows how large they are. */
  readonly unsized: number
}

const emptySize: TextSize = { bytes: 0, plainBytes: 0, media: 0, inlineBytes: 0, unsized: 0 }

const ofBytes = (bytes: number): TextSize => ({ ...emptySize, bytes })

const readableText = (text: string): TextSize => {
  const bytes = bytesOf(text)
  return { ...emptySize, bytes, plainBytes: bytes }
}

/** Length of `[]` and `{}`. */
const EMPTY_BYTES = 2

export const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8")

const sum = <A>(values: ReadonlyArray<A>, sizeOf: (value: A) => number): number =>
  values.reduce((total, value) => total + sizeOf(value), 0)

const addUp = (sizes: ReadonlyArray<TextSize>): TextSize => ({
  bytes: sum(sizes, ({ bytes }) => bytes),
  plainBytes: sum(sizes, ({ plainBytes }) => plainBytes),
  media: sum(sizes, ({ media }) => media),
  inlineBytes: sum(sizes, ({ inlineBytes }) => inlineBytes),
  unsized: sum(sizes, ({ unsized }) => unsized)
})

/** Bytes of the fields of an object with their names, but for those that `skipped` says. */
export const fieldBytes = (
  fields: object,
  isSkipped: (name: string, value: unknown) => boolean = () => false
): number =>
  sum(Object.entries(fields), ([name, value]) =>
    isSkipped(name, value) ? 0 : bytesOf(name) + bytesIn(value)
  )

/** Bytes of all texts in a value, of the names of its fields, and of its numbers and the like. */
export const bytesIn = (value: unknown): number => {
  if (typeof value === "string") return bytesOf(value)
  if (!Predicate.isObjectOrArray(value)) return String(value).length
  const inner = Array.isArray(value) ? sum(value, bytesIn) : fieldBytes(value)
  return Math.max(inner, EMPTY_BYTES)
}

/** A model's text may stand in any field but these, which name or number it. */
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
/** A data URL without a media type may hold text as well. */
const untypedUrl = /^data:(?:application\/octet-stream)?(?:;[^,]{0,200})?;base64,/i
/** Longer ones are more text than address. */
const MAX_ADDRESS_BYTES = 2048
/** How files begin in base64: PNG, JPEG, GIF, RIFF, MP4, WebM, Ogg, FLAC, MP3, AMR and PDF. */
const fileSignature =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|AAAA..Z0eXB|GkXfo|T2dnUw|ZkxhQw|SUQz|IyFBTVI|JVBERi0)/

/** A pattern for all of it would go back over a large text whose end is wrong; so for base64. */
const isWebAddress = (text: string): boolean => /^https?:\/\/\S/i.test(text) && !/\s/.test(text)

const isBase64 = (text: string): boolean => {
  const filling = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const content = text.slice(0, text.length - filling)
  return content !== "" && !/[^\w+/-]/.test(content)
}

const imageUrl = /^data:image\//i
/** How images begin in base64: PNG, JPEG and GIF. */
const imageSignature = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD)/

/**
 * The bytes of an image, sound, film or PDF, which are no text; null for a text. `trusted` needs no known
 * beginning, and `isImage` is what the field of it says.
 */
const fileSize = (text: string, isTrusted: boolean, isImage: boolean): TextSize | null => {
  const [mediaHeader] = mediumUrl.exec(text) ?? []
  const [header = ""] = mediaHeader === undefined ? (untypedUrl.exec(text) ?? []) : [mediaHeader]
  const content = text.slice(header.length)
  const isMedium = mediaHeader !== undefined || isTrusted || fileSignature.test(content)
  if (!isMedium || !isBase64(content)) return null
  const isOfImage =
    mediaHeader === undefined ? isImage || imageSignature.test(content) : imageUrl.test(mediaHeader)
  const inlineBytes = isOfImage ? 0 : Math.ceil((content.length * 3) / 4)
  return { ...emptySize, media: 1, inlineBytes }
}

/** Names of films, sounds and documents, also where a field says that they are images. */
const otherName =
  /\.(?:mp4|m4v|mov|webm|mkv|avi|mp3|wav|m4a|aac|ogg|flac|pdf|docx?|pptx?|xlsx?|csv|txt|md|html?)$/i

const addressSize = (address: string, isImage: boolean): TextSize => {
  const isOfImage = isImage && !otherName.test(URL.parse(address)?.pathname ?? "")
  const bytes = Math.max(0, bytesOf(address) - MAX_ADDRESS_BYTES)
  return { ...emptySize, bytes, ...(isOfImage ? { media: 1 } : { unsized: 1 }) }
}

/** Fields of a medium that hold its data or describe it. */
const descriptiveFields: ReadonlySet<string> = new Set(
  nameList("data file_data filename format detail mime_type media_type")
)

/** What a vendor knows a file by, such as `file-1` or `gs://films/1`, is one word. */
const isFileName = (text: string): boolean => /^(?!data:)\S{1,512}$/i.test(text)

interface MediumPlace {
  /** The name of the innermost field with the medium. */
  readonly name: string
  readonly isTrusted: boolean
  /** Whether its field is one of images. */
  readonly isImage: boolean
}

/** The media under one field, and the text that stands with them. */
const mediumSize = (value: unknown, place: MediumPlace): TextSize => {
  const { name, isTrusted, isImage } = place
  if (typeof value === "string") {
    const file = fileSize(value, isTrusted, isImage)
    if (file !== null) return file
    if (isWebAddress(value)) return addressSize(value, isImage)
    const isElsewhere = !isImage && !descriptiveFields.has(name) && isFileName(value)
    return { ...ofBytes(bytesOf(value)), unsized: isElsewhere ? 1 : 0 }
  }
  if (!Predicate.isObjectOrArray(value)) return ofBytes(bytesIn(value))
  if (Object.keys(value).length === 0) return ofBytes(EMPTY_BYTES)
  const isList = Array.isArray(value)
  return addUp(
    Object.entries(value).map(([inner, field]) => {
      const size = mediumSize(field, {
        name: isList ? name : inner,
        isTrusted: isTrusted && (isList || inner === "data"),
        isImage
      })
      return {
        ...size,
        bytes: size.bytes + (isList || mediumFields.has(inner) ? 0 : bytesOf(inner))
      }
    })
  )
}

/** The size of a field of media, which counts as one medium at least. */
const mediaOf = (name: string, value: unknown): TextSize => {
  const place = { name, isTrusted: name === "input_audio", isImage: imageFields.has(name) }
  const size = mediumSize(value, place)
  return size.media + size.unsized > 0 ? size : { ...size, media: 1 }
}

/** Web addresses anywhere in a value. */
const countAddresses = (value: unknown): number => {
  if (typeof value === "string") return isWebAddress(value) ? 1 : 0
  return Predicate.isObjectOrArray(value) ? sum(Object.values(value), countAddresses) : 0
}

/** A content part: its text, its media, each of them, and what stands beside them. */
const partSize = (part: object): TextSize => {
  // What a part of another kind points to may be fetched, under whatever name it stands.
  const isText = "type" in part && textTypes.has(part.type)
  return addUp(
    Object.entries(part).map(([name, value]) => {
      if (mediaFields.has(name) && value !== null) return mediaOf(name, value)
      if (name === "text" && typeof value === "string") return readableText(value)
      const isNamed = name !== "text" && name !== "type"
      const ownBytes = name === "type" && partTypes.has(value) ? 0 : bytesIn(value)
      const size = ofBytes(ownBytes + (isNamed ? bytesOf(name) : 0))
      return isText ? size : { ...size, unsized: countAddresses(value) }
    })
  )
}

/** The content of a message: a text, or its parts. */
export const contentSize = (
  content: string | ReadonlyArray<object> | null | undefined
): TextSize =>
  typeof content === "string" ? readableText(content) : addUp((content ?? []).map(partSize))
