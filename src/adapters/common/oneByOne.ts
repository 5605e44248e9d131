/** Orders of several images at a vendor that makes one a call. */
import { Array as Arr, Duration, Effect, Result } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { failureKind, isUnread, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import type { ImageResult } from "../../services/ProtocolAdapter.ts"
import { listOf } from "../wire/vendorAnswer.ts"
import { timedOut } from "../wire/vendorFailures.ts"
import type { Drawn } from "./standardImages.ts"

/** Calls of one order that are under way together. */
const CALLS_TOGETHER = 4

type Draw = Effect.Effect<Drawn, VendorFailure>

/** The calls decode what they read, so none is raw. */
const fieldsOf = (result: ImageResult): Readonly<Record<string, unknown>> =>
  result instanceof RawAnswer ? {} : result

/** What a vendor counts of one call says nothing of them all. */
const joined = (drawn: Arr.NonEmptyReadonlyArray<Drawn>): Drawn => {
  const { usage: _, ...fields } = fieldsOf(drawn[0].result)
  return {
    result: { ...fields, data: drawn.flatMap(({ result }) => listOf(fieldsOf(result).data)) },
    surplus: drawn.reduce((sum, { surplus }) => sum + surplus, 0)
  }
}

/**
 * Makes the images by as many calls within the time of one. The first call speaks for the order: where
 * it fails, no other is made. A first answer that is paid for and cannot be read is no such failure, as
 * the order would be charged without an image. Of the others, those that fail are left out.
 */
export const drawOneByOne = Effect.fnUntraced(function* (
  drawOne: Draw,
  images: number,
  timeout: Duration.Duration
): Effect.fn.Return<Drawn, VendorFailure> {
  const startedAt = yield* monotonicMillis
  const inTime = Effect.flatMap(monotonicMillis, (now) => {
    const left = Duration.toMillis(timeout) - (now - startedAt)
    const late = Effect.fail(timedOut(timeout))
    return left <= 0 ? late : Effect.timeoutOrElse(drawOne, { duration: left, orElse: () => late })
  })
  const first = yield* Effect.result(drawOne)
  if (Result.isFailure(first) && !isUnread(first.failure)) return yield* Effect.fail(first.failure)
  const others = yield* Effect.forEach(Arr.range(2, images), () => Effect.result(inTime), {
    concurrency: CALLS_TOGETHER
  })
  const [drawn, failures] = Arr.separate([first, ...others])
  const [failure] = failures
  if (failure !== undefined) {
    yield* Effect.logWarning("images of an order were not made").pipe(
      Effect.annotateLogs({ ordered: images, reasons: failures.map(failureKind).join(", ") })
    )
  }
  if (Arr.isReadonlyArrayNonEmpty(drawn)) return joined(drawn)
  return yield* Effect.fail(failure ?? timedOut(timeout))
})
