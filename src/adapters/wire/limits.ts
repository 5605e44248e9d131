/** Time-outs, size limits and pace of calls to vendors. */
import { Context, Duration, Effect, Layer } from "effect"
import { defaultSettings, Settings } from "../../runtime/Settings.ts"
import { echoBytes, SHARE_OF_DEADLINE, wholeTextSeconds } from "../../runtime/vendorBounds.ts"
import type { SendOptions } from "./vendorAnswer.ts"
import type { StreamOptions } from "./vendorStream.ts"

export interface VendorLimits {
  readonly submit: SendOptions
  readonly poll: SendOptions
  /** The time before each poll of an image task. */
  readonly pollInterval: Duration.Duration
  readonly image: SendOptions
  /** Streamed images. */
  readonly imageStream: StreamOptions
  /** A text without streaming. */
  readonly text: SendOptions
  /** A streamed text or sound. */
  readonly stream: StreamOptions
}

const MEBIBYTE = 1024 * 1024

/**
 * The maximum number of numbers in vectors that are decoded because they are outside the usual
 * field.
 */
const VECTOR_NUMBERS = 8_000_000
/**
 * The maximum number of values in addition to vectors and log probabilities; a vendor may split a
 * text into many values.
 */
const TEXT_VALUES = 1_000_000
/**
 * The maximum length of a text that can be a result address in an answer about a task; longer texts
 * repeat the order.
 */
const LONG_ECHO_BYTES = 64 * 1024
/**
 * The maximum number of bytes of an event with one image, partial or final, in base64 with its
 * other fields.
 */
const IMAGE_EVENT_BYTES = 128 * MEBIBYTE

/**
 * The limits for given settings. Image and text calls are synchronous at the vendor and may take
 * minutes. Answers about a task are short, except from vendors that repeat the order in them.
 */
const limitsOf = (settings: Settings): VendorLimits => {
  const echoLimit = echoBytes(settings)
  const answerLimit = settings.maxAnswerBytes + echoLimit
  return {
    submit: { timeout: Duration.seconds(60), maxBytes: echoLimit, longTextBytes: LONG_ECHO_BYTES },
    poll: { timeout: Duration.seconds(20), maxBytes: echoLimit, longTextBytes: LONG_ECHO_BYTES },
    pollInterval: Duration.seconds(settings.askIntervalSeconds),
    image: { timeout: Duration.seconds(180), maxBytes: answerLimit },
    imageStream: {
      firstBytesTimeout: Duration.seconds(180),
      idleTimeout: Duration.seconds(180),
      timeout: Duration.seconds(180),
      maxBytes: answerLimit,
      eventBytes: IMAGE_EVENT_BYTES
    },
    text: {
      timeout: Duration.seconds(wholeTextSeconds(settings)),
      maxBytes: answerLimit,
      arrayNumbers: VECTOR_NUMBERS,
      values: TEXT_VALUES
    },
    stream: {
      firstBytesTimeout: Duration.seconds(wholeTextSeconds(settings)),
      idleTimeout: Duration.seconds(90),
      timeout: Duration.seconds(2700),
      maxBytes: answerLimit,
      values: TEXT_VALUES
    }
  }
}

export const VendorLimits = Context.Reference<VendorLimits>("gateway/adapters/VendorLimits", {
  defaultValue: () => limitsOf(defaultSettings)
})

/**
 * The limits, shortened to fit the deadlines of the settings. A stream may use its whole deadline;
 * the time-out of its first bytes is that of a text without streaming.
 */
export const layerVendorLimits = Layer.effect(
  VendorLimits,
  Effect.gen(function* () {
    const settings = yield* Settings
    const limits = limitsOf(settings)
    const shareOf = (deadlineSeconds: number) =>
      Duration.seconds(deadlineSeconds * SHARE_OF_DEADLINE)
    const withDeadline = (options: SendOptions, deadlineSeconds: number): SendOptions => ({
      ...options,
      timeout: Duration.min(options.timeout, shareOf(deadlineSeconds))
    })
    return {
      ...limits,
      submit: withDeadline(limits.submit, settings.submitDeadlineSeconds),
      poll: withDeadline(limits.poll, settings.leaseSeconds),
      image: withDeadline(limits.image, settings.imageDeadlineSeconds),
      imageStream: {
        ...limits.imageStream,
        timeout: Duration.min(limits.imageStream.timeout, shareOf(settings.imageDeadlineSeconds))
      },
      stream: { ...limits.stream, timeout: shareOf(settings.textStreamDeadlineSeconds) }
    }
  })
)
