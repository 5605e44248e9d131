/**
 * Orders of chat completions and embeddings without a streamed answer, charged by the vendor's
 * count of tokens.
 */
import { Array as Arr, Effect, Exit, Predicate } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import type { Quote } from "../../domain/money/Quote.ts"
import { encodeAnswer, type RawAnswer } from "../../domain/RawAnswer.ts"
import { chargeText, type TokenCounts, type WrittenText } from "../../domain/text/TextQuote.ts"
import {
  implausibleUsage,
  type ReportedUsage,
  UNREADABLE_BASIS,
  type VendorLost,
  VendorRefused
} from "../../domain/VendorOutcome.ts"
import { storableRefusal, withoutRequestTexts } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { TextAnswer } from "../../services/ProtocolAdapter.ts"
import type { OrderResolution, TextRequest } from "../OrderResolution.ts"
import { noFiles } from "../orderFiles.ts"
import {
  type Charge,
  type Finish,
  type OrderTerms,
  type PaidOrder,
  unstreamedHooks
} from "../orderValue.ts"
import { unreadCharge } from "../unreadAnswer.ts"
import { renameDecodedModel, renameRawModel } from "./orderedModel.ts"

/** The parts of a vendor's text on which its charge depends. */
export interface TextOutput {
  readonly usage: TokenCounts | null
  readonly outputBytes: number
}

const logImplausibleUsage = (id: string, { input, output }: ReportedUsage) =>
  Effect.logWarning("order: vendor reported an implausible count of tokens").pipe(
    Effect.annotateLogs({
      order_id: id,
      input_tokens: String(input),
      output_tokens: String(output)
    })
  )

/** The parts that text orders with and without a streamed answer share. */
export const textOrderOf = (
  caller: Caller,
  request: TextRequest,
  { model, priceList, quote }: Effect.Success<ReturnType<OrderResolution["text"]>>,
  { currency, deadlineSeconds }: { readonly currency: string; readonly deadlineSeconds: number }
) => {
  const isEmbedding = model.modality === "embedding"

  /**
   * The charge by the vendor's count of tokens; without such a count, by the formula that estimates
   * tokens from the size of input and output.
   */
  const chargeOf = (counted: TokenCounts | null, output: WrittenText) => {
    const { inputTokens, outputTokens, chargeNano, parts, basis, implausible } = chargeText(
      quote,
      counted,
      output
    )
    return {
      _tag: "Charge",
      chargeNano,
      task: null,
      implausible,
      costBy: (cost: Quote) =>
        cost.kind === "tokens" ? chargeText(cost, counted, output).chargeNano : cost.holdNano,
      usage: {
        input: inputTokens,
        output: outputTokens,
        unit: "token",
        unitPriceNano: isEmbedding ? quote.nanoPerInputToken : quote.nanoPerOutputToken,
        inputUnitPriceNano: quote.nanoPerInputToken,
        parts,
        basis
      }
    } as const
  }

  /**
   * Charges for an answer that could not be read: by the vendor's count of tokens, or without such
   * a count for the estimated input and `outputTokens`.
   */
  const chargeUnread = (failure: VendorLost, id: string, outputTokens: bigint): Charge<never> => {
    const { usage: counted = null } = failure
    const unreadTokens = counted?.outputTokens === 0n ? 0n : outputTokens
    const { implausible: _, ...charge } = chargeOf(counted, { outputBytes: 0, unreadTokens })
    const { basis } = charge.usage
    const usage = { ...charge.usage, basis: basis === "formula" ? UNREADABLE_BASIS : basis }
    return unreadCharge({ ...charge, usage }, failure, { orderId: id, currency }).charge
  }

  /**
   * Charges by the vendor's count of tokens, or without a count by the size of input and output.
   */
  const finishBy = <Answer>(
    id: string,
    output: TextOutput,
    remembered: RawAnswer | null,
    answer: Exit.Exit<Answer, UpstreamError>
  ): Effect.Effect<Finish<Answer>> => {
    const { implausible, ...charge } = chargeOf(output.usage, output)
    const finish: Finish<Answer> = {
      ...charge,
      orphan: implausible === null ? null : implausibleUsage(implausible, null),
      repeatAnswer: () => ({
        stored: { _tag: "Text", streamed: remembered === null },
        remembered
      }),
      answer
    }
    return implausible === null
      ? Effect.succeed(finish)
      : Effect.as(logImplausibleUsage(id, implausible), finish)
  }

  const terms: OrderTerms = {
    kind: "text",
    caller,
    model,
    priceList,
    quote,
    metadata: request.metadata,
    promptDigest: null,
    deadlineSeconds,
    files: noFiles,
    task: null,
    /**
     * Only a part of a vendor's message is stored for repeated requests, as the message may repeat
     * the client's text.
     */
    storableRefusal: (error, orphan) => storableRefusal(error, request.body, orphan !== null),
    redact: (message) => withoutRequestTexts(message, request.body)
  }
  return { finishBy, chargeUnread, terms }
}

/** Whether the vendor failed before it wrote any text or counted any tokens. */
const hasFailed = ({ result, usage, outputBytes }: TextAnswer): boolean =>
  usage === null &&
  outputBytes === 0 &&
  Array.isArray(result.choices) &&
  result.choices.every(
    (choice: unknown) =>
      Predicate.isObject(choice) && "finish_reason" in choice && choice.finish_reason === "error"
  )

const failedWhileWriting = new VendorRefused({
  effectiveStatus: 502,
  status: 200,
  body: null,
  message: "The vendor failed while it wrote the text",
  retryAfterSeconds: null
})

const answerOf = ({ raw, result }: TextAnswer, model: string): RawAnswer =>
  raw === undefined ? encodeAnswer(renameDecodedModel(result, model)) : renameRawModel(raw, model)

interface CompleteText extends TextOutput {
  readonly answer: RawAnswer
}

export const makeTextOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, textDeadlineSeconds: deadlineSeconds } = yield* Settings

  return Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
    const resolved = yield* resolve.text(caller, request)
    const { terms, finishBy, chargeUnread } = textOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds
    })
    const order: PaidOrder<CompleteText, RawAnswer> = {
      ...terms,
      ...unstreamedHooks,
      mounts: Arr.map(resolved.mounts, ({ adapter, accounts, ...mount }) => ({
        ...mount,
        call: () =>
          Effect.flatMap(
            keyTurns.forOrder(accounts, (account) =>
              request.requestText(adapter, account, mount.job.upstreamModel)
            ),
            (text) =>
              hasFailed(text)
                ? Effect.fail(failedWhileWriting)
                : Effect.succeed({ ...text, answer: answerOf(text, resolved.model.id) })
          )
      })),
      finish: (text, id) => finishBy(id, text, text.answer, Exit.succeed(text.answer)),
      // If the vendor's token count is unknown, the maximum output that the hold covers is charged,
      // because the vendor may have produced that much.
      chargeUnread: (failure, id) => chargeUnread(failure, id, resolved.quote.outputTokens)
    }
    return order
  })
})
