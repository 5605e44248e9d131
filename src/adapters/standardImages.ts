/** The answer of the common standard form, which ip_a and a family of the relay share. */
import { Clock, Effect, Schema } from "effect"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { ChannelAccount, ImageResult } from "../services/ProtocolAdapter.ts"
import { messageOf, saysError } from "./errorText.ts"
import { decodedWhole, refusal, unusable, type VendorAnswer } from "./vendorHttp.ts"

const Answer = Schema.StructWithRest(
  Schema.Struct({
    created: Schema.optional(Schema.Unknown),
    data: Schema.Array(Schema.Unknown)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const isAnswer = Schema.is(Answer)
const isImage = Schema.is(
  Schema.Union([
    Schema.Struct({ url: Schema.NonEmptyString }),
    Schema.Struct({ b64_json: Schema.NonEmptyString })
  ])
)

/** The answer when it holds an image; items refused beside it stay as they are. */
const toResult = (answer: VendorAnswer): typeof Answer.Type | null =>
  answer.status < 300 &&
  !saysError(answer.body) &&
  isAnswer(answer.body) &&
  answer.body.data.some((item) => isImage(item))
    ? answer.body
    : null

/** Where every image was refused on its own, the first one speaks for the order. */
const failure = (account: ChannelAccount, answer: VendorAnswer) => {
  const refused = isAnswer(answer.body) ? answer.body.data.find(saysError) : undefined
  return refused === undefined || saysError(answer.body)
    ? unusable(account, answer)
    : refusal(account, answer, { message: messageOf(refused) })
}

/** Passes the answer on when it holds an image; a missing time is filled in with ours. */
export const readStandardImages = Effect.fnUntraced(function* (
  account: ChannelAccount,
  answer: VendorAnswer
): Effect.fn.Return<ImageResult, VendorFailure> {
  const result = toResult(answer)
  const isComplete = Number.isSafeInteger(result?.created)
  if (answer.passed !== undefined) {
    return isComplete ? answer.passed : yield* readStandardImages(account, decodedWhole(answer))
  }
  if (result === null) return yield* Effect.fail(failure(account, answer))
  return isComplete
    ? result
    : { ...result, created: Math.floor((yield* Clock.currentTimeMillis) / 1000) }
})
