/** Finds references to uploaded files in an order, and replaces the file ids by addresses. */
import type { ImageRequest } from "../image/ImageRequest.ts"
import {
  type FileReference,
  filesIn,
  isList,
  type Media,
  type MediaRef,
  urlOf,
  type VideoTaskReference,
  videoTasksIn
} from "../mediaUrls.ts"
import type { ContentBlock, VideoBody } from "../video/VideoBody.ts"
import type { VideoBlock } from "../video/VideoInput.ts"

/** The addresses of files by file id: a URL, or the bytes as a data URL. */
export type FileAddresses = ReadonlyMap<string, string>

const blockReferences = (block: ContentBlock, index: number): ReadonlyArray<FileReference> => {
  const path = `content[${index}].${block.type}`
  switch (block.type) {
    case "text":
      return []
    case "image_url":
      return filesIn(path, "image", block.image_url)
    case "audio_url":
      return filesIn(path, "audio", block.audio_url)
    case "video_url":
      return filesIn(path, "video", block.video_url)
  }
}

const imageFields = ["images", "image", "image_url"] as const
const audioFields = ["audio", "audio_url", "audios"] as const
const videoFields = ["video", "video_url", "videos"] as const

/**
 * The files of a video order; if the order has `content`, its top-level media fields are ignored.
 */
export const videoReferences = (body: VideoBody): ReadonlyArray<FileReference> =>
  body.content === null || body.content === undefined
    ? [
        ...imageFields.flatMap((field) => filesIn(field, "image", body[field])),
        ...audioFields.flatMap((field) => filesIn(field, "audio", body[field])),
        ...videoFields.flatMap((field) => filesIn(field, "video", body[field]))
      ]
    : body.content.flatMap(blockReferences)

/** The earlier videos of a video order; beside `content`, top-level fields are ignored. */
export const videoTaskReferences = (body: VideoBody): ReadonlyArray<VideoTaskReference> =>
  body.content === null || body.content === undefined
    ? videoFields.flatMap((field) => videoTasksIn(field, body[field]))
    : body.content.flatMap((block, index) =>
        block.type === "video_url"
          ? videoTasksIn(`content[${index}].video_url`, block.video_url)
          : []
      )

/**
 * The files of an image order. An edit lists its own references, each with the field that contained
 * it.
 */
export const imageReferences = ({ body, edit }: ImageRequest): ReadonlyArray<FileReference> => [
  ...imageFields.flatMap((field) => filesIn(field, "image", body[field])),
  ...(edit?.files ?? [])
]

/** The blocks with file ids replaced by addresses. */
export const withAddresses = (
  blocks: ReadonlyArray<VideoBlock>,
  addresses: FileAddresses
): ReadonlyArray<VideoBlock> =>
  blocks.map((block) =>
    block.type === "text" ? block : { ...block, url: addresses.get(block.url) ?? block.url }
  )

const withAddress = (media: MediaRef, addresses: FileAddresses): MediaRef =>
  addresses.get(urlOf(media)) ?? media

/** The request to the vendor: file ids are replaced by addresses; everything else is unchanged. */
export const withImageAddresses = <R extends ImageRequest>(
  request: R,
  addresses: FileAddresses
): R => {
  if (addresses.size === 0) return request
  const { body, edit } = request
  const addressFields = imageFields.flatMap((field): ReadonlyArray<readonly [string, Media]> => {
    const media = body[field]
    if (media === null || media === undefined) return []
    const value = isList(media)
      ? media.map((each) => withAddress(each, addresses))
      : withAddress(media, addresses)
    return [[field, value]]
  })
  const addressOf = (text: string) => addresses.get(text) ?? text
  return {
    ...request,
    body: { ...body, ...Object.fromEntries(addressFields) },
    edit:
      edit === null
        ? null
        : {
            ...edit,
            references: edit.references.map(addressOf),
            mask: edit.mask === null ? null : addressOf(edit.mask)
          }
  }
}
