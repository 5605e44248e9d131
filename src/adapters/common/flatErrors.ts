/** Errors with flat bodies, `{code, message}`, as vp_e, vp_f, ip_b and the relay write them. */
import { Predicate, Schema } from "effect"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorText } from "../wire/errorText.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusable } from "../wire/vendorFailures.ts"

const words: ReadonlyMap<string, number> = new Map([
  ["Arrearage", 402],
  ["AccessDenied", 403],
  ["BadRequest", 400],
  ["DataInspectionFailed", 400],
  ["InternalError", 500],
  ["InvalidApiKey", 401],
  ["InvalidParameter", 400],
  ["InvalidURL", 400],
  ["ModelNotFound", 404],
  ["RequestTimeOut", 408],
  ["Throttling", 429]
])

/** HTTP status a code stands for, by the word before its first dot; null for unknown ones. */
const statusOfWord = (code: string | null): number | null =>
  words.get(code?.split(".")[0] ?? "") ?? null

/** An error in an HTTP 200 has only its code; an empty account is an HTTP 400 here. */
const effectiveStatus = (answer: VendorAnswer, code: string | null): number | null =>
  answer.status < 300 || code === "Arrearage" ? statusOfWord(code) : null

/** Words of an object alone: a text is no error body but an unreadable answer. */
const wordsOf = (body: unknown) =>
  Predicate.isObject(body) ? errorText(body) : { code: null, message: null }

/** An answer without a product: refused where it says why, else it cannot be read. */
export const emptyAnswer = (account: ChannelAccount, answer: VendorAnswer) => {
  const { code, message } = wordsOf(answer.body)
  return (code === null || code === "0") && message === null
    ? unusable(account, answer)
    : refusal(account, answer, { effectiveStatus: effectiveStatus(answer, code) })
}

const hasOutput = Schema.is(Schema.Struct({ output: Schema.ObjectKeyword }))

/** Why an answer is of no use; beside an output, words at the top are no refusal. */
export const flatFailure = (account: ChannelAccount, answer: VendorAnswer) =>
  hasOutput(answer.body) ? unusable(account, answer) : emptyAnswer(account, answer)

/** The vendor's verdict on a job that failed, told by `{code, message}` inside the answer. */
export const failedJob = (account: ChannelAccount, answer: VendorAnswer, job: unknown) => {
  const { code, message } = wordsOf(job)
  return refusal(account, answer, {
    message: message ?? "The vendor failed to do the job",
    effectiveStatus: statusOfWord(code),
    isVerdict: true
  })
}
