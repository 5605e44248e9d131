/** Where an order refers to files of the organisation's own, and what is sent in their place. */
import type { ImageBody } from "../image/ImageRequest.ts"
import { isFileId, type Media, type MediaRef, urlOf } from "../mediaUrls.ts"
import type { ContentBlock, VideoBody } from "../video/VideoBody.ts"
import type { VideoBlock } from "../video/VideoInput.ts"
import type { MediaKind } from "./mediaTypes.ts"

export interface FileReference {
  /** Of the field that has the id, as a client would write it. */
  readonly path: string
  /** What is expected there. */
  readonly kind: MediaKind
  readonly id: string
}

type Given = Media | null | undefined

/** By the id of the file: an address that its bytes can be had from, or the bytes as a data URL. */
export type FileAddresses = ReadonlyMap<string, string>

const isList = (media: Media): media is ReadonlyArray<MediaRef> => Array.isArray(media)

const oneReference = (
  path: string,
  kind: MediaKind,
  media: MediaRef
): ReadonlyArray<FileReference> => {
  const id = urlOf(media)
  if (!isFileId(id)) return []
  return [{ path: typeof media === "string" ? path : `${path}.file_id`, kind, id }]
}

const references = (path: string, kind: MediaKind, media: Given): ReadonlyArray<FileReference> => {
  if (media === null || media === undefined) return []
  return isList(media)
    ? media.flatMap((each, index) => oneReference(`${path}[${index}]`, kind, each))
    : oneReference(path, kind, media)
}

const blockReferences = (block: ContentBlock, index: number): ReadonlyArray<FileReference> => {
  const path = `content[${index}].${block.type}`
  switch (block.type) {
    case "text":
      return []
    case "image_url":
      return oneReference(path, "image", block.image_url)
    case "audio_url":
      return oneReference(path, "audio", block.audio_url)
    case "video_url":
      return oneReference(path, "video", block.video_url)
  }
}

const imageFields = ["images", "image", "image_url"] as const
const audioFields = ["audio", "audio_url", "audios"] as const
const videoFields = ["video", "video_url", "videos"] as const

/** Of what is ordered: top-level media beside `content` are not. */
export const videoReferences = (body: VideoBody): ReadonlyArray<FileReference> =>
  body.content === null || body.content === undefined
    ? [
        ...imageFields.flatMap((field) => references(field, "image", body[field])),
        ...audioFields.flatMap((field) => references(field, "audio", body[field])),
        ...videoFields.flatMap((field) => references(field, "video", body[field]))
      ]
    : body.content.flatMap(blockReferences)

export const imageReferences = (body: ImageBody): ReadonlyArray<FileReference> =>
  imageFields.flatMap((field) => references(field, "image", body[field]))

/** Each block with the address of its file. */
export const withAddresses = (
  blocks: ReadonlyArray<VideoBlock>,
  addresses: FileAddresses
): ReadonlyArray<VideoBlock> =>
  blocks.map((block) =>
    block.type === "text" ? block : { ...block, url: addresses.get(block.url) ?? block.url }
  )

const addressed = (media: MediaRef, addresses: FileAddresses): MediaRef =>
  addresses.get(urlOf(media)) ?? media

/** The body as its vendor gets it: ids are replaced by addresses, and all else stays as it came. */
export const withImageAddresses = (body: ImageBody, addresses: FileAddresses): ImageBody => {
  if (addresses.size === 0) return body
  const replaced = imageFields.flatMap((field): ReadonlyArray<readonly [string, Media]> => {
    const media = body[field]
    if (media === null || media === undefined) return []
    const sent = isList(media)
      ? media.map((each) => addressed(each, addresses))
      : addressed(media, addresses)
    return [[field, sent]]
  })
  return { ...body, ...Object.fromEntries(replaced) }
}
