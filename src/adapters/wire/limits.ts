/** How long a vendor may take, and how much it may say. */
import { Context, Duration, Effect, Layer } from "effect"
import { defaultSettings, Settings } from "../../runtime/Settings.ts"
import { echoBytes, SHARE_OF_DEADLINE, wholeTextSeconds } from "../../runtime/vendorBounds.ts"
import type { SendOptions } from "./vendorAnswer.ts"
import type { StreamOptions } from "./vendorStream.ts"

export interface VendorLimits {
  readonly submit: SendOptions
  readonly poll: SendOptions
  readonly image: SendOptions
  /** Of images that come as they are made. */
  readonly imageStream: StreamOptions
  /** Of a text that comes whole. */
  readonly text: SendOptions
  /** Of a text that comes as it is written. */
  readonly stream: StreamOptions
}

const MEBIBYTE = 1024 * 1024

/** Where a vendor's vectors stand in no usual field, they are decoded. */
const VECTOR_NUMBERS = 8_000_000
/** Values beside vectors and likelihoods; a vendor may cut a text into many. */
const TEXT_VALUES = 1_000_000
/** Longer texts in what is said of a task are repeated from its order, and no address. */
const LONG_ECHO_BYTES = 64 * 1024
/** One image, unfinished or not, in base64, with what is said of it. */
const IMAGE_EVENT_BYTES = 128 * MEBIBYTE

/**
 * Image and text calls are synchronous at the vendor and may last minutes. What a vendor says of a task
 * is short, but for those that repeat the order in it.
 */
const limitsOf = (settings: Settings): VendorLimits => {
  const echo = echoBytes(settings)
  const answer = settings.maxAnswerBytes + echo
  return {
    submit: { timeout: Duration.seconds(60), maxBytes: echo, longTextBytes: LONG_ECHO_BYTES },
    poll: { timeout: Duration.seconds(20), maxBytes: echo, longTextBytes: LONG_ECHO_BYTES },
    image: { timeout: Duration.seconds(180), maxBytes: answer },
    imageStream: {
      begin: Duration.seconds(180),
      idle: Duration.seconds(180),
      timeout: Duration.seconds(180),
      maxBytes: answer,
      eventBytes: IMAGE_EVENT_BYTES
    },
    text: {
      timeout: Duration.seconds(wholeTextSeconds(settings)),
      maxBytes: answer,
      arrayNumbers: VECTOR_NUMBERS,
      values: TEXT_VALUES
    },
    stream: {
      begin: Duration.seconds(wholeTextSeconds(settings)),
      idle: Duration.seconds(90),
      timeout: Duration.seconds(2700),
      maxBytes: answer,
      values: TEXT_VALUES
    }
  }
}

export const VendorLimits = Context.Reference<VendorLimits>("gateway/adapters/VendorLimits", {
  defaultValue: () => limitsOf(defaultSettings)
})

/**
 * The limits, shortened where the deadlines of the settings ask for it. A stream may take all the time
 * of its deadline; its first bytes have the time of a whole text.
 */
export const layerVendorLimits = Layer.effect(
  VendorLimits,
  Effect.gen(function* () {
    const settings = yield* Settings
    const limits = limitsOf(settings)
    const shareOf = (deadlineSeconds: number) =>
      Duration.seconds(deadlineSeconds * SHARE_OF_DEADLINE)
    const within = (options: SendOptions, deadlineSeconds: number): SendOptions => ({
      ...options,
      timeout: Duration.min(options.timeout, shareOf(deadlineSeconds))
    })
    return {
      ...limits,
      submit: within(limits.submit, settings.submitDeadlineSeconds),
      poll: within(limits.poll, settings.leaseSeconds),
      image: within(limits.image, settings.imageDeadlineSeconds),
      imageStream: {
        ...limits.imageStream,
        timeout: Duration.min(limits.imageStream.timeout, shareOf(settings.imageDeadlineSeconds))
      },
      stream: { ...limits.stream, timeout: shareOf(settings.textStreamDeadlineSeconds) }
    }
  })
)
