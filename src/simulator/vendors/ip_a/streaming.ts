/** Images as server-sent events: partial images come before each final image. */
import { Effect } from "effect"
import type { AcceptedEntry } from "../../Book.ts"
import { pictureSeed, type Size } from "../../Media.ts"
import { drawPicture } from "../../media/picture.ts"
import { streamParts } from "../partStream.ts"
import { imageUsage } from "./imageUsage.ts"

/** The kind of request, with which the names of its events begin. */
export type ImageWork = "image_generation" | "image_edit"

interface Streaming {
  readonly work: ImageWork
  /** The number of final images. */
  readonly imageCount: number
  /** The number of partial images before each final image. */
  readonly partial: number
}

const eventOf = (name: string, data: object): Uint8Array =>
  new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

const errorEvent = eventOf("error", {
  type: "error",
  error: {
    message: "The server had an error",
    type: "server_error",
    param: null,
    code: "server_error"
  }
})

/** Streams the images event by event. */
export const streamImages = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  size: Size,
  { work, imageCount, partial }: Streaming
) {
  const { switches } = acceptedEntry
  const optionalFields = {
    created_at: Math.floor(Date.parse(acceptedEntry.at) / 1000),
    size: `${size.width}x${size.height}`,
    quality: "auto",
    background: "auto",
    output_format: "png"
  }
  const names = Array.from({ length: imageCount }, (_, image) => [
    ...Array.from({ length: partial }, (_, index) => ({ image, index })),
    { image, index: null }
  ]).flat()
  const event = Effect.fnUntraced(function* ({ image, index }: (typeof names)[number]) {
    const png = yield* drawPicture(pictureSeed(acceptedEntry, image), size)
    const type = `${work}.${index === null ? "completed" : "partial_image"}`
    return eventOf(type, {
      type,
      b64_json: png.toString("base64"),
      ...optionalFields,
      ...(index === null
        ? {
            usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
            ...imageUsage(acceptedEntry, 1)
          }
        : { partial_image_index: index })
    })
  })
  return yield* streamParts(switches, {
    parts: names,
    encode: event,
    contentType: "text/event-stream",
    errorPart: errorEvent
  })
})
