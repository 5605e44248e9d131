/** Orders of speech that are answered at once with a task; its sound is stored in the archive. */
import { Array as Arr, Effect, Exit } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { AnsweredWork } from "../../domain/money/workQuotes.ts"
import type { SpeechBody } from "../../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import { VendorLost } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { WorkPiece } from "../../services/ProtocolAdapter.ts"
import { type ArchivedFile, Bucket } from "../../services/results/ArchiveBucket.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import { type PaidOrder, unstreamedHooks } from "../orderValue.ts"
import { storeResultFile } from "../resultFiles.ts"
import { speechRequest } from "./audioRequests.ts"
import { workOrderOf } from "./workOrder.ts"

/** A sound in the archive, with what its vendor reported. */
interface StoredSound extends AnsweredWork {
  readonly file: ArchivedFile
}

/** The failure where there is no archive to store the sound in. */
const noArchive = new VendorLost({
  reason: "broken_answer",
  message: "The sound that was made could not be stored, as there is no archive",
  status: 200,
  retryAfterSeconds: null
})

/** The sound as far as it has arrived, and the last token counts. */
const makeArrived = () => {
  const chunks: Array<Uint8Array> = []
  let usage: TokenCounts | null = null
  return {
    add: (pieces: ReadonlyArray<WorkPiece>) =>
      Effect.sync(() => {
        for (const piece of pieces) {
          usage = piece.usage ?? usage
          if (piece.bytes !== null) chunks.push(piece.bytes)
        }
      }),
    chunks,
    usage: () => usage
  }
}

export const makeSpeechTask = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, hasArchive, textStreamDeadlineSeconds: deadlineSeconds } = yield* Settings
  const bucket = yield* Bucket

  /**
   * Makes an order that is answered as soon as its hold is taken; `onHeld` is called at that time.
   * A sound that breaks off is charged as an answer that could not be read.
   */
  return Effect.fnUntraced(function* (
    caller: Caller,
    { callback_url: callbackUrl = null, ...body }: SpeechBody,
    onHeld: (id: string) => Effect.Effect<unknown>
  ) {
    const request = speechRequest(body)
    const resolved = yield* resolve.work(caller, request)
    const { terms, finishBy, chargeUnread } = workOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds
    })
    const unreadTokens = request.unreportedTokens(resolved.quote)

    const speak = ({ adapter, accounts, job }: (typeof resolved.mounts)[number], id: string) =>
      Effect.gen(function* () {
        const arrived = yield* keyTurns.forOrder(accounts, (account) => {
          const sound = makeArrived()
          return Effect.as(
            request.streamWork(adapter, account, job.upstreamModel, sound.add),
            sound
          )
        })
        if (bucket === null) return yield* noArchive
        const { organizationId } = caller
        const { chunks } = arrived
        const { contentType } = resolved
        const stored = { organizationId, id, n: 0, contentType, chunks, isMarked: false }
        const file = yield* storeResultFile(bucket, stored)
        return { file, usage: arrived.usage(), outputBytes: 0 }
      })

    const order: PaidOrder<StoredSound, void> = {
      ...terms,
      ...unstreamedHooks,
      kind: "speech",
      mounts: Arr.map(resolved.mounts, (mount) => ({
        ...mount,
        call: ({ id }) => speak(mount, id)
      })),
      task: {
        created: {
          listedProtocol: resolved.model.protocol,
          summary: { response_format: body.response_format ?? null },
          submitSeconds: deadlineSeconds,
          callbackUrl,
          isArchived: hasArchive
        },
        rejected: (error) => ({
          from: "submitting",
          state: "rejected",
          errorCode: error._tag,
          errorMessage: terms.storableRefusal(error, null).message
        }),
        cancelled: null
      },
      finish: ({ file, ...answered }, id) =>
        Effect.map(finishBy(id, { ...answered, unreadTokens }, null, Exit.void), (charge) => ({
          ...charge,
          task: { from: "submitting", state: "succeeded", result: {}, files: [file] },
          repeatAnswer: null
        })),
      chargeUnread: (failure, id) => {
        const { charge, error } = chargeUnread(failure, id)
        return {
          ...charge,
          task: {
            from: "submitting",
            state: "failed",
            errorCode: error._tag,
            errorMessage: error.message
          },
          repeatAnswer: null
        }
      },
      around: (steps, id) => Effect.andThen(onHeld(id), steps)
    }
    return order
  })
})
