/** Streams of images in the common standard form: events of partial and of final images. */
import { Predicate } from "effect"
import { imageCount } from "../../domain/image/ImageRequest.ts"
import { readImageUsage } from "../../domain/image/ImageTokenQuote.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount, ImageOrder, ImagePiece } from "../../services/ProtocolAdapter.ts"
import { isErrorText } from "../wire/errorText.ts"
import { eventOf, heartbeat, isDone, readEvent } from "../wire/eventBlocks.ts"
import { judgeStreamFailure } from "../wire/refusalTable.ts"
import {
  boundsOf,
  decodeFully,
  eventHead,
  parseBody,
  partialAnswer,
  type SendOptions,
  type VendorAnswer
} from "../wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "../wire/vendorFailures.ts"
import { standardRefusals } from "./standardErrors.ts"
import {
  type Fields,
  imagesFailure,
  imagesIn,
  isFreeOfImages,
  isImage,
  isImageField,
  omitOtherImages
} from "./standardImages.ts"

/** The handling of an event; `piece` is null if nothing of the event is sent to the client. */
interface SeenEvent {
  readonly piece: ImagePiece | null
  readonly isLast: boolean
}

/** Reads the events of one stream in order. */
export interface ImageStream {
  readonly read: (event: Buffer) => SeenEvent
  /** Converts an answer without streaming to events, for a client that requested events. */
  readonly readWhole: (answer: VendorAnswer) => ReadonlyArray<ImagePiece> | VendorFailure
  /** Whether all ordered images are final. */
  readonly isComplete: () => boolean
  /** The failure of a finished stream; null if it succeeded. */
  readonly failure: (answer: VendorAnswer) => VendorFailure | null
  /** The number of images beyond the ordered number, which are left out. */
  readonly surplus: () => number
}

const typeOf = ({ type }: Fields): string => (typeof type === "string" ? type : "")
/** Whether a chunk is a partial image; one order has many. */
const isPartial = (chunk: Fields): boolean => typeOf(chunk).endsWith(".partial_image")
/** Whether a chunk reports that one of several images was refused; the others may follow. */
const isPartialFailure = (chunk: Fields): boolean => typeOf(chunk).endsWith(".partial_failed")

/** The image of a chunk, if it is finished, with the tokens that the vendor counted for it. */
const deliveredField = (chunk: Fields): Pick<ImagePiece, "delivered"> =>
  isImage(chunk) && !isPartial(chunk)
    ? { delivered: { images: 1, usage: readImageUsage(chunk.usage) } }
    : {}

const utf8 = new TextEncoder()
const plainName = /^[\w.-]{1,64}$/

/** Encodes an event whose name is the `type` of its data, as in the standard form. */
const encodeNamedEvent = (data: Fields): Uint8Array => {
  const name = typeOf(data)
  const event = eventOf(JSON.stringify(data))
  return plainName.test(name) ? Buffer.concat([utf8.encode(`event: ${name}\n`), event]) : event
}

/**
 * The failure that an error event reports. An event that may contain an image counts as an
 * unreadable answer (`VendorLost`), not as a refusal, because the image may have been generated.
 */
const failureIn = (
  account: ChannelAccount,
  chunk: Fields,
  bytes: number,
  isFirst: boolean
): VendorFailure => {
  const answer = partialAnswer(eventHead, chunk, bytes)
  return !isFreeOfImages(chunk) || isImage(chunk)
    ? brokenAnswer(answer)
    : judgeStreamFailure(standardRefusals, answer, refusal(account, answer), isFirst)
}

export const makeImageStream = (
  account: ChannelAccount,
  { body, edit = null }: ImageOrder,
  options: SendOptions
): ImageStream => {
  const orderedImages = imageCount(body)
  let finishedImages = 0
  let orderFailure: VendorFailure | null = null
  let partFailure: VendorFailure | null = null
  let isFirst = true
  const toSeenEvent = (piece: ImagePiece | null): SeenEvent => ({ piece, isLast: false })

  /**
   * Counts a finished image, and tells whether the image of a chunk is beyond the ordered number.
   */
  const isSurplusImage = (chunk: Fields): boolean => {
    const isSurplus = finishedImages >= orderedImages
    if (!isPartial(chunk)) finishedImages += 1
    return isSurplus
  }

  const readChunk = (chunk: Fields, event: Uint8Array, isPlain: boolean): SeenEvent => {
    if (isErrorText(chunk)) {
      const failure = failureIn(account, chunk, event.byteLength, isFirst)
      if (!isPartialFailure(chunk)) {
        orderFailure = failure
        return { piece: null, isLast: true }
      }
      partFailure ??= failure
    }
    isFirst = false
    const hasImage = isImage(chunk)
    if (hasImage && isSurplusImage(chunk)) return toSeenEvent(null)
    const chunkForClient = omitOtherImages(chunk, isImageField)
    const isUnchanged = chunkForClient === chunk && isPlain
    return toSeenEvent({
      event: isUnchanged ? event : encodeNamedEvent(chunkForClient),
      hasImage: hasImage || !isFreeOfImages(chunkForClient),
      ...deliveredField(chunk)
    })
  }

  const read = (event: Buffer): SeenEvent => {
    const { data, isPlain } = readEvent(event)
    if (data === null) return toSeenEvent({ event: heartbeat, hasImage: false })
    if (isDone(data)) return { piece: null, isLast: true }
    const value = parseBody(data, boundsOf(options))
    return Predicate.isObject(value) ? readChunk({ ...value }, event, isPlain) : toSeenEvent(null)
  }

  const readWhole: ImageStream["readWhole"] = (answer) => {
    const images = imagesIn(decodeFully(answer), orderedImages)
    if (images === null) return imagesFailure(account, decodeFully(answer))
    const { created, data } = images.result
    const orderedData = (Array.isArray(data) ? data : []).filter(isImage)
    finishedImages += orderedData.length + images.surplus
    const type = `${edit === null ? "image_generation" : "image_edit"}.completed`
    return orderedData.map((image, index) => ({
      event: encodeNamedEvent({ type, created_at: created, ...image }),
      hasImage: true,
      ...(index === 0 ? { delivered: images.delivered } : {})
    }))
  }

  return {
    read,
    readWhole: readWhole,
    isComplete: () => finishedImages >= orderedImages,
    failure: (answer) =>
      orderFailure ?? (finishedImages > 0 ? null : (partFailure ?? brokenAnswer(answer))),
    surplus: () => Math.max(0, finishedImages - orderedImages)
  }
}
