/** Why a vendor's answer is of no use: it refuses, or what it has made is lost. */
import { Duration, Predicate, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import {
  type AnswerTrace,
  aboutAccount,
  timeouts,
  VendorLost,
  VendorRefused
} from "../../domain/VendorOutcome.ts"
import { scrub, scrubText } from "../../hiding/credentialsFromClients.ts"
import { productIn } from "../../hiding/productsFromRefusals.ts"
import { withoutEchoes } from "../../hiding/promptsFromRecords.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorOf, isExplained, saysError } from "./errorText.ts"
import { startsEvents } from "./eventBlocks.ts"
import { type AnswerHead, partOf, type VendorAnswer } from "./vendorAnswer.ts"

const traceOf = (answer: VendorAnswer): AnswerTrace => ({
  status: answer.status,
  bytes: answer.bytes,
  sha256: answer.digest(),
  requestId: answer.requestId
})

const isJobId = Schema.is(JobId)

const idFields = ["task_id", "id", "request_id"]
const idHolders = ["data", "output"]

/** The vendor's name of the job, or of the request, where an answer tells one in a usual place. */
const idIn = (body: unknown): string | null => {
  if (!Predicate.isObject(body)) return null
  const told = [...idFields.map((name) => body[name]), ...idHolders.map((name) => idIn(body[name]))]
  return told.find(isJobId) ?? null
}

const lost = (reason: VendorLost["reason"], message: string, answer?: VendorAnswer) => {
  const upstreamId = answer === undefined ? null : idIn(answer.body)
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
  /** Status the vendor's own code stands for, where it differs from the HTTP status. */
  readonly effectiveStatus?: number | null
  /** Said of the job itself: it failed. */
  readonly isVerdict?: true
}

/** Codes by which vendors say that our account there is empty, closed or not allowed. */
const accountCodes: ReadonlyMap<string, number> = new Map([
  ["account_deactivated", 401],
  ["account_overdue_error", 402],
  ["accountoverdueerror", 402],
  ["arrearage", 402],
  ["billing_hard_limit_reached", 402],
  ["billing_not_active", 402],
  ["insufficient_balance", 402],
  ["insufficient_quota", 402],
  ["invalid_api_key", 401]
])

const accountStatus = ({ status, body }: VendorAnswer): number | null =>
  aboutAccount.has(status)
    ? null
    : (accountCodes.get(errorOf(body).code?.split(".")[0]?.toLowerCase() ?? "") ?? null)

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
 * counts as lost.
 */
export const refusal = (
  account: ChannelAccount,
  answer: VendorAnswer,
  text: RefusalText = {}
): VendorRefused | VendorLost => {
  const said = text.message ?? errorOf(answer.body).message
  const message = passedWords(account, answer, said ?? `The vendor answered HTTP ${answer.status}`)
  // A proxy that stopped waiting speaks for itself, whatever code it found in the vendor's words.
  const byCode = timeouts.has(answer.status)
    ? null
    : (accountStatus(answer) ?? text.effectiveStatus)
  const effectiveStatus = byCode ?? (answer.status >= 300 ? answer.status : 502)
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
export const refusedUnsent = (body: {
  readonly message: string
  readonly [field: string]: unknown
}): VendorRefused =>
  new VendorRefused({
    effectiveStatus: 400,
    status: 400,
    body,
    message: body.message,
    retryAfterSeconds: null
  })
