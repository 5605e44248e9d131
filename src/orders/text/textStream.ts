/** Orders of texts with a streamed answer, charged when the stream ends. */
import { Array as Arr, Cause, Effect, Exit } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import type { AnsweredWork } from "../../domain/money/workQuotes.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { tokensOfBytes } from "../../domain/text/tokenSize.ts"
import { upstreamErrorOf, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { ChannelAccount, TextAdapter, TextPiece } from "../../services/ProtocolAdapter.ts"
import {
  chatRequest,
  type OrderResolution,
  type WholeRequest,
  type WorkNames,
  type WorkRequest
} from "../OrderResolution.ts"
import type { PaidOrder } from "../orderValue.ts"
import { type BreakOff, breakOffOf, makeStreamedAnswer } from "../streamedAnswer.ts"
import { makeModelRenaming } from "./orderedModel.ts"
import { workOrderOf } from "./workOrder.ts"

/** A request of a text whose answer is streamed. */
export interface StreamedTextRequest extends WorkRequest<TextAdapter> {
  /**
   * Calls a vendor and takes the pieces of its answer, with their events as the client gets them.
   */
  readonly streamText: (
    adapter: TextAdapter,
    account: ChannelAccount,
    names: WorkNames,
    take: (pieces: ReadonlyArray<TextPiece>) => Effect.Effect<void>
  ) => Effect.Effect<void, VendorFailure>
}

/** A text that its client gets in the form of another API than chats, whole or as a stream. */
export interface TranslatedText {
  readonly request: WholeRequest<TextAdapter> & StreamedTextRequest
  /** The order, whose product gets the order's id and is complete when its charge is decided. */
  readonly withAnswer: <Product, Answer>(
    order: PaidOrder<Product, Answer>
  ) => PaidOrder<Product, Answer>
  /** The last events of its stream: its end, or the error that cut it short. */
  readonly lastEventsOf: (error: UpstreamError | null) => Uint8Array | null
}

/** The request of a streamed chat, whose events name the ordered model. */
export const chatStreamRequest = (order: ChatBody): StreamedTextRequest => {
  const request = chatRequest(order)
  return {
    ...request,
    streamText: (adapter, account, { upstreamModel, model }, take) => {
      const rename = makeModelRenaming(model)
      const named = (piece: TextPiece): TextPiece =>
        piece.event === null ? piece : { ...piece, event: rename(piece.event) }
      return adapter.stream(account, { upstreamModel, body: request.body }, (pieces) =>
        take(pieces.map(named))
      )
    }
  }
}

/** The part of a stream that has arrived so far. */
interface StreamedText {
  usage: TokenCounts | null
  outputBytes: number
  hasEvents: boolean
}

/** Usage reported mid-stream may cover the input alone, so it is not used for the charge. */
const brokenOff = ({ outputBytes }: StreamedText): AnsweredWork => ({ usage: null, outputBytes })

/**
 * Makes streamed text orders. The vendor's stream is read to its end even when the client has
 * disconnected. A stream that is cut short after text had been written is charged for that text, by
 * the formula that estimates tokens from its size. A successful answer that is cut short before any
 * text is charged as an answer that could not be read, by the number of received bytes. Any other
 * failure before the first text is not charged.
 */
export const makeTextStream = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, textDeadlineSeconds, textStreamDeadlineSeconds } = yield* Settings
  const answerSeconds = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds)

  return Effect.fnUntraced(function* (caller: Caller, request: StreamedTextRequest) {
    const resolved = yield* resolve.work(caller, request)
    const { terms, finishBy, chargeUnread } = workOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds: textStreamDeadlineSeconds
    })
    const { answer, firstEvent, offer, around } = yield* makeStreamedAnswer(answerSeconds)
    const text: StreamedText = { usage: null, outputBytes: 0, hasEvents: false }

    const takePieces = (pieces: ReadonlyArray<TextPiece>): Effect.Effect<void> =>
      Effect.suspend(() => {
        for (const { usage, outputBytes } of pieces) {
          // A count of tokens is dropped when more text follows, as the count does not cover that
          // text.
          text.usage = usage ?? (outputBytes > 0 ? null : text.usage)
          text.outputBytes += outputBytes
        }
        const events = pieces.flatMap(({ event }) => (event === null ? [] : [event]))
        if (events.length === 0) return Effect.void
        text.hasEvents = true
        return offer(events)
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
            request.streamText(
              adapter,
              account,
              { upstreamModel: job.upstreamModel, model: resolved.model.id },
              takePieces
            ),
          () => !text.hasEvents
        )
        .pipe(
          Effect.as(null),
          // After the first text, a defect of the gateway cuts the answer short just as a failure
          // of the vendor does, and the text is charged.
          Effect.catchCause((cause) =>
            text.outputBytes > 0 && !Cause.hasInterrupts(cause)
              ? Effect.succeed(cause)
              : Effect.failCause(cause)
          )
        )

    const finish = Effect.fnUntraced(function* (breakOff: BreakOff, id: string) {
      if (breakOff === null) return yield* finishBy(id, text, null, Exit.void)
      if (Cause.hasDies(breakOff)) {
        yield* Effect.logError("order: stream cut short by a defect", breakOff).pipe(
          Effect.annotateLogs({ order_id: id })
        )
      }
      const failure = Exit.failCause(Cause.map(breakOff, upstreamErrorOf))
      return yield* finishBy(id, brokenOff(text), null, failure)
    })

    const order: PaidOrder<BreakOff, void> = {
      ...terms,
      wait: null,
      mounts: Arr.map(resolved.mounts, (mount) => ({ ...mount, call: () => callWith(mount) })),
      hasBegun: () => text.hasEvents,
      breakOffOf,
      finish,
      chargeUnread: (failure, id) =>
        chargeUnread(failure, id, tokensOfBytes(failure.answer?.bytes ?? 0)).charge,
      finishPart: (id) =>
        text.outputBytes > 0 ? finishBy(id, brokenOff(text), null, Exit.void) : null,
      around
    }
    return { order, firstEvent, answer, disconnect: answer.disconnect }
  })
})
