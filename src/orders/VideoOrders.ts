/**
 * Ordering a video: hold, submit, record, answer. Each step is safe to stop after: what a crash
 * leaves in `submitting` is given back by the sweep.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { InvalidRequest, VideoSkuInvalid, VideoUnsupportedProtocol } from "../domain/Errors.ts"
import { givenUp } from "../domain/VendorOutcome.ts"
import { VideoQuote } from "../domain/video/VideoPricing.ts"
import type { VideoBody } from "../domain/video/VideoRequest.ts"
import { withoutEchoes } from "../hiding/promptsFromRecords.ts"
import { makeDetached } from "../runtime/Detached.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { CallLog, recordingCalls } from "../services/CallLog.ts"
import type { KeyAlreadyUsed, RequestKey } from "../services/IdempotencyKeys.ts"
import { Ledger } from "../services/Ledger.ts"
import type { VideoOrder } from "../services/ProtocolAdapter.ts"
import { TaskRepo } from "../services/TaskRepo.ts"
import { Ordering, type OrderRefusal } from "./OrderChecks.ts"
import { makeVideoPricing } from "./Pricing.ts"
import { abandonedCall, type GiveBack, paidCall } from "./paidCall.ts"

export type VideoRefusal =
  | OrderRefusal
  | InvalidRequest
  | VideoUnsupportedProtocol
  | VideoSkuInvalid

export interface AcceptedVideo {
  readonly id: string
  readonly quote: VideoQuote
}

export class VideoTasks extends Context.Service<
  VideoTasks,
  {
    /**
     * Orders a video and answers the task's id and price once the vendor has accepted it. On every failure
     * the whole hold is back before the error is answered. The key stands for this order from its
     * hold on, unless nothing came of it.
     */
    create(
      caller: Caller,
      body: VideoBody,
      key: RequestKey | null
    ): Effect.Effect<AcceptedVideo, VideoRefusal | KeyAlreadyUsed>
  }
>()("gateway/services/VideoTasks") {}

const encodeQuote = Schema.encodeSync(VideoQuote)

export const layerVideoTasks = Layer.effect(
  VideoTasks,
  Effect.gen(function* () {
    const price = yield* makeVideoPricing
    const ordering = yield* Ordering
    const ledger = yield* Ledger
    const tasks = yield* TaskRepo
    const random = yield* SecureRandom.SecureRandom
    const settings = yield* Settings
    const failpoints = yield* Failpoints
    const callLog = yield* CallLog
    const detached = yield* makeDetached("30 seconds")

    const create: VideoTasks["Service"]["create"] = Effect.fnUntraced(
      function* (caller, body, key) {
        const { input, sku, quote, inputs, protocol, listedProtocol, adapter, mounted } =
          yield* price(caller, body)
        const id = `vt_${yield* random.uuidV7()}`
        const order: VideoOrder = {
          ...input,
          taskId: id,
          upstreamModel: mounted.upstreamModel,
          listedProtocol,
          seconds: sku.seconds,
          resolution: sku.resolution
        }
        const { organizationId } = caller
        const close = { organizationId, holdId: id, by: "create" }
        const job = {
          channelId: mounted.channelId,
          protocol,
          upstreamModel: mounted.upstreamModel
        }

        const texts = order.blocks.map((block) => (block.type === "text" ? block.text : block.url))

        /** No client reads a rejected task's message: it is kept for the operator, without the prompt. */
        const giveBack = ({ error, ...how }: GiveBack) =>
          failpoints.pass("video.refused").pipe(
            Effect.andThen(
              ledger.release({
                ...close,
                ...how,
                task: {
                  from: "submitting",
                  state: "rejected",
                  errorCode: error._tag,
                  errorMessage: withoutEchoes(error.message, texts)
                }
              })
            ),
            Effect.tap(() => failpoints.pass("video.returned"))
          )

        const accepted = (upstreamId: string) =>
          Effect.annotateLogs({ task: id, upstreamId, channel: job.channelId })

        /**
         * The vendor has the job and the store has refused the record of it. The hold is given back,
         * unless the record was written all the same: the client is told what stands in the books.
         */
        const giveBackUnrecorded = Effect.fnUntraced(function* (
          upstreamId: string,
          defect: unknown
        ) {
          yield* Effect.logError("an accepted task could not be recorded", defect).pipe(
            accepted(upstreamId)
          )
          const orphan = { upstreamId, reason: "not_recorded" }
          const { won } = yield* giveBack(abandonedCall(orphan))
          if (won) return yield* givenUp()
          const { state } = yield* Effect.orDie(tasks.find(organizationId, id))
          return state !== "rejected"
        })

        return yield* detached(
          Effect.gen(function* () {
            yield* ordering.place({ organizationId, channelId: job.channelId })
            yield* failpoints.pass("video.ordered")
            yield* ledger.hold({
              organizationId,
              memberId: caller.memberId,
              id,
              amountNano: quote.holdNano,
              ttlSeconds: settings.taskDeadlineSeconds,
              quote: encodeQuote(quote),
              job,
              task: {
                keyId: caller.keyId,
                model: body.model,
                listedProtocol,
                summary: { ...inputs, ...sku, ratio: input.ratio, sound: input.generateAudio },
                submitSeconds: settings.submitDeadlineSeconds
              },
              key
            })
            yield* failpoints.pass("video.held")
            const upstreamId = yield* paidCall(
              adapter
                .submit(mounted.account, order)
                .pipe(
                  recordingCalls(callLog, [
                    { organizationId, jobId: id, purpose: "submit", upstreamId: null }
                  ])
                ),
              giveBack
            )
            yield* failpoints.pass("video.accepted")
            const recorded = yield* tasks
              .accept(organizationId, id, upstreamId, settings.askIntervalSeconds)
              .pipe(
                Effect.catchDefect((defect) => giveBackUnrecorded(upstreamId, defect)),
                Effect.onInterrupt(() =>
                  Effect.logError("the gateway stopped before an accepted task was recorded").pipe(
                    accepted(upstreamId)
                  )
                )
              )
            if (!recorded) {
              yield* Effect.logError("the vendor accepted a task that had been given up").pipe(
                accepted(upstreamId)
              )
              yield* tasks.acceptedLate(organizationId, id, upstreamId)
              return yield* givenUp()
            }
            yield* failpoints.pass("video.recorded")
            return { id, quote }
          }).pipe(Effect.scoped)
        )
      }
    )

    return VideoTasks.of({ create })
  })
)
