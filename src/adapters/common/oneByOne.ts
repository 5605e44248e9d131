/** Orders of several images at a vendor that generates one image per call. */
import { Array as Arr, Duration, Effect, Result } from "effect"
import { addDelivered, type DeliveredImages } from "../../domain/image/ImageTokenQuote.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { failureKind, isUnreadableAnswer, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import type { ImageResult } from "../../services/ProtocolAdapter.ts"
import { listOf } from "../wire/vendorAnswer.ts"
import { timeoutFailure } from "../wire/vendorFailures.ts"
import type { GeneratedImages } from "./standardImages.ts"

/** The maximum number of concurrent calls for one order. */
const MAX_CONCURRENT_CALLS = 4

type Generate = Effect.Effect<GeneratedImages, VendorFailure>

/** The fields of a result. The calls here decode their answers fully, so no result is raw. */
const fieldsOf = (result: ImageResult): Readonly<Record<string, unknown>> =>
  result instanceof RawAnswer ? {} : result

/** The image of a call whose vendor counts no tokens. */
const oneImage: DeliveredImages = { images: 1, usage: null }

/**
 * Merges the answers. The usage of the first answer is left out, because it does not cover the
 * other calls. The tokens of the answered calls add up: a call that failed delivered no image, so
 * it counts for nothing.
 */
const joinAnswers = (answers: Arr.NonEmptyReadonlyArray<GeneratedImages>): GeneratedImages => {
  const { usage: _, ...fields } = fieldsOf(answers[0].result)
  return {
    result: { ...fields, data: answers.flatMap(({ result }) => listOf(fieldsOf(result).data)) },
    surplus: answers.reduce((sum, { surplus }) => sum + surplus, 0),
    delivered: answers.map(({ delivered = oneImage }) => delivered).reduce(addDelivered)
  }
}

/**
 * Generates each image by a separate call, all within the time-out of one order. If the first call
 * fails, the order fails and no other call is made. If the first answer is paid for but cannot be
 * read, the order continues, because otherwise it would be charged without any image. Later calls
 * that fail are left out.
 */
export const generateOneByOne = Effect.fnUntraced(function* (
  generateOne: Generate,
  images: number,
  timeout: Duration.Duration
): Effect.fn.Return<GeneratedImages, VendorFailure> {
  const startedAt = yield* monotonicMillis
  const otherCall = Effect.flatMap(monotonicMillis, (now) => {
    const remainingMillis = Duration.toMillis(timeout) - (now - startedAt)
    const timeoutResult = Effect.fail(timeoutFailure(timeout))
    return remainingMillis <= 0
      ? timeoutResult
      : Effect.timeoutOrElse(generateOne, {
          duration: remainingMillis,
          orElse: () => timeoutResult
        })
  })
  const firstResult = yield* Effect.result(generateOne)
  if (Result.isFailure(firstResult) && !isUnreadableAnswer(firstResult.failure))
    return yield* firstResult.failure
  const otherResults = yield* Effect.forEach(Arr.range(2, images), () => Effect.result(otherCall), {
    concurrency: MAX_CONCURRENT_CALLS
  })
  const [answers, failures] = Arr.separate([firstResult, ...otherResults])
  const [failure] = failures
  if (failure !== undefined) {
    yield* Effect.logWarning("image order: calls for single images failed").pipe(
      Effect.annotateLogs({ ordered: images, reasons: failures.map(failureKind).join(", ") })
    )
  }
  if (Arr.isReadonlyArrayNonEmpty(answers)) return joinAnswers(answers)
  return yield* failure ?? timeoutFailure(timeout)
})
