/** Orders of several images at a vendor that generates one image per call. */
import { Array as Arr, Duration, Effect, Result } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { failureKind, isUnreadableAnswer, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import type { ImageResult } from "../../services/ProtocolAdapter.ts"
import { listOf } from "../wire/vendorAnswer.ts"
import { timeoutFailure } from "../wire/vendorFailures.ts"
import type { GeneratedImages } from "./standardImages.ts"

/** Calls of one order that run at the same time. */
const MAX_CONCURRENT_CALLS = 4

type Generate = Effect.Effect<GeneratedImages, VendorFailure>

/** These calls decode their answers fully, so no result is raw. */
const fieldsOf = (result: ImageResult): Readonly<Record<string, unknown>> =>
  result instanceof RawAnswer ? {} : result

/** Leaves out the usage of the first call, which does not cover the others. */
const joinAnswers = (answers: Arr.NonEmptyReadonlyArray<GeneratedImages>): GeneratedImages => {
  const { usage: _, ...fields } = fieldsOf(answers[0].result)
  return {
    result: { ...fields, data: answers.flatMap(({ result }) => listOf(fieldsOf(result).data)) },
    surplus: answers.reduce((sum, { surplus }) => sum + surplus, 0)
  }
}

/**
 * Generates the images by as many calls within the time limit of one order. If the first call fails, the
 * order fails and no other call is made. A first answer that is paid for but cannot be read does not
 * stop the order, because it would be charged without an image. Of the other calls, failed ones are
 * left out.
 */
export const generateOneByOne = Effect.fnUntraced(function* (
  generateOne: Generate,
  images: number,
  timeout: Duration.Duration
): Effect.fn.Return<GeneratedImages, VendorFailure> {
  const startedAt = yield* monotonicMillis
  const otherCall = Effect.flatMap(monotonicMillis, (now) => {
    const remainingMillis = Duration.toMillis(timeout) - (now - startedAt)
    const late = Effect.fail(timeoutFailure(timeout))
    return remainingMillis <= 0
      ? late
      : Effect.timeoutOrElse(generateOne, { duration: remainingMillis, orElse: () => late })
  })
  const first = yield* Effect.result(generateOne)
  if (Result.isFailure(first) && !isUnreadableAnswer(first.failure)) return yield* first.failure
  const others = yield* Effect.forEach(Arr.range(2, images), () => Effect.result(otherCall), {
    concurrency: MAX_CONCURRENT_CALLS
  })
  const [answers, failures] = Arr.separate([first, ...others])
  const [failure] = failures
  if (failure !== undefined) {
    yield* Effect.logWarning("image order: calls for single images failed").pipe(
      Effect.annotateLogs({ ordered: images, reasons: failures.map(failureKind).join(", ") })
    )
  }
  if (Arr.isReadonlyArrayNonEmpty(answers)) return joinAnswers(answers)
  return yield* failure ?? timeoutFailure(timeout)
})
