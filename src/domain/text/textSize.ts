/** Measures the text and the media of a request from its JSON. */
import { Predicate } from "effect"
import { nameList } from "../requestFields.ts"

/** The field names under which a content part contains an image. */
const imageFields: ReadonlySet<string> = new Set(["image_url", "input_image", "image"])

/** The field names under which a content part contains a file that may have sound. */
const soundFields: ReadonlySet<string> = new Set(
  nameList("video_url audio_url file_url input_video input_audio input_file video audio file")
)

/** The field names under which a content part contains a file. */
const mediaFields: ReadonlySet<string> = new Set([...imageFields, ...soundFields])

/** The types of content parts that contain only text, so that a vendor fetches nothing for them. */
const textTypes: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text", "refusal"])

/** The types of content parts; the type name itself is not text for the model. */
const partTypes: ReadonlySet<unknown> = new Set([...mediaFields, "text", "input_text", "refusal"])

/** The fields of a content part that the gateway reads. */
export const partFields: ReadonlyArray<string> = ["text", ...mediaFields]

/** Fields of a medium whose names are not text for a model. */
const mediumFields: ReadonlySet<string> = new Set(
  nameList("url data format detail filename file_data file_id mime_type media_type")
)

export interface TextSize {
  /** The number of bytes of text in UTF-8. */
  readonly bytes: number
  /** The number of bytes in plain texts, from which the minimum of input tokens is estimated. */
  readonly plainBytes: number
  /** The number of images, and of other files whose bytes are in the request. */
  readonly media: number
  /** The number of bytes of files in the request that are not images. */
  readonly inlineBytes: number
  /** The number of remote videos, sounds and documents, whose size the gateway cannot know. */
  readonly unsized: number
}

const emptySize: TextSize = { bytes: 0, plainBytes: 0, media: 0, inlineBytes: 0, unsized: 0 }

const ofBytes = (bytes: number): TextSize => ({ ...emptySize, bytes })

const readableText = (text: string): TextSize => {
  const bytes = bytesOf(text)
  return { ...emptySize, bytes, plainBytes: bytes }
}

/** The number of bytes of `[]` and `{}`. */
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

/**
 * The number of bytes of an object's fields with their names, except the fields for which
 * `isSkipped` returns true.
 */
export const fieldBytes = (
  fields: object,
  isSkipped: (name: string, value: unknown) => boolean = () => false
): number =>
  sum(Object.entries(fields), ([name, value]) =>
    isSkipped(name, value) ? 0 : bytesOf(name) + bytesIn(value)
  )

/**
 * The number of bytes of all strings in a value, its field names, its numbers and its other values.
 */
export const bytesIn = (value: unknown): number => {
  if (typeof value === "string") return bytesOf(value)
  if (!Predicate.isObjectOrArray(value)) return String(value).length
  const inner = Array.isArray(value) ? sum(value, bytesIn) : fieldBytes(value)
  return Math.max(inner, EMPTY_BYTES)
}

/**
 * The fields of a message that never contain text from the model; every other field may contain it.
 */
export const silentFields: ReadonlySet<string> = new Set(["role", "type", "id", "index"])

/**
 * The number of bytes of text that a model wrote, in a message or in a chunk of one. `silent` are
 * the outermost fields without such text.
 */
export const writtenBytes = (message: unknown, silent = silentFields): number => {
  if (typeof message === "string") return bytesOf(message)
  if (!Predicate.isObjectOrArray(message)) return 0
  let bytes = 0
  for (const [name, inner] of Object.entries(message)) {
    if (!silent.has(name)) bytes += writtenBytes(inner)
  }
  return bytes
}

/**
 * The header of a base64 data URL with a medium. Text documents, which a vendor may read as text,
 * do not match, nor do SVG images.
 */
const mediumUrl = /^data:(?:image\/(?!svg)|audio\/|video\/|application\/pdf)[^,]{0,200};base64,/i
/** The header of a base64 data URL without a media type, which may contain text as well. */
const untypedUrl = /^data:(?:application\/octet-stream)?(?:;[^,]{0,200})?;base64,/i
/** The maximum number of bytes of a URL; further bytes count as text. */
const MAX_ADDRESS_BYTES = 2048
/** The file signatures in base64: PNG, JPEG, GIF, RIFF, MP4, WebM, Ogg, FLAC, MP3, AMR and PDF. */
const fileSignature =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|AAAA..Z0eXB|GkXfo|T2dnUw|ZkxhQw|SUQz|IyFBTVI|JVBERi0)/

/**
 * Whether a text is a web address. One pattern for the whole text would backtrack over a large text
 * with an invalid end; the same applies to base64 below.
 */
const isWebAddress = (text: string): boolean => /^https?:\/\/\S/i.test(text) && !/\s/.test(text)

const isBase64 = (text: string): boolean => {
  const filling = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const content = text.slice(0, text.length - filling)
  return content !== "" && !/[^\w+/-]/.test(content)
}

const imageUrl = /^data:image\//i
/** The image signatures in base64: PNG, JPEG and GIF. */
const imageSignature = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD)/

/**
 * The size of a text that is an image, sound, video or PDF in base64; null for any other text.
 * `isTrusted` skips the check of the signature, and `isImage` states whether the field is one for
 * images.
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

/**
 * Matches a path with the extension of a video, sound or document. A file with such a name does not
 * count as an image, even in a field for images.
 */
const otherName =
  /\.(?:mp4|m4v|mov|webm|mkv|avi|mp3|wav|m4a|aac|ogg|flac|pdf|docx?|pptx?|xlsx?|csv|txt|md|html?)$/i

const addressSize = (address: string, isImage: boolean): TextSize => {
  const isOfImage = isImage && !otherName.test(URL.parse(address)?.pathname ?? "")
  const bytes = Math.max(0, bytesOf(address) - MAX_ADDRESS_BYTES)
  return { ...emptySize, bytes, ...(isOfImage ? { media: 1 } : { unsized: 1 }) }
}

/** Fields of a medium that contain its data or describe it. */
const descriptiveFields: ReadonlySet<string> = new Set(
  nameList("data file_data filename format detail mime_type media_type")
)

/** Whether a text can be a vendor's file id, such as `file-1` or `gs://films/1`: a single word. */
const isFileName = (text: string): boolean => /^(?!data:)\S{1,512}$/i.test(text)

interface MediumPlace {
  /** The name of the innermost field that contains the medium. */
  readonly name: string
  readonly isTrusted: boolean
  /** Whether the field is one for images. */
  readonly isImage: boolean
}

/** The size of the media in one field, and of the text in the same field. */
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

/** The size of a media field, which counts as at least one medium. */
const mediaOf = (name: string, value: unknown): TextSize => {
  const place = { name, isTrusted: name === "input_audio", isImage: imageFields.has(name) }
  const size = mediumSize(value, place)
  return size.media + size.unsized > 0 ? size : { ...size, media: 1 }
}

/** The number of web addresses anywhere in a value. */
const countAddresses = (value: unknown): number => {
  if (typeof value === "string") return isWebAddress(value) ? 1 : 0
  return Predicate.isObjectOrArray(value) ? sum(Object.values(value), countAddresses) : 0
}

/** The size of a content part: its text, its media, and its other fields. */
const partSize = (part: object): TextSize => {
  // In a part that is not of a text type, a vendor may fetch any address, whatever the name of the
  // field.
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

/** Whether a content part has a field for files that may have sound. */
export const mayHaveSound = (part: object): boolean =>
  Object.keys(part).some((name) => soundFields.has(name))

/** The size of a message's content: a text, or content parts. */
export const contentSize = (
  content: string | ReadonlyArray<object> | null | undefined
): TextSize =>
  typeof content === "string" ? readableText(content) : addUp((content ?? []).map(partSize))
