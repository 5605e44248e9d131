/** Errors with flat bodies, `{code, message}`, as vp_e, vp_f, ip_b and the relay write them. */
import { Predicate, Schema } from "effect"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorText } from "../wire/errorText.ts"
import { errorObject, flatWord, meaningOf, meanings, refusalTable } from "../wire/refusalTable.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusable } from "../wire/vendorFailures.ts"

/** The cloud's errors, which one of its hosts writes in the standard form at times. */
export const cloudRefusals = refusalTable([flatWord, errorObject], {
  AccessDenied: meanings.access,
  BadRequest: meanings.order,
  DataInspectionFailed: meanings.order,
  InternalError: meanings.failure,
  InvalidApiKey: meanings.credentials,
  InvalidParameter: meanings.order,
  InvalidURL: meanings.order,
  ModelNotFound: meanings.model,
  RequestTimeOut: { status: 408, proof: null },
  Throttling: meanings.rate
})

/** Words of an object alone: a text is no error body but an unreadable answer. */
const wordsOf = (body: unknown) =>
  Predicate.isObject(body) ? errorText(body) : { code: null, message: null }

/** An answer without a product: refused where it says why, else it cannot be read. */
export const emptyAnswer = (account: ChannelAccount, answer: VendorAnswer) => {
  const { code, message } = wordsOf(answer.body)
  return (code === null || code === "0") && message === null
    ? unusable(account, answer)
    : refusal(account, answer)
}

const hasOutput = Schema.is(Schema.Struct({ output: Schema.ObjectKeyword }))

/** Why an answer is of no use; beside an output, words at the top are no refusal. */
export const flatFailure = (account: ChannelAccount, answer: VendorAnswer) =>
  hasOutput(answer.body) ? unusable(account, answer) : emptyAnswer(account, answer)

/** The vendor's verdict on a job that failed, told by `{code, message}` inside the answer. */
export const failedJob = (account: ChannelAccount, answer: VendorAnswer, job: unknown) => {
  const { code, message } = wordsOf(job)
  const meaning = code === null ? null : meaningOf(cloudRefusals, [code], answer.status)
  return refusal(account, answer, {
    message: message ?? "The vendor failed to do the job",
    effectiveStatus: meaning?.status ?? null,
    isVerdict: true
  })
}
