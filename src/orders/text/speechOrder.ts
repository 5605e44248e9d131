/** Orders of spoken texts, whose sound is streamed and charged when it ends. */
import { Array as Arr, Cause, Effect, Exit } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { AnsweredWork } from "../../domain/money/workQuotes.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { type SpeechBody, speechContentType } from "../../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import { upstreamErrorOf, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { SoundPiece } from "../../services/ProtocolAdapter.ts"
import { type OrderResolution, speechRequest } from "../OrderResolution.ts"
import type { PaidOrder } from "../orderValue.ts"
import {
  type BreakOff,
  breakOffOf,
  makeStreamedAnswer,
  type StreamedAnswer
} from "../streamedAnswer.ts"
import { workOrderOf } from "./workOrder.ts"

/** A sound that is streamed to its client. */
export class StreamedSpeech {
  readonly answer: StreamedAnswer
  readonly contentType: string

  constructor(answer: StreamedAnswer, contentType: string) {
    this.answer = answer
    this.contentType = contentType
  }
}

/** The largest sound in bytes that is kept for repeats of its request. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024

/** The sound as far as it has arrived. */
const makeArrived = () => {
  let usage: TokenCounts | null = null
  let bytes = 0
  let hasSound = false
  let hasBegun = false
  let chunks: Array<Uint8Array> = []
  return {
    /** Adds the pieces and returns the bytes for the client. */
    add: (pieces: ReadonlyArray<SoundPiece>): ReadonlyArray<Uint8Array> => {
      const added: Array<Uint8Array> = []
      for (const piece of pieces) {
        usage = piece.usage ?? usage
        hasSound ||= piece.hasSound
        if (piece.bytes === null) continue
        bytes += piece.bytes.byteLength
        added.push(piece.bytes)
      }
      hasBegun ||= added.length > 0
      if (bytes <= MAX_REMEMBERED_BYTES) chunks.push(...added)
      else chunks = []
      return added
    },
    hasSound: () => hasSound,
    hasBegun: () => hasBegun,
    usage: () => usage,
    /** The whole sound for repeats of the request; null if it is too large to be kept. */
    remembered: (contentType: string): RawAnswer | null =>
      bytes <= MAX_REMEMBERED_BYTES ? new RawAnswer(chunks, undefined, contentType) : null
  }
}

/**
 * Makes orders of spoken texts. The vendor's sound is read to its end even when the client has
 * disconnected. A sound that breaks off is charged like a whole one, because the vendor bills the
 * text; a failure before the first part of the sound is not charged.
 */
export const makeSpeechOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, textDeadlineSeconds, textStreamDeadlineSeconds } = yield* Settings
  const answerSeconds = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds)

  return Effect.fnUntraced(function* (caller: Caller, ordered: SpeechBody) {
    const request = speechRequest(ordered)
    const resolved = yield* resolve.work(caller, request)
    const { terms, finishBy, chargeUnread } = workOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds: textStreamDeadlineSeconds
    })
    const { answer, firstEvent, offer, around } = yield* makeStreamedAnswer(answerSeconds)
    const arrived = makeArrived()

    const takePieces = (pieces: ReadonlyArray<SoundPiece>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const bytes = arrived.add(pieces)
        return bytes.length === 0 ? Effect.void : offer(bytes)
      })

    const callWith = ({
      adapter,
      accounts,
      job
    }: (typeof resolved.mounts)[number]): Effect.Effect<BreakOff, VendorFailure> =>
      keyTurns
        .forOrder(
          accounts,
          (account) =>
            adapter.speak(
              account,
              { upstreamModel: job.upstreamModel, body: request.body },
              takePieces
            ),
          () => !arrived.hasBegun()
        )
        .pipe(
          Effect.as(null),
          // After the first part of the sound, a defect of the gateway cuts the answer short just as
          // a failure of the vendor does, and the order is charged.
          Effect.catchCause((cause) =>
            arrived.hasSound() && !Cause.hasInterrupts(cause)
              ? Effect.succeed(cause)
              : Effect.failCause(cause)
          )
        )

    /** Where the vendor reports no tokens, those that are held for count. */
    const answered = (): AnsweredWork => ({
      usage: arrived.usage(),
      outputBytes: 0,
      unreadTokens: resolved.quote.kind === "tokens" ? resolved.quote.outputTokens : 0n
    })

    const order: PaidOrder<BreakOff, void> = {
      ...terms,
      mounts: Arr.map(resolved.mounts, (mount) => ({ ...mount, call: () => callWith(mount) })),
      hasBegun: arrived.hasBegun,
      breakOffOf,
      finish: (breakOff, id) =>
        breakOff === null
          ? finishBy(id, answered(), arrived.remembered(speechContentType(ordered)), Exit.void)
          : finishBy(
              id,
              { ...answered(), usage: null },
              null,
              Exit.failCause(Cause.map(breakOff, upstreamErrorOf))
            ),
      chargeUnread: (failure, id) => chargeUnread(failure, id),
      finishPart: (id) =>
        arrived.hasSound() ? finishBy(id, { ...answered(), usage: null }, null, Exit.void) : null,
      around
    }
    return { order, firstEvent, answer }
  })
})
