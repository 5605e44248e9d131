/**
 * The failures of vendor calls: the vendor refused, or no usable answer arrived after the request
 * was sent.
 */
import { Duration, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { type AnswerTrace, VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import { scrub, scrubText } from "../../redaction/credentialsFromClients.ts"
import { productIn } from "../../redaction/productsFromRefusals.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorOf, isErrorText, isExplained, paramOf } from "./errorText.ts"
import { startsEvents } from "./eventBlocks.ts"
import { jobMarkOf } from "./jobMarks.ts"
import { type AnswerHead, partialAnswer, type VendorAnswer } from "./vendorAnswer.ts"

const traceOf = (answer: VendorAnswer): AnswerTrace => ({
  status: answer.status,
  bytes: answer.bytes,
  sha256: answer.digest(),
  requestId: answer.requestId
})

const isRequest = Schema.is(Schema.Struct({ request_id: JobId }))

/** The vendor's id of the job, or of the request if the answer mentions no job. */
const upstreamIdIn = (answer: VendorAnswer): string | null =>
  jobMarkOf(answer)?.upstreamId ?? (isRequest(answer.body) ? answer.body.request_id : null)

const lostAnswer = (reason: VendorLost["reason"], message: string, answer?: VendorAnswer) => {
  const upstreamId = answer === undefined ? null : upstreamIdIn(answer)
  return new VendorLost({
    reason,
    message,
    status: answer?.status ?? null,
    retryAfterSeconds: answer?.retryAfterSeconds ?? null,
    ...(answer === undefined ? {} : { answer: traceOf(answer) }),
    ...(upstreamId === null ? {} : { upstreamId })
  })
}

/**
 * The failure if the connection broke after something was sent; `partial` is the received part of
 * the answer.
 */
export const lostConnection = (partial?: VendorAnswer) =>
  lostAnswer(
    "connection_lost",
    "The connection to the vendor was lost before its answer was complete",
    partial
  )

/** The failure if the answer did not arrive completely within the time-out. */
export const timeoutFailure = (limit: Duration.Duration, partial?: VendorAnswer) =>
  lostAnswer(
    "timeout",
    `The vendor did not answer within ${Duration.toSeconds(limit)} seconds`,
    partial
  )

/** The failure if the answer is longer than the limit; `bytes` is the number of bytes read. */
export const oversizedAnswer = (head: AnswerHead, bytes: number) =>
  lostAnswer("broken_answer", "The vendor's answer is too large", partialAnswer(head, null, bytes))

interface RefusalText {
  /** The message, if the body has it in an unusual place. */
  readonly message?: string | null
  /** The HTTP status with the same meaning as the vendor's code of a failed job. */
  readonly effectiveStatus?: number | null
  /** Set if the vendor's error says that the job itself failed. */
  readonly isVerdict?: true
  /** Whether the job failed because it was cancelled. */
  readonly isCancelled?: boolean
  /** The vendor's own fields with addresses of products, in lower case, beside the usual ones. */
  readonly fileFields?: ReadonlySet<string>
}

/** The maximum number of bytes of an error body that is forwarded to clients. */
const MAX_REFUSAL_BYTES = 64 * 1024

/**
 * Matches the beginning of an object or a list. A body that is still a text but begins so is
 * truncated or malformed JSON.
 */
const brokenJson = /^\s*[[{]/

/**
 * The error body for the client, without the gateway's credentials; null if it is not forwarded. A
 * body is forwarded only with a 4xx or 5xx status, and only if it cannot contain a product. JSON
 * without an explanation may contain a product in unknown fields and is not forwarded either.
 */
const clientBody = (
  account: ChannelAccount,
  { status, bytes, body, requestBody }: VendorAnswer,
  fileFields: RefusalText["fileFields"]
): unknown =>
  status < 400 ||
  bytes > MAX_REFUSAL_BYTES ||
  !isExplained(body) ||
  (typeof body === "string" && (startsEvents(body) || brokenJson.test(body))) ||
  productIn(body, requestBody, fileFields) !== "none"
    ? null
    : scrub(account, body)

/**
 * The vendor's message, without the gateway's credentials. The message of a 4xx or 5xx is otherwise
 * unchanged, unless it may contain a product. In every other case addresses and encoded data are
 * masked.
 */
const clientMessage = (
  account: ChannelAccount,
  { status, requestBody }: VendorAnswer,
  vendorMessage: string
) => {
  const isSafe = status >= 400 && productIn({ vendorMessage }, requestBody) === "none"
  return scrubText(account, isSafe ? vendorMessage : withoutEchoes(vendorMessage, []))
}

/**
 * A vendor's error, whose body is unchanged except for the gateway's credentials. An error with
 * HTTP 200 counts as a bad gateway. An error that contains the product proves that the product was
 * made, so it counts as lost. Only `judgeFailure` decides whether a refusal proves that nothing was
 * produced.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const vendorMessage = text.message ?? errorOf(answer.body).message
  const message = clientMessage(
    account,
    answer,
    vendorMessage ?? `The vendor answered HTTP ${answer.status}`
  )
  const param = paramOf(answer.body)
  const effectiveStatus = text.effectiveStatus ?? (answer.status >= 300 ? answer.status : 502)
  if (answer.status >= 300 && productIn(answer.body, answer.requestBody) === "certain") {
    return brokenAnswer(answer)
  }
  return new VendorRefused({
    effectiveStatus,
    status: answer.status,
    body: clientBody(account, answer, text.fileFields),
    message,
    retryAfterSeconds: answer.retryAfterSeconds,
    answer: traceOf(answer),
    ...(param === null || scrubText(account, param) !== param ? {} : { param }),
    ...(text.isVerdict === undefined ? {} : { isVerdict: text.isVerdict }),
    ...(text.isCancelled === true ? { isCancelled: true } : {})
  })
}

/** The failure if the answer lacks required fields; the job may still exist. */
export const brokenAnswer = (answer: VendorAnswer) =>
  lostAnswer("broken_answer", "The vendor's answer could not be read", answer)

/**
 * The failure of an unusable answer: a refusal if it contains an error, otherwise a broken answer.
 */
export const unusableAnswer = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost =>
  answer.status >= 300 || isErrorText(answer.body)
    ? refusal(account, answer, text)
    : brokenAnswer(answer)

/**
 * A refusal by the adapter itself, in the vendor's form, of an input for which the API has no
 * field. Leaving out the input would produce another video than the ordered one, so nothing is
 * sent.
 */
export const localRefusal = (
  message: string,
  body: Readonly<Record<string, unknown>>
): VendorRefused => {
  const param = paramOf(body)
  return new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    proof: "refused",
    body,
    message,
    ...(param === null ? {} : { param }),
    retryAfterSeconds: null
  })
}
