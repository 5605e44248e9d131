/** Files that the gateway itself can read, whole and in parts. */
import { Effect, type Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ArchivedFile, Part } from "../../../services/results/ArchiveBucket.ts"
import { partOf } from "../../byteRanges.ts"

/** Headers of a request for a file. */
export interface FileHeaders {
  readonly range?: string
  readonly "if-range"?: string
  readonly "if-none-match"?: string
}

/** Nothing that a browser would run as a page of ours. */
export const safeType = (type: string): string =>
  /^(?:video|audio|image)\/(?!svg)[\w.+-]+$/.test(type) ? type : "application/octet-stream"

export const safe = { "cache-control": "private", "x-content-type-options": "nosniff" }

/** What is asked for of the file; `read` takes null for all of it. */
export const storedFile = Effect.fnUntraced(function* <E, F, R>(
  file: ArchivedFile,
  headers: FileHeaders,
  read: (part: Part | null) => Effect.Effect<Stream.Stream<Uint8Array, F>, E, R>
) {
  const etag = `"${file.sha256}"`
  const own = { ...safe, etag, "accept-ranges": "bytes" }
  if (headers["if-none-match"] === etag) {
    return HttpServerResponse.empty({ status: 304, headers: own })
  }
  const isSame = headers["if-range"] === undefined || headers["if-range"] === etag
  const part = isSame ? partOf(headers.range, file.bytes) : null
  if (part === "beyond") {
    const contentRange = { "content-range": `bytes */${file.bytes}` }
    return HttpServerResponse.empty({ status: 416, headers: { ...own, ...contentRange } })
  }
  const bytes = yield* read(part)
  const contentType = safeType(file.contentType)
  if (part === null) {
    const contentLength = file.bytes
    return HttpServerResponse.stream(bytes, { contentType, contentLength, headers: own })
  }
  const { start, end } = part
  return HttpServerResponse.stream(bytes, {
    status: 206,
    contentType,
    contentLength: end - start + 1,
    headers: { ...own, "content-range": `bytes ${start}-${end}/${file.bytes}` }
  })
})
