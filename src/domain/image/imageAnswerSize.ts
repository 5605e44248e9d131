/** The largest answer that an order of images allows: what would be longer than is read is refused. */
import type { Result } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { withoutFaults } from "../requestFields.ts"
import type { ImageFamily } from "./ImageProtocol.ts"
import { type ImageBody, imageCount } from "./ImageRequest.ts"

const MEBIBYTE = 1024 * 1024

/** What the images of usual sizes come to in base64, whether it was asked for or not. */
const USUAL_IMAGE_BYTES = 16 * MEBIBYTE
/** Three bytes that nothing could compress, in base64. */
const PIXEL_BYTES = 4
/** Pixels of a side per K, in a size such as 4K. */
const PIXELS_PER_K = 1024
/** Bytes of an answer beside its images. */
const FRAME_BYTES = 64 * 1024

/** Pixels of a size such as 1024x1024 or 4K; 0 where it says none. */
const pixelsOf = (size: string): number => {
  const [, width, height] = /^(\d{1,6})[x*](\d{1,6})$/i.exec(size) ?? []
  if (width !== undefined && height !== undefined) return Number(width) * Number(height)
  const [, side] = /^(\d{1,2})k$/i.exec(size) ?? []
  return side === undefined ? 0 : (Number(side) * PIXELS_PER_K) ** 2
}

const imageBytes = ({ response_format: format, size }: ImageBody): number =>
  format === "b64_json" && typeof size === "string"
    ? Math.max(USUAL_IMAGE_BYTES, pixelsOf(size) * PIXEL_BYTES)
    : USUAL_IMAGE_BYTES

/** The largest answer to an order of images in base64. */
export const imageAnswerBytes = (body: ImageBody): number =>
  FRAME_BYTES + imageCount(body) * imageBytes(body)

/** Families that take no fields of others answer with addresses alone; a stream is passed on as it comes. */
export const checkImageAnswer = (
  body: ImageBody,
  { passesOn }: ImageFamily,
  maxAnswerBytes: number
): Result.Result<void, InvalidRequest> => {
  if (!passesOn || body.stream === true || imageAnswerBytes(body) <= maxAnswerBytes) {
    return withoutFaults([])
  }
  const maxImages = Math.floor((maxAnswerBytes - FRAME_BYTES) / imageBytes(body))
  const limit =
    `as an answer of up to ${Math.floor(maxAnswerBytes / MEBIBYTE)} MiB is read, ` +
    "and images of this size may be longer in base64"
  return withoutFaults([
    maxImages > 0
      ? { path: "n", message: `Expected at most ${maxImages}, ${limit}` }
      : { path: "size", message: `Expected a smaller one, ${limit}` }
  ])
}
