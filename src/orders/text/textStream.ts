/** A text as an order that is answered while it is written, and charged when it ends. */
import { Array as Arr, Cause, Effect, Exit, Option } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { tokensOfBytes } from "../../domain/text/tokenSize.ts"
import { upstreamErrorOf, type VendorFailure } from "../../domain/VendorOutcome.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { TextPiece } from "../../services/ProtocolAdapter.ts"
import { chatRequest, type OrderResolution } from "../OrderResolution.ts"
import type { PaidOrder } from "../orderValue.ts"
import { makeStreamedAnswer } from "../streamedAnswer.ts"
import { textOrderOf, type Written } from "./textOrder.ts"

/** Why the stream broke off after something had been written; null where it came to its end. */
type Broken = Cause.Cause<VendorFailure> | null

/**
 * The vendor is read to its end even when the client has gone. A stream that breaks off is charged by the
 * formula for what had been written. Where nothing had, it is charged as an answer that could not be read
 * when it had begun, by the size of what came, and not at all otherwise.
 */
export const makeTextStream = (resolve: OrderResolution, keyTurns: KeyTurns) =>
  Effect.map(Settings, ({ currency, textDeadlineSeconds, textStreamDeadlineSeconds }) => {
    const patienceOf = Math.min(textDeadlineSeconds, textStreamDeadlineSeconds)

    return Effect.fnUntraced(function* (caller: Caller, body: ChatBody) {
      const request = chatRequest(body)
      const resolved = yield* resolve.text(caller, request)
      const { common, charged, chargedUnread } = textOrderOf(caller, request, resolved, currency)
      const { answer, begun, offer, around } = yield* makeStreamedAnswer(patienceOf)
      const written: { usage: TokenCounts | null; outputBytes: number; hasEvents: boolean } = {
        usage: null,
        outputBytes: 0,
        hasEvents: false
      }
      const take = (piece: TextPiece) =>
        Effect.gen(function* () {
          // A count of what came before is none of a text that goes on.
          written.usage = piece.usage ?? (piece.outputBytes > 0 ? null : written.usage)
          written.outputBytes += piece.outputBytes
          if (piece.event === null) return
          written.hasEvents = true
          yield* offer(piece.event)
        })
      /** What the vendor counted in mid-stream may be of what it had read alone. */
      const brokenOff = (): Written => ({ ...written, usage: null })

      const finish = (broken: Broken, id: string) =>
        Effect.gen(function* () {
          if (broken === null) return yield* charged(id, written, null, Exit.void)
          if (Cause.hasDies(broken)) {
            yield* Effect.logError("a stream was broken off by a defect", broken).pipe(
              Effect.annotateLogs({ hold_id: id })
            )
          }
          const failed = Exit.failCause(Cause.map(broken, upstreamErrorOf))
          return yield* charged(id, brokenOff(), null, failed)
        })

      const order: PaidOrder<Broken, void> = {
        ...common,
        deadlineSeconds: textStreamDeadlineSeconds,
        mounts: Arr.map(resolved.mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: () =>
            keyTurns
              .forOrder(
                accounts,
                (account) =>
                  adapter.stream(
                    account,
                    { upstreamModel: mount.job.upstreamModel, body: request.body },
                    take
                  ),
                () => !written.hasEvents
              )
              .pipe(
                Effect.as(null),
                // Also a defect of ours comes after what it broke off had been delivered.
                Effect.catchCause((cause) =>
                  written.outputBytes > 0 && !Cause.hasInterrupts(cause)
                    ? Effect.succeed(cause)
                    : Effect.failCause(cause)
                )
              )
        })),
        hasBegun: () => written.hasEvents,
        brokenOffBy: (broken) =>
          broken === null ? null : Option.getOrNull(Cause.findErrorOption(broken)),
        finish,
        finishUnread: (failure, id) => {
          const { outputTokens } = resolved.quote
          const came = tokensOfBytes(failure.answer?.bytes ?? 0)
          return chargedUnread(failure, id, came < outputTokens ? came : outputTokens)
        },
        finishPart: (id) =>
          written.outputBytes > 0 ? charged(id, brokenOff(), null, Exit.void) : null,
        around
      }
      return { order, begun, answer }
    })
  })
