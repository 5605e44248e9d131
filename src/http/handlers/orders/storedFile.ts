/** Responds with stored files, complete or as the requested byte range. */
import { Effect, type Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { dispositionOf, servedType } from "../../../domain/files/mediaTypes.ts"
import type { ArchivedFile, ByteRange } from "../../../services/results/ArchiveBucket.ts"
import { byteRangeOf } from "../../byteRanges.ts"

/** Headers of a request for a file. */
export interface FileHeaders {
  readonly range?: string
  readonly "if-range"?: string
  readonly "if-none-match"?: string
}

/**
 * The content security policy of a file. Bytes from vendors and clients must never act as a page of
 * this origin: they run no script and send no form, even if a browser treats them as a page. Video
 * and audio keep their origin, as a browser loads them again in a player page that it creates.
 */
const policyOf = (type: string): string =>
  [
    "default-src 'none'",
    "img-src 'self'",
    "media-src 'self'",
    "style-src 'unsafe-inline'",
    /^(?:audio|video)\//.test(type) ? "sandbox allow-same-origin" : "sandbox"
  ].join("; ")

/** The headers of every response about a file of this type. */
const fileHeaders = (type: string): Readonly<Record<string, string>> => {
  const disposition = dispositionOf(servedType(type))
  return {
    "cache-control": "private",
    "content-security-policy": policyOf(servedType(type)),
    ...(disposition === undefined ? {} : { "content-disposition": disposition })
  }
}

/**
 * Responds with the bytes of a file. Browsers display types that cannot run scripts, and save files
 * of other types.
 */
export const fileResponse = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: string,
  options: {
    readonly status?: number
    readonly contentLength?: number
    readonly headers: Readonly<Record<string, string>>
  }
) =>
  HttpServerResponse.stream(bytes, {
    ...options,
    contentType: servedType(type),
    headers: { ...options.headers, ...fileHeaders(type) }
  })

/** The response with the requested range of a file. `read` gets null for the complete file. */
export const storedFile = Effect.fnUntraced(function* <E, F, R>(
  file: ArchivedFile,
  headers: FileHeaders,
  read: (range: ByteRange | null) => Effect.Effect<Stream.Stream<Uint8Array, F>, E, R>
) {
  const etag = `"${file.sha256}"`
  const commonHeaders = { ...fileHeaders(file.contentType), etag, "accept-ranges": "bytes" }
  if (headers["if-none-match"] === etag) {
    return HttpServerResponse.empty({ status: 304, headers: commonHeaders })
  }
  const isSame = headers["if-range"] === undefined || headers["if-range"] === etag
  const range = isSame ? byteRangeOf(headers.range, file.bytes) : null
  if (range === "beyond") {
    return HttpServerResponse.empty({
      status: 416,
      headers: { ...commonHeaders, "content-range": `bytes */${file.bytes}` }
    })
  }
  const bytes = yield* read(range)
  if (range === null) {
    return fileResponse(bytes, file.contentType, {
      contentLength: file.bytes,
      headers: commonHeaders
    })
  }
  const { start, end } = range
  return fileResponse(bytes, file.contentType, {
    status: 206,
    contentLength: end - start + 1,
    headers: { ...commonHeaders, "content-range": `bytes ${start}-${end}/${file.bytes}` }
  })
})
