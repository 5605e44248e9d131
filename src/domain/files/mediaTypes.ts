/** What a file is, told by how it begins, and as what files of vendors and clients may be served. */

const mediaKinds = ["image", "audio", "video"] as const
export type MediaKind = (typeof mediaKinds)[number]

/** Bytes at the beginning of a file that decide its type. */
const HEAD_BYTES = 64

/** How files begin, in bytes as Latin letters; the first that fits is the one. */
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

/** Its media type; null where it is no picture, sound or film that is known here. */
export const mediaTypeOf = (bytes: Uint8Array): string | null => {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1")
  return fileSignatures.find(([signature]) => signature.test(head))?.[1] ?? null
}

/** The kind of a type that `mediaTypeOf` returned. */
export const mediaKindOf = (type: string): MediaKind =>
  mediaKinds.find((kind) => type.startsWith(`${kind}/`)) ?? "image"

export const DOWNLOAD_TYPE = "application/octet-stream"

/**
 * The types that a browser shows and cannot run. Vendors choose the type of what is served under the
 * gateway's origin, so it has to be one of these, whole: a pattern would let an active one through.
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

/** The type that a file is served as: one that is shown, or that of a download. */
export const servedType = (type: string): string => {
  const essence = (type.split(";", 1)[0] ?? "").replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase()
  return inlineTypes.has(essence) ? essence : DOWNLOAD_TYPE
}

/** How a file of that type is to be opened; undefined where it is shown. */
export const dispositionOf = (mediaType: string): "attachment" | undefined =>
  mediaType === DOWNLOAD_TYPE ? "attachment" : undefined
