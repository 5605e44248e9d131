/** Orders whose answer is passed on as it arrives: spoken texts, and streamed transcriptions. */
import { Array as Arr, Cause, Effect, Exit } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { AnsweredWork, WorkQuote } from "../../domain/money/workQuotes.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import { upstreamErrorOf, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { ChannelAccount, WorkPiece } from "../../services/ProtocolAdapter.ts"
import type { OrderResolution, WorkRequest } from "../OrderResolution.ts"
import type { PaidOrder } from "../orderValue.ts"
import {
  type BreakOff,
  breakOffOf,
  makeStreamedAnswer,
  type StreamedAnswer
} from "../streamedAnswer.ts"
import { workOrderOf } from "./workOrder.ts"

/** A request whose answer is passed on as it arrives. */
export interface StreamedRequest<Adapter> extends WorkRequest<Adapter> {
  readonly streamWork: (
    adapter: Adapter,
    account: ChannelAccount,
    upstreamModel: string,
    take: (pieces: ReadonlyArray<WorkPiece>) => Effect.Effect<void>
  ) => Effect.Effect<void, VendorFailure>
  /** The output tokens that count where the vendor reports none; a text is counted by its size. */
  readonly unreportedTokens: (quote: WorkQuote) => bigint
}

/** An answer that is streamed to its client, with its content type. */
export class StreamedWork {
  readonly answer: StreamedAnswer
  readonly contentType: string

  constructor(answer: StreamedAnswer, contentType: string) {
    this.answer = answer
    this.contentType = contentType
  }
}

/** The largest answer in bytes that is kept for repeats of its request. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024

/** The answer as far as it has arrived. */
const makeArrived = () => {
  let usage: TokenCounts | null = null
  let seconds: number | undefined
  let outputBytes = 0
  let bytes = 0
  let hasProduct = false
  let hasBegun = false
  let chunks: Array<Uint8Array> = []
  return {
    /** Adds the pieces and returns the bytes for the client. */
    add: (pieces: ReadonlyArray<WorkPiece>): ReadonlyArray<Uint8Array> => {
      const added: Array<Uint8Array> = []
      for (const piece of pieces) {
        usage = piece.usage ?? usage
        seconds = piece.seconds ?? seconds
        outputBytes += piece.outputBytes
        hasProduct ||= piece.hasProduct
        if (piece.bytes === null) continue
        bytes += piece.bytes.byteLength
        added.push(piece.bytes)
      }
      hasBegun ||= added.length > 0
      if (bytes <= MAX_REMEMBERED_BYTES) chunks.push(...added)
      else chunks = []
      return added
    },
    hasProduct: () => hasProduct,
    hasBegun: () => hasBegun,
    /** What the vendor reported of the whole answer, and its size. */
    whole: () => ({ usage, outputBytes, ...(seconds === undefined ? {} : { seconds }) }),
    /** Usage reported in mid-stream may cover a part alone, so it is not used for the charge. */
    part: () => ({ usage: null, outputBytes }),
    /** The whole answer for repeats of the request; null if it is too large to be kept. */
    remembered: (contentType: string): RawAnswer | null =>
      bytes <= MAX_REMEMBERED_BYTES ? new RawAnswer(chunks, undefined, contentType) : null
  }
}

/**
 * Makes orders whose answer is streamed. The vendor's answer is read to its end even when the client
 * has disconnected. An answer that breaks off is charged, because the vendor bills it; a failure
 * before the first part of the product is not charged.
 */
export const makeStreamedWork = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, textDeadlineSeconds, textStreamDeadlineSeconds } = yield* Settings
  const answerSeconds = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds)

  return Effect.fnUntraced(function* <Adapter>(caller: Caller, request: StreamedRequest<Adapter>) {
    const resolved = yield* resolve.work(caller, request)
    const { terms, finishBy, chargeUnread } = workOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds: textStreamDeadlineSeconds
    })
    const { answer, firstEvent, offer, around } = yield* makeStreamedAnswer(answerSeconds)
    const arrived = makeArrived()
    const unreadTokens = request.unreportedTokens(resolved.quote)
    const withUnread = (answered: AnsweredWork): AnsweredWork => ({ ...answered, unreadTokens })

    const takePieces = (pieces: ReadonlyArray<WorkPiece>): Effect.Effect<void> =>
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
          (account) => request.streamWork(adapter, account, job.upstreamModel, takePieces),
          () => !arrived.hasBegun()
        )
        .pipe(
          Effect.as(null),
          // After the first part of the product, a defect of the gateway cuts the answer short just
          // as a failure of the vendor does, and the order is charged.
          Effect.catchCause((cause) =>
            arrived.hasProduct() && !Cause.hasInterrupts(cause)
              ? Effect.succeed(cause)
              : Effect.failCause(cause)
          )
        )

    const order: PaidOrder<BreakOff, void> = {
      ...terms,
      wait: null,
      mounts: Arr.map(resolved.mounts, (mount) => ({ ...mount, call: () => callWith(mount) })),
      hasBegun: arrived.hasBegun,
      breakOffOf,
      finish: (breakOff, id) =>
        breakOff === null
          ? finishBy(
              id,
              withUnread(arrived.whole()),
              arrived.remembered(resolved.contentType),
              Exit.void
            )
          : finishBy(
              id,
              withUnread(arrived.part()),
              null,
              Exit.failCause(Cause.map(breakOff, upstreamErrorOf))
            ),
      chargeUnread: (failure, id) => chargeUnread(failure, id).charge,
      finishPart: (id) =>
        arrived.hasProduct() ? finishBy(id, withUnread(arrived.part()), null, Exit.void) : null,
      around
    }
    return {
      order,
      firstEvent,
      answer: new StreamedWork(answer, resolved.contentType),
      disconnect: answer.disconnect
    }
  })
})
