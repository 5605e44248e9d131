/**
 * Orders of chat completions, embeddings and rankings without a streamed answer, charged by the
 * vendor's count or by the request.
 */
import { Array as Arr, Effect, Exit, Predicate } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import { isBilledByInput } from "../../domain/catalog/Modality.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import type { Quote } from "../../domain/money/Quote.ts"
import {
  type AnsweredWork,
  chargeUnreadWork,
  chargeWork,
  isWorkQuote,
  type WorkCharge,
  type WorkQuote
} from "../../domain/money/workQuotes.ts"
import { encodeAnswer, JSON_TYPE, type RawAnswer } from "../../domain/RawAnswer.ts"
import {
  implausibleUsage,
  type ReportedUsage,
  type VendorLost,
  VendorRefused
} from "../../domain/VendorOutcome.ts"
import { storableRefusal, withoutRequestTexts } from "../../redaction/promptsFromRecords.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { TextAnswer } from "../../services/ProtocolAdapter.ts"
import type {
  OrderResolution,
  ResolvedWork,
  WholeRequest,
  WorkRequest
} from "../OrderResolution.ts"
import { noFiles } from "../orderFiles.ts"
import { type Charge, type OrderTerms, type PaidOrder, unstreamedHooks } from "../orderValue.ts"
import { unreadCharge } from "../unreadAnswer.ts"
import { renameDecodedModel, renameRawModel } from "./orderedModel.ts"

const logImplausibleUsage = (id: string, { input, output }: ReportedUsage) =>
  Effect.logWarning("order: vendor reported an implausible count of tokens").pipe(
    Effect.annotateLogs({
      order_id: id,
      input_tokens: String(input),
      output_tokens: String(output)
    })
  )

/** The parts that orders with and without a streamed answer share. */
export const workOrderOf = <Adapter>(
  caller: Caller,
  request: WorkRequest<Adapter>,
  { model, priceList, quote }: ResolvedWork<Adapter>,
  { currency, deadlineSeconds }: { readonly currency: string; readonly deadlineSeconds: number }
) => {
  const chargeOf = (
    { chargeNano, unit, implausible: _, ...usage }: WorkCharge,
    costBy: (cost: WorkQuote) => bigint
  ) =>
    ({
      _tag: "Charge",
      chargeNano,
      task: null,
      costBy: (cost: Quote) => (isWorkQuote(cost) ? costBy(cost) : cost.holdNano),
      usage: {
        ...usage,
        unit,
        // Where no output is billed, the price of the order is that of its input.
        unitPriceNano: isBilledByInput(model.modality)
          ? (usage.inputUnitPriceNano ?? usage.unitPriceNano)
          : usage.unitPriceNano
      }
    }) as const

  /**
   * The charge for an answer that could not be read, with the error that informs the client of it;
   * `receivedTokens` estimates what of the answer came.
   */
  const chargeUnread = (failure: VendorLost, id: string, receivedTokens: bigint | null = null) => {
    const chargeBy = (one: WorkQuote) =>
      chargeUnreadWork(one, failure.usage ?? null, receivedTokens)
    const charge = chargeOf(chargeBy(quote), (cost) => chargeBy(cost).chargeNano)
    return unreadCharge(charge, failure, { orderId: id, currency })
  }

  /** Charges by the vendor's report, or without one by the request and the size of the answer. */
  const finishBy = <Answer>(
    id: string,
    answered: AnsweredWork,
    remembered: RawAnswer | null,
    answer: Exit.Exit<Answer, UpstreamError>
  ): Effect.Effect<Charge<Answer>> => {
    const charge = chargeWork(quote, answered)
    const { implausible } = charge
    const finish: Charge<Answer> = {
      ...chargeOf(charge, (cost) => chargeWork(cost, answered).chargeNano),
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
export const hasFailed = ({ result, usage, outputBytes }: TextAnswer): boolean =>
  usage === null &&
  outputBytes === 0 &&
  Array.isArray(result.choices) &&
  result.choices.every(
    (choice: unknown) =>
      Predicate.isObject(choice) && "finish_reason" in choice && choice.finish_reason === "error"
  )

export const failedWhileWriting = new VendorRefused({
  effectiveStatus: 502,
  status: 200,
  body: null,
  message: "The vendor failed while it wrote the text",
  retryAfterSeconds: null
})

const answerOf = ({ raw, result }: TextAnswer, model: string): RawAnswer => {
  if (raw === undefined) return encodeAnswer(renameDecodedModel(result, model))
  return raw.contentType === JSON_TYPE ? renameRawModel(raw, model) : raw
}

interface WholeWork extends AnsweredWork {
  readonly answer: RawAnswer
}

export const makeWorkOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { currency, textDeadlineSeconds: deadlineSeconds } = yield* Settings

  return Effect.fnUntraced(function* <Adapter>(caller: Caller, request: WholeRequest<Adapter>) {
    const resolved = yield* resolve.work(caller, request)
    const { terms, finishBy, chargeUnread } = workOrderOf(caller, request, resolved, {
      currency,
      deadlineSeconds
    })
    const order: PaidOrder<WholeWork, RawAnswer> = {
      ...terms,
      ...unstreamedHooks,
      mounts: Arr.map(resolved.mounts, ({ adapter, accounts, ...mount }) => ({
        ...mount,
        call: () =>
          Effect.flatMap(
            keyTurns.forOrder(accounts, (account) =>
              request.requestWork(adapter, account, {
                upstreamModel: mount.job.upstreamModel,
                model: resolved.model.id
              })
            ),
            (answer) =>
              hasFailed(answer)
                ? Effect.fail(failedWhileWriting)
                : Effect.succeed({ ...answer, answer: answerOf(answer, resolved.model.id) })
          )
      })),
      finish: (work, id) => finishBy(id, work, work.answer, Exit.succeed(work.answer)),
      // If the vendor's token count is unknown, the maximum output that the hold covers is charged,
      // because the vendor may have produced that much.
      chargeUnread: (failure, id) => chargeUnread(failure, id).charge
    }
    return order
  })
})
