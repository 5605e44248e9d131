/**
 * jina: rankings of documents, in the form that Jina's and Cohere's APIs share. The vendor gets the
 * client's values, except `model`, re-encoded as JSON.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type {
  ChannelAccount,
  ModelOrder,
  RerankAdapter,
  TextAnswer
} from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import {
  makeCall,
  makeCheck,
  makeModelList,
  type Read,
  withJudgement
} from "./common/adapterCalls.ts"
import { Count } from "./common/chatStream.ts"
import { VendorLimits } from "./wire/limits.ts"
import {
  errorObjectShape,
  meanings,
  messageShape,
  refusalTable,
  type Shape
} from "./wire/refusalTable.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { listOf } from "./wire/vendorAnswer.ts"
import { unusableAnswer } from "./wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "./wire/vendorRequest.ts"

// Wire schemas

const isTotal = Schema.is(Schema.Struct({ total_tokens: Count }))
const isBilled = Schema.is(Schema.Struct({ billed_units: Schema.Struct({ input_tokens: Count }) }))
const isResult = Schema.is(Schema.Struct({ index: Schema.Int, relevance_score: Schema.Finite }))

const isCodedDetail = Schema.is(
  Schema.Struct({ detail: Schema.NonEmptyString, code: Schema.NonEmptyString })
)
const codedDetailShape: Shape = (body) => (isCodedDetail(body) ? [body.code] : null)

/**
 * Errors are Jina's `{detail, code}`, `{detail}` or `{message}`, or in the standard form from others
 * with this interface. Those without a code may also come from a proxy.
 */
const refusals = refusalTable([errorObjectShape, codedDetailShape, messageShape], {
  AUTHZ_INSUFFICIENT_BALANCE: meanings.balance,
  INPUT_MODEL_NOT_FOUND: meanings.model,
  RATE_CONCURRENCY_LIMIT_EXCEEDED: meanings.rate,
  RATE_IP_LIMIT_EXCEEDED: meanings.rate,
  RATE_REQUEST_LIMIT_EXCEEDED: meanings.rate,
  RATE_TOKEN_LIMIT_EXCEEDED: meanings.rate,
  rate_limit_exceeded: meanings.rate,
  too_many_requests: meanings.rate
})

// To the vendor

const rerankRequest = (account: ChannelAccount, { body, upstreamModel }: ModelOrder<RerankBody>) =>
  Result.succeed(
    post(standardUrl(account, "rerank"), bearer(account), { ...body, model: upstreamModel })
  )

// From the vendor

/** The tokens of the answer: Jina reports them as `usage`, Cohere as `meta.billed_units`. */
const usageOf = ({ usage, meta }: Readonly<Record<string, unknown>>): TokenCounts | null => {
  if (isTotal(usage)) return { inputTokens: BigInt(usage.total_tokens), outputTokens: 0n }
  return isBilled(meta)
    ? { inputTokens: BigInt(meta.billed_units.input_tokens), outputTokens: 0n }
    : null
}

const readRanked: Read<ModelOrder<RerankBody>, TextAnswer> = (account, answer, { body }) => {
  const result: Readonly<Record<string, unknown>> =
    answer.status < 300 && Predicate.isObject(answer.body) ? { ...answer.body } : {}
  const results = listOf(result.results)
  const isUsable =
    results.length > 0 &&
    results.every((one) => isResult(one) && one.index >= 0 && one.index < body.documents.length)
  return isUsable
    ? Result.succeed({ result, usage: usageOf(result), outputBytes: 0 })
    : Result.fail(unusableAnswer(account, answer))
}

// Calls

export const makeJina = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits
  return {
    rerank: makeCall(wire)(
      rerankRequest,
      withJudgement(() => refusals, readRanked),
      limits.text
    ),
    check: makeCheck(wire, modelsCheck, limits),
    listModels: makeModelList(wire, limits)
  } satisfies RerankAdapter
})
