/** Media in requests of every modality: URLs, or uploaded files of the organisation. */
import { Schema } from "effect"
import type { MediaKind } from "./files/mediaTypes.ts"
import { taskNamed } from "./orderIds.ts"

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

/** Whether a text has the form of the id of a video task; the task may not exist. */
const isVideoTaskId = (text: string): boolean => taskNamed(text)?.kind === "video"

const A_VIDEO_TASK = "the id of a video task, such as vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"

export const VideoTaskId = Schema.String.check(
  Schema.makeFilter(isVideoTaskId, { expected: A_VIDEO_TASK, toJsonSchema: () => [{}, true] })
).annotate({ description: "Id of a finished video task of the organisation" })

const VideoUrl = Schema.String.check(
  Schema.makeFilter((text: string) => isVideoTaskId(text) || isMediaUrl(text), {
    expected: `an http, https or data URL, or ${A_VIDEO_TASK}`,
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL, or the id of a video task" })

const VideoText = Schema.String.check(
  Schema.makeFilter((text: string) => isFileId(text) || isVideoTaskId(text) || isMediaUrl(text), {
    expected: "an http, https or data URL, or the id of a file or of a video task",
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL, or the id of a file or of a video task" })

/** The accepted forms of one video, as errors list them. */
export const ONE_VIDEO =
  "a URL, {url}, the id of a file or {file_id}, the id of a video task or {task_id}"
/** A video, with the fields that its use adds to the object forms. */
export const videoRef = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Union([
    VideoText,
    Schema.Struct({ url: VideoUrl, ...fields }),
    Schema.Struct({ ...FileObject.fields, ...fields }),
    Schema.Struct({ task_id: VideoTaskId, ...fields })
  ]).annotate({ description: ONE_VIDEO, expected: ONE_VIDEO })
export const VideoRef = videoRef({})
export type VideoRef = typeof VideoRef.Type

/** The URL of a medium, or the id of its file or of its video task. */
export const urlOf = (media: MediaRef | VideoRef): string => {
  if (typeof media === "string") return media
  if ("url" in media) return media.url
  return "file_id" in media ? media.file_id : media.task_id
}

/** The URLs and ids in order; empty if the field is missing. */
export const mediaUrls = (media: Media | null | undefined): ReadonlyArray<string> =>
  [media ?? []].flat().map(urlOf)

/** A reference to a video task of the organisation in an order. */
export interface VideoTaskReference {
  /** The path of the field that contains the id, as a client would write it. */
  readonly path: string
  /** The id as the client wrote it. */
  readonly id: string
}

/** A reference to an uploaded file of the organisation in an order. */
export interface FileReference {
  /** The path of the field that contains the id, as a client would write it. */
  readonly path: string
  /** The kind of media that the field expects. */
  readonly kind: MediaKind
  readonly id: string
}

type AnyRef = MediaRef | VideoRef
type AnyMedia = AnyRef | ReadonlyArray<AnyRef>

export const isList = <Ref extends AnyRef>(
  media: Ref | ReadonlyArray<Ref>
): media is ReadonlyArray<Ref> => Array.isArray(media)

/** The media of a field, each with its path as a client would write it. */
const withPaths = (
  path: string,
  media: AnyMedia | null | undefined
): ReadonlyArray<readonly [path: string, media: AnyRef]> => {
  if (media === null || media === undefined) return []
  return isList(media)
    ? media.map((each, index) => [`${path}[${index}]`, each] as const)
    : [[path, media]]
}

/** The path of the text inside a medium. */
const textPath = (path: string, media: AnyRef): string => {
  if (typeof media === "string") return path
  if ("url" in media) return `${path}.url`
  return "file_id" in media ? `${path}.file_id` : `${path}.task_id`
}

/** The files that the field of this path refers to. */
export const filesIn = (
  path: string,
  kind: MediaKind,
  media: AnyMedia | null | undefined
): ReadonlyArray<FileReference> =>
  withPaths(path, media).flatMap(([place, each]) => {
    const id = urlOf(each)
    return isFileId(id) ? [{ path: textPath(place, each), kind, id }] : []
  })

/** The video tasks that the field of this path refers to. */
export const videoTasksIn = (
  path: string,
  media: AnyMedia | null | undefined
): ReadonlyArray<VideoTaskReference> =>
  withPaths(path, media).flatMap(([place, each]) => {
    const id = urlOf(each)
    return isVideoTaskId(id) ? [{ path: textPath(place, each), id }] : []
  })
