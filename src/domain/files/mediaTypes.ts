/** What a file is, told by how it begins: what its name and its client say of it counts for nothing. */

export const mediaKinds = ["image", "audio", "video"] as const
export type MediaKind = (typeof mediaKinds)[number]

/** How much of a file is looked at. */
const HEAD_BYTES = 64

/** How files begin, in bytes as Latin letters; the first that fits is the one. */
const beginnings: ReadonlyArray<readonly [RegExp, string]> = [
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
  return beginnings.find(([begin]) => begin.test(head))?.[1] ?? null
}

/** Of a type that `mediaTypeOf` answered. */
export const mediaKindOf = (type: string): MediaKind =>
  mediaKinds.find((kind) => type.startsWith(`${kind}/`)) ?? "image"
