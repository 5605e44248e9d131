import { Context, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "./Book.ts"
import { sha256 } from "./digest.ts"
import { loadClip, longestClipSeconds } from "./media/clip.ts"
import { drawPicture, maxSide } from "./media/picture.ts"
import { makeSound } from "./media/sound.ts"

/** The file extension of videos with the vendor's watermark. */
const markedExtension = ".watermarked.mp4"

const validSeconds = 24 * 60 * 60

/** A size in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/**
 * Addresses of result files, in the form of signed addresses that expire. A file is generated when
 * its address is requested.
 */
export class MediaLinks extends Context.Service<
  MediaLinks,
  {
    /** The origin of the simulator's addresses, without a slash at the end. */
    readonly origin: string
    video(endedEntry: EndedEntry): string
    /** The address of the same video with the vendor's watermark. */
    markedVideo(endedEntry: EndedEntry): string
    image(acceptedEntry: AcceptedEntry, index: number, size: Size): string
    /** The address of a WAV file of this length. */
    sound(acceptedEntry: AcceptedEntry, milliseconds: number): string
  }
>()("gateway/simulator/MediaLinks") {
  static readonly layer = (origin: string) => {
    const sign = (path: string, atMillis: number) => {
      const expires = Math.floor(atMillis / 1000) + validSeconds
      const signature = sha256(`${path}?${expires}`).slice(0, 32)
      return `${origin}${path}?Expires=${expires}&Signature=${signature}`
    }
    const videoUrlOf = (endedEntry: EndedEntry, extension: string) =>
      sign(
        `/media/videos/${endedEntry.produced.seconds ?? 1}/${endedEntry.upstream_id}${extension}`,
        millisOf(endedEntry)
      )
    return Layer.succeed(MediaLinks, {
      origin,
      video: (endedEntry) => videoUrlOf(endedEntry, ".mp4"),
      markedVideo: (endedEntry) => videoUrlOf(endedEntry, markedExtension),
      image: (acceptedEntry, index, size) =>
        sign(
          `/media/images/${size.width}x${size.height}/${pictureSeed(acceptedEntry, index)}.png`,
          millisOf(acceptedEntry)
        ),
      sound: (acceptedEntry, milliseconds) =>
        sign(
          `/media/sounds/${milliseconds}/${acceptedEntry.upstream_id}.wav`,
          millisOf(acceptedEntry)
        )
    })
  }
}

/** The length of a video by its address at this simulator; null for any other address. */
export const secondsOfLink = (address: string): number | null => {
  const seconds = /\/media\/videos\/(\d{1,3})\//.exec(address)?.[1]
  return seconds === undefined ? null : Number(seconds)
}

/**
 * The seed of a picture, derived from the prompt and the picture's position in the response: the
 * same prompt and position always give the same picture.
 */
export const pictureSeed = (acceptedEntry: AcceptedEntry, index: number): string =>
  `${acceptedEntry.order.prompt_sha256.slice(0, 24)}-${index}`

/**
 * An MP4 box that players skip. It stands for the watermark: a watermarked file differs from the
 * plain file only in this box.
 */
const mark = Buffer.from("\0\0\0\x11freewatermark", "latin1")
const withMark = (video: Uint8Array): Uint8Array => Buffer.concat([video, mark])

const notFound = HttpServerResponse.text("Not found\n", { status: 404 })

/** Serves the results at the addresses of `MediaLinks`. */
export const layerMedia = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const clip = yield* loadClip

    yield* router.add("GET", "/media/videos/:seconds/:name", (request) =>
      Effect.map(HttpRouter.params, ({ seconds = "", name = "" }) => {
        const length = /^\d{1,3}$/.test(seconds) ? Number(seconds) : 0
        if (length < 1 || length > longestClipSeconds) return notFound
        const plainClip = clip(length)
        const bytes = name.endsWith(markedExtension) ? withMark(plainClip) : plainClip
        return serveBytes(request, bytes, "video/mp4")
      })
    )

    yield* router.add("GET", "/media/sounds/:milliseconds/:name", (request) =>
      Effect.map(HttpRouter.params, ({ milliseconds = "" }) =>
        /^[1-9]\d{0,6}$/.test(milliseconds)
          ? serveBytes(request, makeSound("wav", Number(milliseconds)), "audio/wav")
          : notFound
      )
    )

    yield* router.add(
      "GET",
      "/media/images/:size/:name",
      Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        const { size = "", name = "" } = yield* HttpRouter.params
        const [, width = 0, height = 0] = /^(\d{1,4})x(\d{1,4})$/.exec(size)?.map(Number) ?? []
        if (width < 1 || height < 1 || Math.max(width, height) > maxSide) return notFound
        const picture = yield* drawPicture(name.replace(/\.png$/, ""), { width, height })
        return serveBytes(request, picture, "image/png")
      })
    )
  })
)

/**
 * Responds with the whole file, or the part that the `Range` header requests. Only single ranges
 * are supported.
 */
const serveBytes = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: Uint8Array,
  contentType: string
): HttpServerResponse.HttpServerResponse => {
  const headers = {
    "accept-ranges": "bytes",
    "access-control-allow-origin": "*",
    "cache-control": "private, max-age=3600"
  }
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "")
  const [, from = "", to = ""] = range ?? []
  if (range === null || (from === "" && to === "")) {
    return HttpServerResponse.uint8Array(bytes, { contentType, headers })
  }
  const last = bytes.length - 1
  const first = from === "" ? Math.max(bytes.length - Number(to), 0) : Number(from)
  const end = from === "" || to === "" ? last : Math.min(Number(to), last)
  if (first > end) {
    return HttpServerResponse.empty({
      status: 416,
      headers: { ...headers, "content-range": `bytes */${bytes.length}` }
    })
  }
  return HttpServerResponse.uint8Array(bytes.subarray(first, end + 1), {
    status: 206,
    contentType,
    headers: { ...headers, "content-range": `bytes ${first}-${end}/${bytes.length}` }
  })
}
