/** Media in requests of every modality: URLs, or uploaded files of the organisation. */
import { Schema } from "effect"
import type { MediaKind } from "./files/mediaTypes.ts"

/**
 * The maximum number of media in one field, above the limits of all vendors, which enforce their
 * own.
 */
export const MAX_MEDIA = 32

/**
 * Whether a text is a URL of a medium. A single pattern would take ten times as long for large
 * media.
 */
const isMediaUrl = (text: string): boolean =>
  (/^https?:\/\/./i.test(text) || (/^data:/i.test(text) && text.includes(","))) && !/\s/.test(text)

/** An http, https or data URL, which the gateway forwards and never fetches. */
export const MediaUrl = Schema.String.check(
  Schema.makeFilter(isMediaUrl, {
    expected: "an http, https or data URL",
    // Without `toJsonSchema` the description below would be missing in the OpenAPI document.
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL" })

/** Whether a text has the form of the id of an uploaded file; the file may not exist. */
export const isFileId = (text: string): boolean => /^file_[\w-]{1,64}$/.test(text)

const FileId = Schema.String.check(
  Schema.makeFilter(isFileId, {
    expected: "the id of a file, such as file_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e",
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "Id of a file that POST /v1/files took" })

const MediaText = Schema.String.check(
  Schema.makeFilter((text: string) => isFileId(text) || isMediaUrl(text), {
    expected: "an http, https or data URL, or the id of a file",
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL, or the id of a file" })

const MediaObject = Schema.Struct({ url: MediaUrl })
const FileObject = Schema.Struct({ file_id: FileId })
/** The accepted forms of one medium, as errors list them. */
export const ONE_MEDIUM = "a URL, {url}, the id of a file or {file_id}"
export const MediaRef = Schema.Union([MediaText, MediaObject, FileObject]).annotate({
  description: "A URL, {url}, the id of a file or {file_id}",
  expected: ONE_MEDIUM
})
export type MediaRef = typeof MediaRef.Type
const MediaList = Schema.Array(MediaRef).check(
  Schema.isMaxLength(MAX_MEDIA, { expected: `at most ${MAX_MEDIA} of them` })
)
/** One medium or an array of them. */
export const Media = Schema.Union([MediaRef, MediaList])
export type Media = typeof Media.Type

/** The URL of a medium, or the id of its file. */
export const urlOf = (media: MediaRef): string =>
  typeof media === "string" ? media : "url" in media ? media.url : media.file_id

/** The URLs and file ids in order; empty if the field is missing. */
export const mediaUrls = (media: Media | null | undefined): ReadonlyArray<string> =>
  [media ?? []].flat().map(urlOf)

/** A reference to an uploaded file of the organisation in an order. */
export interface FileReference {
  /** The path of the field that contains the id, as a client would write it. */
  readonly path: string
  /** The kind of media that the field expects. */
  readonly kind: MediaKind
  readonly id: string
}

export const isList = (media: Media): media is ReadonlyArray<MediaRef> => Array.isArray(media)

const oneReference = (
  path: string,
  kind: MediaKind,
  media: MediaRef
): ReadonlyArray<FileReference> => {
  const id = urlOf(media)
  if (!isFileId(id)) return []
  return [{ path: typeof media === "string" ? path : `${path}.file_id`, kind, id }]
}

/** The files that the field of this path refers to. */
export const filesIn = (
  path: string,
  kind: MediaKind,
  media: Media | null | undefined
): ReadonlyArray<FileReference> => {
  if (media === null || media === undefined) return []
  return isList(media)
    ? media.flatMap((each, index) => oneReference(`${path}[${index}]`, kind, each))
    : oneReference(path, kind, media)
}
