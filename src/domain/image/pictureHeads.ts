/** Reads the dimensions of an image from its first bytes. */
import { mediaTypeOf } from "../files/mediaTypes.ts"
import type { Sides } from "../video/sizes.ts"

/**
 * The number of leading bytes that are read: enough for a JPEG that begins with a preview.
 * Dimensions further back remain unknown.
 */
const HEAD_BYTES = 96 * 1024

const latin = (bytes: Buffer, start: number, end: number) => bytes.toString("latin1", start, end)

const sidesIfPositive = (width: number, height: number): Sides | null =>
  width > 0 && height > 0 ? [width, height] : null

/** Whether a JPEG marker begins a frame: SOF0 to SOF15, without the markers of tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const APP1 = 0xe1

/**
 * The dimensions of a JPEG; null if it has Exif data: cameras store the rotation there, and not
 * every reader applies it.
 */
const jpegSides = (bytes: Buffer): Sides | null => {
  let offset = 2
  while (offset + 9 < bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1] ?? 0
    if (isFrame(marker))
      return sidesIfPositive(bytes.readUInt16BE(offset + 7), bytes.readUInt16BE(offset + 5))
    if (marker === APP1 && latin(bytes, offset + 4, offset + 8) === "Exif") return null
    offset += 2 + bytes.readUInt16BE(offset + 2)
  }
  return null
}

const webpSides = (bytes: Buffer): Sides | null => {
  if (bytes.length < 30) return null
  switch (latin(bytes, 12, 16)) {
    case "VP8 ":
      return sidesIfPositive(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
    case "VP8L": {
      const bits = bytes.readUInt32LE(21)
      return sidesIfPositive((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case "VP8X":
      return sidesIfPositive(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
    default:
      return null
  }
}

/**
 * The dimensions of an image; null if they are not in the first bytes, or if readers may rotate the
 * image.
 */
const sidesOf = (bytes: Buffer): Sides | null => {
  switch (mediaTypeOf(bytes)) {
    case "image/png":
      return bytes.length < 24
        ? null
        : sidesIfPositive(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
    case "image/jpeg":
      return jpegSides(bytes)
    case "image/gif":
      return bytes.length < 10
        ? null
        : sidesIfPositive(bytes.readUInt16LE(6), bytes.readUInt16LE(8))
    case "image/webp":
      return webpSides(bytes)
    default:
      return null
  }
}

const inline = /^data:[^,]{0,256};base64,/i

/** The dimensions of an image in a data URL; unknown for every other URL. */
export const sidesOfUrl = (url: string): Sides | "unknown" => {
  const head = inline.exec(url.slice(0, 300))?.[0]
  if (head === undefined) return "unknown"
  const text = url.slice(head.length, head.length + Math.ceil((HEAD_BYTES * 4) / 3))
  return sidesOf(Buffer.from(text, "base64")) ?? "unknown"
}
