/** How long a vendor may take, and how much it may say. */
import { Context, Duration, Effect, Layer } from "effect"
import { Settings } from "../../runtime/Settings.ts"
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

/** Two thousand vectors of three thousand numbers are the most that usual vendors give at a time. */
const VECTOR_NUMBERS = 8_000_000
/** Ten thousand tokens, each with the likelihoods of twenty. */
const TEXT_VALUES = 1_000_000

/**
 * Image and text calls are synchronous at the vendor and may last minutes; ten base64 images are
 * large, and so are the vectors of many texts.
 */
export const VendorLimits = Context.Reference<VendorLimits>("gateway/adapters/VendorLimits", {
  defaultValue: () => ({
    submit: { timeout: Duration.seconds(60), maxBytes: MEBIBYTE },
    poll: { timeout: Duration.seconds(20), maxBytes: MEBIBYTE },
    image: { timeout: Duration.seconds(180), maxBytes: 128 * MEBIBYTE },
    imageStream: {
      begin: Duration.seconds(180),
      idle: Duration.seconds(180),
      timeout: Duration.seconds(180),
      maxBytes: 128 * MEBIBYTE,
      eventBytes: 64 * MEBIBYTE
    },
    text: {
      timeout: Duration.seconds(450),
      maxBytes: 128 * MEBIBYTE,
      arrayNumbers: VECTOR_NUMBERS,
      values: TEXT_VALUES
    },
    stream: {
      begin: Duration.seconds(450),
      idle: Duration.seconds(90),
      timeout: Duration.seconds(2700),
      maxBytes: 128 * MEBIBYTE
    }
  })
})

/** A vendor must have answered, or be given up, well before the sweep gives up the hold. */
const SHARE_OF_DEADLINE = 0.75

/**
 * The limits, shortened where the deadlines of the settings ask for it. A stream may take all the time
 * of its deadline; its first bytes have the time of a whole text.
 */
export const layerVendorLimits = Layer.effect(
  VendorLimits,
  Effect.gen(function* () {
    const settings = yield* Settings
    const limits = yield* VendorLimits
    const shareOf = (deadlineSeconds: number) =>
      Duration.seconds(deadlineSeconds * SHARE_OF_DEADLINE)
    const within = (options: SendOptions, deadlineSeconds: number): SendOptions => ({
      ...options,
      timeout: Duration.min(options.timeout, shareOf(deadlineSeconds))
    })
    return {
      submit: within(limits.submit, settings.submitDeadlineSeconds),
      poll: within(limits.poll, settings.leaseSeconds),
      image: within(limits.image, settings.imageDeadlineSeconds),
      imageStream: {
        ...limits.imageStream,
        timeout: Duration.min(limits.imageStream.timeout, shareOf(settings.imageDeadlineSeconds))
      },
      text: within(limits.text, settings.textDeadlineSeconds),
      stream: {
        ...limits.stream,
        begin: Duration.min(limits.stream.begin, shareOf(settings.textDeadlineSeconds)),
        timeout: shareOf(settings.textStreamDeadlineSeconds)
      }
    }
  })
)
