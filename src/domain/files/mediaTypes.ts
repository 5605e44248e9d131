/**
 * Detects the media type of a file from its first bytes, and decides under which type files of
 * vendors and clients are served.
 */

const mediaKinds = ["image", "audio", "video"] as const
export type MediaKind = (typeof mediaKinds)[number]

/** The number of leading bytes that decide the type of a file. */
const HEAD_BYTES = 64

/** File signatures over bytes read as Latin-1; the first match counts. */
const fileSignatures: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\x89PNG\r\n\p{Cc}\n/u, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF.{4}WEBP/s, "image/webp"],
  [/^BM.{4}\p{Cc}{4}/su, "image/bmp"],
  [/^RIFF.{4}WAVE/s, "audio/wav"],
  [/^ID3/, "audio/mpeg"],
  [/^\xff[\xf0\xf1\xf8\xf9]/, "audio/aac"],
  [/^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/, "audio/mpeg"],
  [/^fLaC/, "audio/flac"],
  [/^OggS/, "audio/ogg"],
  [/^.{4}ftypavi[fs]/s, "image/avif"],
  [/^.{4}ftyp(?:hei[cxms]|hev[cx]|mif1)/s, "image/heic"],
  [/^.{4}ftypM4[AB] /s, "audio/mp4"],
  [/^.{4}ftypqt {2}/s, "video/quicktime"],
  [/^.{4}ftyp/s, "video/mp4"],
  [/^.{4}(?:moov|mdat|wide)/s, "video/quicktime"],
  [/^\p{Cc}E\xdf\xa3.*webm/su, "video/webm"],
  [/^\p{Cc}E\xdf\xa3/u, "video/x-matroska"]
]

/** The media type of a file; null if it is no image, audio or video format known to the gateway. */
export const mediaTypeOf = (bytes: Uint8Array): string | null => {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1")
  return fileSignatures.find(([signature]) => signature.test(head))?.[1] ?? null
}

/** The kind of media (image, audio or video) of a media type that `mediaTypeOf` returned. */
export const mediaKindOf = (type: string): MediaKind =>
  mediaKinds.find((kind) => type.startsWith(`${kind}/`)) ?? "image"

export const DOWNLOAD_TYPE = "application/octet-stream"

/**
 * The media types that a browser displays but cannot execute. Vendors choose the type of files that
 * are served under the gateway's origin, so the whole type has to be in this list: a pattern could
 * let an executable type through.
 */
const inlineTypes: ReadonlySet<string> = new Set([
  ...fileSignatures.map(([, type]) => type),
  "image/jpg",
  "image/heif",
  "audio/mp3",
  "audio/x-wav",
  "audio/wave",
  "audio/x-m4a",
  "audio/webm",
  "video/ogg",
  "video/x-m4v"
])

/** The type under which a file is served: one that browsers display, or the download type. */
export const servedType = (type: string): string => {
  const essence = (type.split(";", 1)[0] ?? "").replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase()
  return inlineTypes.has(essence) ? essence : DOWNLOAD_TYPE
}

/** The `Content-Disposition` for a media type; undefined if the browser displays the type. */
export const dispositionOf = (mediaType: string): "attachment" | undefined =>
  mediaType === DOWNLOAD_TYPE ? "attachment" : undefined
