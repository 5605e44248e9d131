/** Images in the common standard form as they are made: events of unfinished and of finished ones. */
import { Predicate } from "effect"
import { imageCount } from "../../domain/image/ImageRequest.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount, ImageOrder, ImagePiece } from "../../services/ProtocolAdapter.ts"
import { saysError } from "../wire/errorText.ts"
import { eventOf, heartbeat, readEvent } from "../wire/eventBlocks.ts"
import { judgedInStream } from "../wire/refusalTable.ts"
import {
  boundsOf,
  decodedWhole,
  eventHead,
  parseBody,
  partOf,
  type SendOptions,
  type VendorAnswer
} from "../wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "../wire/vendorFailures.ts"
import { standardRefusals } from "./standardErrors.ts"
import {
  type Fields,
  imagesFailure,
  imagesIn,
  isHarmless,
  isImage,
  isOwnImage,
  plain
} from "./standardImages.ts"

/** What becomes of an event; there is no piece where the client gets nothing of it. */
interface SeenEvent {
  readonly piece: ImagePiece | null
  readonly isLast: boolean
}

/** Reads the events of one stream in their order. */
export interface ImageStream {
  readonly read: (event: Uint8Array) => SeenEvent
  /** The events of an answer that came whole, for a client that asked for events. */
  readonly whole: (answer: VendorAnswer) => ReadonlyArray<ImagePiece> | VendorFailure
  /** Whether every image that was ordered is finished. */
  readonly isComplete: () => boolean
  /** Why the stream is of no use, once it has ended; null where it is. */
  readonly failure: (answer: VendorAnswer) => VendorFailure | null
  /** Images beyond those ordered, which are left out. */
  readonly surplus: () => number
}

const typeOf = ({ type }: Fields): string => (typeof type === "string" ? type : "")
/** Unfinished images, of which one order has many. */
const isPartial = (chunk: Fields): boolean => typeOf(chunk).endsWith(".partial_image")
/** One image of several was refused, and the others may come. */
const isPartRefused = (chunk: Fields): boolean => typeOf(chunk).endsWith(".partial_failed")

const utf8 = new TextEncoder()
const plainName = /^[\w.-]{1,64}$/

/** An event under the name its data have, as the standard form writes it. */
const namedEvent = (data: Fields): Uint8Array => {
  const name = typeOf(data)
  const written = eventOf(JSON.stringify(data))
  return plainName.test(name) ? Buffer.concat([utf8.encode(`event: ${name}\n`), written]) : written
}

export const makeImageStream = (
  account: ChannelAccount,
  { body, edit = null }: ImageOrder,
  options: SendOptions
): ImageStream => {
  const ordered = imageCount(body)
  let finished = 0
  let failed: VendorFailure | null = null
  let refusedPart: VendorFailure | null = null
  let isFirst = true
  const next = (piece: ImagePiece | null): SeenEvent => ({ piece, isLast: false })

  const failureIn = (chunk: Fields, bytes: number): VendorFailure => {
    const answer = partOf(eventHead, chunk, bytes)
    // An error with what was ordered in it proves that it was made.
    if (!isHarmless(chunk) || isImage(chunk)) return brokenAnswer(answer)
    return judgedInStream(standardRefusals, answer, refusal(account, answer), isFirst)
  }

  const read = (event: Uint8Array): SeenEvent => {
    const { data, isPlain } = readEvent(event)
    if (data === null) return next({ event: heartbeat, hasImage: false })
    if (data.trim() === "[DONE]") return { piece: null, isLast: true }
    const value = parseBody(Buffer.from(data), boundsOf(options))
    if (!Predicate.isObject(value)) return next(null)
    const chunk: Fields = { ...value }
    if (saysError(chunk)) {
      const failure = failureIn(chunk, event.byteLength)
      if (!isPartRefused(chunk)) {
        failed = failure
        return { piece: null, isLast: true }
      }
      refusedPart ??= failure
    }
    isFirst = false
    const hasImage = isImage(chunk)
    if (hasImage) {
      const isBeyond = finished >= ordered
      if (!isPartial(chunk)) finished += 1
      if (isBeyond) return next(null)
    }
    const kept = plain(chunk, isOwnImage)
    const isSame = kept === chunk && isPlain
    return next({
      event: isSame ? event : namedEvent(kept),
      hasImage: hasImage || !isHarmless(kept)
    })
  }

  const whole: ImageStream["whole"] = (answer) => {
    const images = imagesIn(decodedWhole(answer), ordered)
    if (images === null) return imagesFailure(account, decodedWhole(answer))
    const { created, data } = images.result
    const made = (Array.isArray(data) ? data : []).filter(isImage)
    finished += made.length + images.surplus
    const type = `${edit === null ? "image_generation" : "image_edit"}.completed`
    return made.map((image) => ({
      event: namedEvent({ type, created_at: created, ...image }),
      hasImage: true
    }))
  }

  return {
    read,
    whole,
    isComplete: () => finished >= ordered,
    failure: (answer) => failed ?? (finished > 0 ? null : (refusedPart ?? brokenAnswer(answer))),
    surplus: () => Math.max(0, finished - ordered)
  }
}
