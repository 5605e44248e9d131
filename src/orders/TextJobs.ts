/** What chat and embeddings orders have in common: what they cost, their hold, call and charge. */
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Modality } from "../domain/catalog/Modality.ts"
import { UpstreamError } from "../domain/Errors.ts"
import { tokensOfBytes } from "../domain/text/TextRequest.ts"
import { settleTokens, type TokenCounts, TokenQuote } from "../domain/text/TokenPricing.ts"
import { givenUp, type VendorFailure } from "../domain/VendorOutcome.ts"
import { keptRefusal } from "../hiding/promptsFromRecords.ts"
import { Failpoints } from "../runtime/Failpoints.ts"
import type { Caller } from "../services/Access.ts"
import { CallLog, recordingCalls } from "../services/CallLog.ts"
import type { RequestKey, StoredAnswer } from "../services/IdempotencyKeys.ts"
import { Ledger, type VendorJob } from "../services/Ledger.ts"
import type { ChannelAccount, TextAdapter } from "../services/ProtocolAdapter.ts"
import { Ordering } from "./OrderChecks.ts"
import { makeTextPricing, type TextRequest } from "./Pricing.ts"
import { type GiveBack, paidCall } from "./paidCall.ts"

const encodeQuote = Schema.encodeSync(TokenQuote)

/** What a vendor had written of an answer nobody could read is kept nowhere. */
const withoutBody = (error: UpstreamError): UpstreamError =>
  new UpstreamError({
    message: error.message,
    status: error.status,
    upstream: { status: error.upstream.status, body: null },
    retryable: error.retryable,
    retryAfterSeconds: error.retryAfterSeconds
  })

export interface TextJob {
  readonly caller: Caller
  readonly model: string
  readonly modality: Modality
  readonly adapter: TextAdapter
  readonly account: ChannelAccount
  readonly upstreamModel: string
  readonly job: VendorJob
  readonly quote: TokenQuote
  readonly id: string
  readonly key: RequestKey | null
  readonly body: TextRequest["body"]
  /** From the hold to the moment it is given back without an answer. */
  readonly deadlineSeconds: number
}

export const makeTextOrders = Effect.gen(function* () {
  const price = yield* makeTextPricing
  const ordering = yield* Ordering
  const ledger = yield* Ledger
  const random = yield* SecureRandom.SecureRandom
  const failpoints = yield* Failpoints
  const callLog = yield* CallLog

  const prepare = Effect.fnUntraced(function* (
    caller: Caller,
    key: RequestKey | null,
    request: TextRequest,
    deadlineSeconds: number
  ) {
    const { quote, model, protocol, adapter, mounted } = yield* price(caller, request)
    const { account, channelId, upstreamModel } = mounted
    return {
      caller,
      model: request.model,
      modality: model.modality,
      adapter,
      account,
      upstreamModel,
      job: { channelId, protocol, upstreamModel },
      quote,
      id: `tx_${yield* random.uuidV7()}`,
      key,
      body: request.body,
      deadlineSeconds
    } satisfies TextJob
  })

  const closeOf = ({ caller, id }: TextJob) => ({
    organizationId: caller.organizationId,
    holdId: id,
    by: "text",
    task: null
  })

  const hold = (order: TextJob) =>
    ordering.place({ ...order.job, organizationId: order.caller.organizationId }).pipe(
      Effect.andThen(failpoints.pass("text.ordered")),
      Effect.andThen(
        ledger.hold({
          organizationId: order.caller.organizationId,
          memberId: order.caller.memberId,
          id: order.id,
          amountNano: order.quote.holdNano,
          ttlSeconds: order.deadlineSeconds,
          quote: encodeQuote(order.quote),
          job: order.job,
          task: null,
          key: order.key
        })
      ),
      Effect.andThen(failpoints.pass("text.held"))
    )

  /** One call to the vendor; when it comes to nothing the hold is given back. */
  const called = <A>(order: TextJob, call: Effect.Effect<A, VendorFailure>) => {
    const subject = {
      organizationId: order.caller.organizationId,
      jobId: order.id,
      purpose: "text",
      upstreamId: null
    } as const
    /** What a vendor says of a text may be the text; repeats get less of it than the first answer. */
    const kept = ({ error, orphan, answer }: GiveBack): StoredAnswer | null =>
      answer === null || order.key === null
        ? null
        : {
            _tag: "Refused",
            error: keptRefusal(orphan === null ? error : withoutBody(error), order.body)
          }
    const giveBack = (how: GiveBack) =>
      failpoints.pass("text.refused").pipe(
        Effect.andThen(
          ledger.release({
            ...closeOf(order),
            orphan: how.orphan,
            forgetKey: how.forgetKey,
            answer: kept(how)
          })
        ),
        Effect.andThen(failpoints.pass("text.returned"))
      )
    return paidCall(recordingCalls(callLog, [subject])(call), giveBack)
  }

  const capture = Effect.fnUntraced(function* (
    order: TextJob,
    made: {
      readonly usage: TokenCounts | null
      readonly outputBytes: number
      readonly streamed: boolean
    }
  ) {
    const { quote, caller } = order
    const { inputTokens, outputTokens, chargeNano, basis } = settleTokens(quote, made.usage, {
      inputTokens: quote.inputTokens,
      outputTokens: tokensOfBytes(made.outputBytes)
    })
    if (made.usage !== null && basis === "formula") {
      yield* Effect.logWarning("a vendor's count of tokens cannot be right").pipe(
        Effect.annotateLogs({
          hold_id: order.id,
          input_tokens: made.usage.inputTokens.toString(),
          output_tokens: made.usage.outputTokens.toString()
        })
      )
    }
    yield* failpoints.pass("text.made")
    const isEmbedding = order.modality === "embedding"
    const closed = yield* ledger.capture({
      ...closeOf(order),
      chargeNano,
      usage: {
        keyId: caller.keyId,
        taskId: null,
        model: order.model,
        modality: order.modality,
        input: inputTokens,
        output: outputTokens,
        unit: "token",
        unitPriceNano: isEmbedding ? quote.nanoPerInputToken : quote.nanoPerOutputToken,
        inputUnitPriceNano: quote.nanoPerInputToken,
        basis
      },
      answer: order.key === null ? null : { _tag: "Text", streamed: made.streamed }
    })
    if (closed.state !== "captured") return yield* givenUp()
    yield* failpoints.pass("text.captured")
  })

  return { prepare, hold, called, capture }
})
