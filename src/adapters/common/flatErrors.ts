/** Errors with flat bodies, `{code, message}`, as in vp_e, vp_f, ip_b and the relay. */
import { Predicate, Schema } from "effect"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorText } from "../wire/errorText.ts"
import {
  errorObjectShape,
  flatWordShape,
  meaningOf,
  meanings,
  refusalTable
} from "../wire/refusalTable.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusableAnswer } from "../wire/vendorFailures.ts"

/** The cloud's errors; one of its hosts sometimes writes them in the standard form. */
export const cloudRefusals = refusalTable([flatWordShape, errorObjectShape], {
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

/** Reads only objects: a text is not an error body but an unreadable answer. */
const errorFieldsOf = (body: unknown) =>
  Predicate.isObject(body) ? errorText(body) : { code: null, message: null }

/**
 * The failure of an answer without a product: a refusal if the answer contains a reason, otherwise
 * a broken answer.
 */
export const emptyAnswer = (account: ChannelAccount, answer: VendorAnswer) => {
  const { code, message } = errorFieldsOf(answer.body)
  return (code === null || code === "0") && message === null
    ? unusableAnswer(account, answer)
    : refusal(account, answer)
}

const hasOutput = Schema.is(Schema.Struct({ output: Schema.ObjectKeyword }))

/** The failure of an answer; a code and a message next to an output are not a refusal. */
export const flatFailure = (account: ChannelAccount, answer: VendorAnswer) =>
  hasOutput(answer.body) ? unusableAnswer(account, answer) : emptyAnswer(account, answer)

/** The vendor's verdict on a failed job, from `{code, message}` inside the answer. */
export const failedJob = (
  account: ChannelAccount,
  answer: VendorAnswer,
  job: unknown,
  isCancelled: boolean
) => {
  const { code, message } = errorFieldsOf(job)
  const meaning = code === null ? null : meaningOf(cloudRefusals, [code], answer.status)
  return refusal(account, answer, {
    message: message ?? "The vendor failed to do the job",
    effectiveStatus: meaning?.status ?? null,
    isVerdict: true,
    isCancelled
  })
}
