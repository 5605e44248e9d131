/**
 * The largest answer that an image order may have. An order whose answer could exceed the read
 * limit is refused.
 */
import type { Result } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { withoutFaults } from "../requestFields.ts"
import type { ImageFamily } from "./ImageProtocol.ts"
import { type ImageBody, imageCount } from "./ImageRequest.ts"

const MEBIBYTE = 1024 * 1024

/**
 * The maximum number of bytes of an image of a usual size in base64, whether or not base64 was
 * requested.
 */
const USUAL_IMAGE_BYTES = 16 * MEBIBYTE
/** The number of base64 characters of an incompressible pixel, which has three bytes. */
const PIXEL_BYTES = 4
/** The number of pixels of a side per K, in a size such as 4K. */
const PIXELS_PER_K = 1024
/** The maximum number of bytes of an answer outside its images. */
const FRAME_BYTES = 64 * 1024

/** The number of pixels of a size such as 1024x1024 or 4K; 0 if the text is no size. */
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

/** The maximum number of bytes of an answer with images in base64. */
export const imageAnswerBytes = (body: ImageBody): number =>
  FRAME_BYTES + imageCount(body) * imageBytes(body)

/**
 * Refuses an order whose answer could exceed the limit. Other families that do not forward unknown
 * fields are not checked, because their answers contain only addresses. Streams are not checked, because
 * they are proxied event by event.
 */
export const checkImageAnswer = (
  body: ImageBody,
  { passesOn, answersBytes = false }: ImageFamily,
  maxAnswerBytes: number
): Result.Result<void, InvalidRequest> => {
  if (
    !(passesOn || answersBytes) ||
    body.stream === true ||
    imageAnswerBytes(body) <= maxAnswerBytes
  ) {
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
