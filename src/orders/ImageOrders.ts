/** Image generation: hold, make, capture, answer. */
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ImageUnsupportedProtocol, InvalidRequest } from "../domain/Errors.ts"
import { ImageQuote } from "../domain/image/ImagePricing.ts"
import type { ImageBody } from "../domain/image/ImageRequest.ts"
import { unitOf } from "../domain/money/Quote.ts"
import { RawAnswer, writtenAnswer } from "../domain/RawAnswer.ts"
import { givenUp } from "../domain/VendorOutcome.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { CallLog, recordingCalls } from "../services/CallLog.ts"
import {
  type KeyAlreadyUsed,
  Repeats,
  type RequestKey,
  type StoredAnswer
} from "../services/IdempotencyKeys.ts"
import { Ledger } from "../services/Ledger.ts"
import type { ImageResult } from "../services/ProtocolAdapter.ts"
import { carriesImages } from "../services/recentAnswers.ts"
import { Ordering, type OrderRefusal } from "./OrderChecks.ts"
import { makeImagePricing } from "./Pricing.ts"
import { paidCall } from "./paidCall.ts"

export type ImageRefusal = OrderRefusal | ImageUnsupportedProtocol | InvalidRequest

export class Images extends Context.Service<
  Images,
  {
    /**
     * Makes images and charges for the requested number before it answers. On every failure the
     * whole hold is back before the error is answered. The key stands for this order from its hold
     * on, unless nothing came of it.
     */
    generate(
      caller: Caller,
      body: ImageBody,
      key: RequestKey | null
    ): Effect.Effect<RawAnswer, ImageRefusal | KeyAlreadyUsed>
  }
>()("gateway/services/Images") {}

const encodeQuote = Schema.encodeSync(ImageQuote)

export const layerImages = Layer.effect(
  Images,
  Effect.gen(function* () {
    const price = yield* makeImagePricing
    const ordering = yield* Ordering
    const ledger = yield* Ledger
    const random = yield* SecureRandom.SecureRandom
    const settings = yield* Settings
    const failpoints = yield* Failpoints
    const repeats = yield* Repeats
    const callLog = yield* CallLog
    const detached = yield* makeDetached("30 seconds")

    const generate: Images["Service"]["generate"] = Effect.fnUntraced(
      function* (caller, body, key) {
        const { quote, protocol, adapter, mounted } = yield* price(caller, body)
        const id = `im_${yield* random.uuidV7()}`
        const { organizationId } = caller
        const close = { organizationId, holdId: id, by: "image", task: null }

        const job = {
          channelId: mounted.channelId,
          protocol,
          upstreamModel: mounted.upstreamModel
        }

        /** The answer is kept with the charge, for repeats of this request. */
        const keepAnswer = Effect.fnUntraced(function* (
          result: ImageResult
        ): Effect.fn.Return<StoredAnswer | null> {
          if (key === null) return null
          if (!(result instanceof RawAnswer) && !carriesImages(result)) {
            return { _tag: "Images", result }
          }
          yield* repeats.remember(caller.organizationId, key, result)
          return { _tag: "Images", result: null }
        })

        return yield* detached(
          Effect.gen(function* () {
            yield* ordering.place({ organizationId, channelId: job.channelId })
            yield* failpoints.pass("image.ordered")
            yield* ledger.hold({
              organizationId,
              memberId: caller.memberId,
              id,
              amountNano: quote.holdNano,
              ttlSeconds: settings.imageDeadlineSeconds,
              quote: encodeQuote(quote),
              job,
              task: null,
              key
            })
            yield* failpoints.pass("image.held")
            const { result, answer } = yield* paidCall(
              adapter
                .generate(mounted.account, { upstreamModel: mounted.upstreamModel, body })
                .pipe(
                  recordingCalls(callLog, [
                    { organizationId, jobId: id, purpose: "image", upstreamId: null }
                  ]),
                  Effect.map((result) => ({
                    result,
                    answer: result instanceof RawAnswer ? result : writtenAnswer(result)
                  }))
                ),
              ({ error: _, ...how }) =>
                failpoints
                  .pass("image.refused")
                  .pipe(
                    Effect.andThen(ledger.release({ ...close, ...how })),
                    Effect.andThen(failpoints.pass("image.returned"))
                  )
            )
            yield* failpoints.pass("image.made")
            const closed = yield* ledger.capture({
              ...close,
              chargeNano: quote.holdNano,
              usage: {
                keyId: caller.keyId,
                taskId: null,
                model: body.model,
                modality: "image",
                input: 0n,
                output: BigInt(quote.images),
                ...unitOf(quote),
                basis: "requested_images"
              },
              answer: yield* keepAnswer(result)
            })
            if (closed.state !== "captured") return yield* givenUp()
            yield* failpoints.pass("image.captured")
            return answer
          }).pipe(Effect.scoped)
        )
      }
    )

    return Images.of({ generate })
  })
)
