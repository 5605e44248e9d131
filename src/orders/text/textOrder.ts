/** Chat and embeddings as orders: answered whole, and charged by the vendor's count of tokens. */
import { Array as Arr, Effect, Exit, Predicate } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import type { Quote } from "../../domain/money/Quote.ts"
import { type RawAnswer, writtenAnswer } from "../../domain/RawAnswer.ts"
import { chargeText, type TokenCounts, type WrittenText } from "../../domain/text/TextQuote.ts"
import {
  implausibleUsage,
  type ReportedUsage,
  UNREAD_BASIS,
  type VendorLost,
  VendorRefused
} from "../../domain/VendorOutcome.ts"
import { storableRefusal } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { TextAnswer } from "../../services/ProtocolAdapter.ts"
import type { OrderResolution, TextRequest } from "../OrderResolution.ts"
import type { ChargeOf, Finish, PaidOrder } from "../orderValue.ts"
import { unreadCharge } from "../unreadAnswer.ts"

/** What a vendor wrote, as far as it is charged by. */
export interface Written {
  readonly usage: TokenCounts | null
  readonly outputBytes: number
}

const noteImplausible = (id: string, { input, output }: ReportedUsage) =>
  Effect.logWarning("a vendor's count of tokens cannot be right").pipe(
    Effect.annotateLogs({
      hold_id: id,
      input_tokens: String(input),
      output_tokens: String(output)
    })
  )

/** What text orders have in common, however they are answered. */
export const textOrderOf = (
  caller: Caller,
  request: TextRequest,
  { model, quote }: Effect.Success<ReturnType<OrderResolution["text"]>>,
  currency: string
) => {
  const isEmbedding = model.modality === "embedding"

  /** How a charge for what the vendor counted, or for the formula without it, stands in the books. */
  const chargeOf = (counted: TokenCounts | null, written: WrittenText) => {
    const { inputTokens, outputTokens, chargeNano, basis, implausible } = chargeText(
      quote,
      counted,
      written
    )
    return {
      _tag: "Charge",
      chargeNano,
      implausible,
      costBy: (cost: Quote) =>
        cost.kind === "tokens" ? chargeText(cost, counted, written).chargeNano : cost.holdNano,
      usage: {
        input: inputTokens,
        output: outputTokens,
        unit: "token",
        unitPriceNano: isEmbedding ? quote.nanoPerInputToken : quote.nanoPerOutputToken,
        inputUnitPriceNano: quote.nanoPerInputToken,
        basis
      }
    } as const
  }

  /**
   * Charges for an answer that could not be read: by what the vendor counted, or for what was sent and so
   * much output.
   */
  const chargedUnread = (
    failure: VendorLost,
    id: string,
    outputTokens: bigint
  ): ChargeOf<never> => {
    const { usage: counted = null } = failure
    const unreadTokens = counted?.outputTokens === 0n ? 0n : outputTokens
    const { implausible: _, ...charge } = chargeOf(counted, { outputBytes: 0, unreadTokens })
    const { basis } = charge.usage
    const usage = { ...charge.usage, basis: basis === "formula" ? UNREAD_BASIS : basis }
    return unreadCharge({ ...charge, usage }, failure, { orderId: id, currency }).finish
  }

  /** Charges by the vendor's count, and by the size of what was sent and received without one. */
  const charged = <Answer>(
    id: string,
    written: Written,
    remembered: RawAnswer | null,
    answer: Exit.Exit<Answer, UpstreamError>
  ) =>
    Effect.gen(function* (): Effect.fn.Return<Finish<Answer>> {
      const { implausible, ...charge } = chargeOf(written.usage, written)
      if (implausible !== null) yield* noteImplausible(id, implausible)
      return {
        ...charge,
        orphan: implausible === null ? null : implausibleUsage(implausible, null),
        keep: () => ({ stored: { _tag: "Text", streamed: remembered === null }, remembered }),
        answer
      }
    })

  return {
    charged,
    chargedUnread,
    common: {
      kind: "text",
      caller,
      model,
      quote,
      metadata: request.metadata,
      promptDigest: null,
      /** What a vendor says of a text may be the text; repeats get less of it than the first answer. */
      storableRefusal: (error, orphan) => storableRefusal(error, request.body, orphan !== null)
    } satisfies Partial<PaidOrder<unknown, unknown>>
  }
}

/** What a vendor answers that failed while it wrote, and had neither written nor counted anything. */
const isFailure = ({ result, usage, outputBytes }: TextAnswer): boolean =>
  usage === null &&
  outputBytes === 0 &&
  Array.isArray(result.choices) &&
  result.choices.every(
    (choice: unknown) =>
      Predicate.isObject(choice) && "finish_reason" in choice && choice.finish_reason === "error"
  )

const failed = new VendorRefused({
  effectiveStatus: 502,
  status: 200,
  body: null,
  message: "The vendor failed while it wrote the text",
  retryAfterSeconds: null
})

interface WholeText extends Written {
  readonly answer: RawAnswer
}

export const makeTextOrder = (resolve: OrderResolution, keyTurns: KeyTurns) =>
  Effect.map(Settings, ({ currency, textDeadlineSeconds }) =>
    Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
      const resolved = yield* resolve.text(caller, request)
      const { common, charged, chargedUnread } = textOrderOf(caller, request, resolved, currency)
      return {
        ...common,
        mounts: Arr.map(resolved.mounts, ({ adapter, accounts, ...mount }) => ({
          ...mount,
          call: () =>
            Effect.flatMap(
              keyTurns.forOrder(accounts, (account) =>
                request.ask(adapter, account, mount.job.upstreamModel)
              ),
              (made) =>
                isFailure(made)
                  ? Effect.fail(failed)
                  : Effect.sync(
                      (): WholeText => ({ ...made, answer: made.raw ?? writtenAnswer(made.result) })
                    )
            )
        })),
        deadlineSeconds: textDeadlineSeconds,
        finish: (made, id) => charged(id, made, made.answer, Exit.succeed(made.answer)),
        // As much may have been written as was held for.
        finishUnread: (failure, id) => chargedUnread(failure, id, resolved.quote.outputTokens)
      } satisfies PaidOrder<WholeText, RawAnswer>
    })
  )
