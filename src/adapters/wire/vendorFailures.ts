/** Why a vendor's answer is of no use: it refuses, or what it has made is lost. */
import { Duration, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import { type AnswerTrace, VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import { scrub, scrubText } from "../../redaction/credentialsFromClients.ts"
import { productIn } from "../../redaction/productsFromRefusals.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorOf, isExplained, saysError } from "./errorText.ts"
import { startsEvents } from "./eventBlocks.ts"
import { jobMarkOf } from "./jobMarks.ts"
import { type AnswerHead, partOf, type VendorAnswer } from "./vendorAnswer.ts"

const traceOf = (answer: VendorAnswer): AnswerTrace => ({
  status: answer.status,
  bytes: answer.bytes,
  sha256: answer.digest(),
  requestId: answer.requestId
})

const isRequest = Schema.is(Schema.Struct({ request_id: JobId }))

/** The vendor's name of the job, or of the request where it tells of no job. */
const idIn = (answer: VendorAnswer): string | null =>
  jobMarkOf(answer)?.upstreamId ?? (isRequest(answer.body) ? answer.body.request_id : null)

const lost = (reason: VendorLost["reason"], message: string, answer?: VendorAnswer) => {
  const upstreamId = answer === undefined ? null : idIn(answer)
  return new VendorLost({
    reason,
    message,
    status: answer?.status ?? null,
    retryAfterSeconds: answer?.retryAfterSeconds ?? null,
    ...(answer === undefined ? {} : { answer: traceOf(answer) }),
    ...(upstreamId === null ? {} : { upstreamId })
  })
}

/** The connection broke off after something was sent; `begun` is what had come of the answer. */
export const connectionLost = (begun?: VendorAnswer) =>
  lost(
    "connection_lost",
    "The connection to the vendor was lost before its answer was complete",
    begun
  )

/** The answer did not come, or not to its end, in the time we give it. */
export const timedOut = (limit: Duration.Duration, begun?: VendorAnswer) =>
  lost("timeout", `The vendor did not answer within ${Duration.toSeconds(limit)} seconds`, begun)

/** More was said than we read; `bytes` is how much was read. */
export const tooLarge = (head: AnswerHead, bytes: number) =>
  lost("broken_answer", "The vendor's answer is too large", partOf(head, null, bytes))

interface RefusalText {
  /** Where it stands in no usual place of the body. */
  readonly message?: string | null
  /** Status that the vendor's code for a failed job stands for. */
  readonly effectiveStatus?: number | null
  /** Said of the job itself: it failed. */
  readonly isVerdict?: true
}

/** Longer errors explain nothing that a client could use. */
const MAX_REFUSAL_BYTES = 64 * 1024

/** A text that begins as an object or a list does, and is none: it is cut, or not in JSON. */
const brokenJson = /^\s*[[{]/

/**
 * The body as the client gets it, without our credentials: only that of a 4xx or 5xx, nothing
 * in which there may be a product, and no JSON that explains nothing, as that may be what was ordered
 * under names we do not know.
 */
const passedBody = (
  account: ChannelAccount,
  { status, bytes, body, sent }: VendorAnswer
): unknown =>
  status < 400 ||
  bytes > MAX_REFUSAL_BYTES ||
  !isExplained(body) ||
  (typeof body === "string" && (startsEvents(body) || brokenJson.test(body))) ||
  productIn(body, sent) !== "none"
    ? null
    : scrub(account, body)

/** The vendor's words: as they are in a refusal, and only so far as they are words where more may be in them. */
const passedWords = (account: ChannelAccount, { status, sent }: VendorAnswer, said: string) => {
  const areWords = status >= 400 && productIn({ said }, sent) === "none"
  return scrubText(account, areWords ? said : withoutEchoes(said, []))
}

/**
 * A vendor's error answer, its body unchanged except for our own credentials. An error in an HTTP 200
 * counts as a bad gateway. An error that carries what was ordered proves that it was made, so it
 * counts as lost. That nothing was made is not known of any before `judged` has looked at it.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const said = text.message ?? errorOf(answer.body).message
  const message = passedWords(account, answer, said ?? `The vendor answered HTTP ${answer.status}`)
  const effectiveStatus = text.effectiveStatus ?? (answer.status >= 300 ? answer.status : 502)
  if (answer.status >= 300 && productIn(answer.body, answer.sent) === "certain") {
    return brokenAnswer(answer)
  }
  return new VendorRefused({
    effectiveStatus,
    status: answer.status,
    body: passedBody(account, answer),
    message,
    retryAfterSeconds: answer.retryAfterSeconds,
    answer: traceOf(answer),
    ...(text.isVerdict === undefined ? {} : { isVerdict: text.isVerdict })
  })
}

/** An answer that does not say what it must: the job may exist all the same. */
export const brokenAnswer = (answer: VendorAnswer) =>
  lost("broken_answer", "The vendor's answer could not be read", answer)

/** Why an answer is of no use: refused when it names an error, lost when it cannot be read. */
export const unusable = (
  account: ChannelAccount,
  answer: VendorAnswer
): VendorRefused | VendorLost =>
  answer.status >= 300 || saysError(answer.body) ? refusal(account, answer) : brokenAnswer(answer)

/**
 * The refusal a vendor gives for an input its interface has no field for. Leaving the input out
 * would sell another video than the one ordered, so nothing is sent.
 */
export const refusedUnsent = (
  message: string,
  body: Readonly<Record<string, unknown>>
): VendorRefused =>
  new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    proof: "refused",
    body,
    message,
    retryAfterSeconds: null
  })
