/** Images as server-sent events: partial images come before each final image. */
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AcceptedEntry } from "../../Book.ts"
import { pictureSeed, type Size } from "../../Media.ts"
import { drawPicture } from "../../media/picture.ts"
import { hangUp } from "../../placeOrder.ts"
import { countOf, isOn } from "../../switches.ts"
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

/** Closes the connection after a delay, so that the events written before still arrive. */
const brokenConnection = Effect.sleep("50 millis").pipe(
  Effect.andThen(hangUp),
  Effect.andThen(Effect.never)
)

/**
 * Streams the images event by event. With `sim:breaks=N`, `sim:stalls=N` or `sim:errors=N`, the
 * stream breaks, stalls or sends an error after N events.
 */
export const streamImages = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  size: Size,
  { work, imageCount, partial }: Streaming
) {
  const request = yield* HttpServerRequest.HttpServerRequest
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
  const after = (name: string) => countOf(switches, name, isOn(switches, name) ? 1 : names.length)
  const eventCount = Math.min(after("breaks"), after("stalls"), after("errors"))
  const pause = (countOf(switches, "takes", 0) * 1000) / names.length
  const ending = isOn(switches, "errors")
    ? Stream.succeed(errorEvent)
    : Stream.fromEffect(isOn(switches, "breaks") ? brokenConnection : Effect.never)
  const eventStream = Stream.fromIterable(names.slice(0, eventCount)).pipe(
    Stream.rechunk(1),
    Stream.mapEffect(event),
    Stream.tap(() => Effect.sleep(pause))
  )
  return HttpServerResponse.stream(
    (eventCount < names.length ? Stream.concat(eventStream, ending) : eventStream).pipe(
      Stream.provideService(HttpServerRequest.HttpServerRequest, request)
    ),
    { contentType: "text/event-stream" }
  )
})
