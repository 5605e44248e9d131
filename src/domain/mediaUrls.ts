/** Media in requests, whatever is ordered: by their addresses, or as files of the organisation's own. */
import { Schema } from "effect"
import type { MediaKind } from "./files/mediaTypes.ts"

/** Limit of one field, above those of all vendors, which refuse more by themselves. */
export const MAX_MEDIA = 16

/** One pattern for all of it would take ten times as long for large media. */
const isMediaUrl = (text: string): boolean =>
  (/^https?:\/\/./i.test(text) || (/^data:/i.test(text) && text.includes(","))) && !/\s/.test(text)

/** http, https or data: the gateway hands addresses on and never fetches them. */
export const MediaUrl = Schema.String.check(
  Schema.makeFilter(isMediaUrl, {
    expected: "an http, https or data URL",
    // Without it the description below is left out of the contract.
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL" })

/** A file that was uploaded. What looks like its id may still be none. */
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
/** What a client may write for one medium, as an error says it. */
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

/** The address, or the id of a file. */
export const urlOf = (media: MediaRef): string =>
  typeof media === "string" ? media : "url" in media ? media.url : media.file_id

/** The addresses and ids in their order; none when nothing was given. */
export const mediaUrls = (media: Media | null | undefined): ReadonlyArray<string> =>
  [media ?? []].flat().map(urlOf)

/** A file of the organisation's own in an order. */
export interface FileReference {
  /** Path of the field with the id, as a client would write it. */
  readonly path: string
  /** What is expected there. */
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
