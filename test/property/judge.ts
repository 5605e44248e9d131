/**
 * What must hold of an order whatever its vendor answered: no product without a charge, no charge
 * without a product or an answer of success that could not be read, and no doubt without a record of it.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from "node:zlib"
import { Option, Schema } from "effect"
import type { Mark } from "./answerParts.ts"
import { type AnswerPlan, isAskedForEvents, isResponse, type Plan } from "./plans.ts"

/** An answer of the gateway, as its bytes came to the client. */
export interface Received {
  /** Null where the connection ended before any. */
  readonly status: number | null
  /** Names and values, one pair a line, names in lower case. */
  readonly headers: string
  readonly body: Buffer
  /** It came to its end in good form. */
  readonly isWhole: boolean
}

/** One time the order was sent: all that came of it. */
export interface Round {
  /** To the order, and then to the questions about its task. */
  readonly answers: readonly [Received, ...ReadonlyArray<Received>]
  /** Nano-units that left the pool. */
  readonly charge: bigint
  /** Records for the operator that this round left. */
  readonly orphans: number
  /** Orders the vendor received whole. */
  readonly orders: number
  /** Nano-units still held when nothing runs any more. */
  readonly held: bigint
}

export interface Case {
  readonly plan: Plan
  readonly mark: Mark
  /** The second one is the same request under the same Idempotency-Key. */
  readonly rounds: readonly [Round, ...ReadonlyArray<Round>]
}

export interface Prices {
  readonly image: bigint
  readonly outputToken: bigint
}

const rules = [
  "free product",
  "free product in an error's words",
  "free product in a refusal",
  "charged without a product",
  "unread answer not charged",
  "doubt without an orphan",
  "doubt told to the client without an orphan",
  "internal error",
  "no answer",
  "answer cut",
  "hold left open",
  "more images than ordered",
  "images charged wrongly",
  "text charged too little",
  "repeat differs",
  "repeat is charged",
  "task id taken that names no task",
  "film at an address that is not http"
] as const
export type Rule = (typeof rules)[number]

// The product in the client's hands

/** Whatever can be had of compressed bytes, also with an event of the gateway behind them. */
const inflated = (body: Buffer): string => {
  const end = body.lastIndexOf("\n\ndata: ")
  const compressed = end === -1 ? body : body.subarray(0, end)
  const partly = { finishFlush: constants.Z_SYNC_FLUSH }
  const ways = [
    () => gunzipSync(compressed, partly),
    () => inflateSync(compressed, partly),
    () => brotliDecompressSync(compressed, { finishFlush: constants.BROTLI_OPERATION_FLUSH })
  ]
  for (const way of ways) {
    try {
      return way().toString("latin1")
    } catch {}
  }
  return ""
}

const unescaped = (text: string): string =>
  text.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16))
  )

const decoded = (text: string): string =>
  (text.match(/[A-Za-z0-9+/_-]{24,}/g) ?? [])
    .map((run) => Buffer.from(run, "base64").toString("latin1"))
    .join("\n")

/** The same bytes in every way a client may read them. */
const viewsOf = ({ headers, body }: Received): ReadonlyArray<() => string> => {
  const text = `${headers}\n${body.toString("latin1")}`
  return [() => text, () => unescaped(text), () => decoded(text), () => inflated(body)]
}

/** The marks of the pieces of product in the bytes, each once. */
export const productIn = (received: Received, { text, digits }: Mark): ReadonlySet<string> => {
  const piece = new RegExp(`${text}[iw]\\d+|${digits.slice(0, -1)}`, "g")
  for (const view of viewsOf(received)) {
    const found = view().match(piece)
    if (found !== null) return new Set(found)
  }
  return new Set()
}

// The vendor's side

/** What is compressed whole, and says so, is read as if it were not. */
const unreadableCodings: ReadonlySet<AnswerPlan["coding"]> = new Set([
  "gzip unsaid",
  "gzip said only",
  "gzip cut"
])

const inGoodForm = ({ coding, cut, framing }: AnswerPlan): boolean =>
  !unreadableCodings.has(coding) &&
  cut === "none" &&
  framing !== "too long" &&
  framing !== "too short" &&
  framing !== "both"

/** At these a vendor is known to refuse, at the last two by its code alone. */
const refusing: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 415, 422, 429, 503])

/** What a vendor refuses of our account there, which no repeat of the order would change. */
const accountStatuses: ReadonlySet<number> = new Set([401, 402, 403])

/** An error with a product, where there is one. */
const besideErrors: ReadonlySet<AnswerPlan["shape"]> = new Set(["beside", "within", "message"])

/** An error in the vendor's own form, whatever stands beside it. */
const isError = ({ shape }: AnswerPlan): boolean => shape === "error" || besideErrors.has(shape)

/** The vendor may have made what nobody has got yet. */
const mayHaveMade = (answer: AnswerPlan): boolean => {
  const { status, shape, items, cut } = answer
  if (cut.endsWith("at once")) return true
  if (status < 300) {
    const isRefused = shape === "error" || (items === "none" && besideErrors.has(shape))
    return !(isRefused && status !== 204 && inGoodForm(answer))
  }
  return !(refusing.has(status) && isError(answer) && inGoodForm(answer))
}

const saysFailed = ({ shape }: AnswerPlan): boolean =>
  shape === "failed" || shape === "failed beside"

/** They lead to another path, or cannot be kept. */
const strangeIds: ReadonlySet<string> = new Set("dot dots control long empty null".split(" "))

const isAccepted = ({ answers: [first] }: Round, { kind }: Plan): boolean =>
  kind === "video" && first.status === 200

/** A code of the vendor's own in its 2xx that refuses, which is told to the client as a 4xx. */
const isRefusedByCode = ({ answers: [first] }: Round, { answer }: Plan): boolean =>
  answer.status < 300 && first.status !== null && first.status >= 400 && first.status < 500

/** The order's fate at the vendor is open, so far as its answers tell. */
const isInDoubt = (round: Round, plan: Plan): boolean => {
  if (round.orders === 0 || isRefusedByCode(round, plan)) return false
  const isTask = isAccepted(round, plan) || (plan.kind === "image" && plan.answer.shape === "task")
  return mayHaveMade(plan.answer) && !(isTask && plan.polls.some(saysFailed))
}

/** Their whole answer is one that refuses, or one that may be read as such. */
const refusingShapes: ReadonlySet<AnswerPlan["shape"]> = new Set([
  "error",
  "beside",
  "within",
  "message",
  "partial",
  "failed",
  "failed beside"
] as const satisfies ReadonlyArray<AnswerPlan["shape"]>)

/** Bytes that are no answer of HTTP, or may be lost before anybody reads them. */
const unheard: ReadonlySet<string> = new Set(["garbage", "both", "reset"])

/** The answer came after the gateway's deadline, on a busy machine: it counts as none. */
const isLate = ({ answers: [first], orphans }: Round, { answer }: Plan): boolean =>
  first.status === 504 && orphans > 0 && !answer.cut.startsWith("hang")

/** An answer of success came, whatever could be read of it, that does not refuse. */
const hasSucceeded = (round: Round, plan: Plan): boolean => {
  const { status, shape, cut, framing, ending } = plan.answer
  if (plan.kind === "video" || round.orders === 0 || isLate(round, plan)) return false
  if (status >= 300 || cut.endsWith("at once") || unheard.has(framing) || unheard.has(cut)) {
    return false
  }
  const isTask = plan.kind === "image" && shape === "task"
  const isRefused =
    refusingShapes.has(shape) || (isAskedForEvents(plan) && ending.startsWith("error"))
  return !isTask && !isRefused && !isRefusedByCode(round, plan)
}

// What is demanded

const ErrorFields = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.optional(Schema.String) })
})
/** An error is that of the answer, or of the response in the last event. */
const ErrorBody = Schema.fromJsonString(
  Schema.Union([ErrorFields, Schema.Struct({ response: ErrorFields })])
)
const decodeError = Schema.decodeUnknownOption(ErrorBody)

/** Errors are short, but for what a vendor said; nothing longer is looked into. */
const MAX_ERROR_BYTES = 1024 * 1024

/** An error, also one that ends a stream of events. */
const errorOf = ({ body }: Received): (typeof ErrorFields.Type)["error"] | null => {
  if (body.length > MAX_ERROR_BYTES) return null
  const text = body.toString()
  const last = text.startsWith("{") ? text : (/data: (\{.*\})\s*$/.exec(text)?.[1] ?? "")
  return Option.getOrNull(
    Option.map(decodeError(last), (said) => ("error" in said ? said.error : said.response.error))
  )
}

const codeOf = (answer: Received): string | null => errorOf(answer)?.code ?? null

const errorCode = (answer: Received): string | null =>
  answer.status !== null && answer.status >= 400 ? codeOf(answer) : null

/** The client is told that it is charged for an answer that could not be read, and so is the operator. */
const isChargedUnread = ({ answers: [first], orphans }: Round, { kind, answer }: Plan): boolean =>
  kind !== "video" &&
  answer.status < 300 &&
  orphans > 0 &&
  (errorOf(first)?.message ?? "").includes("is charged")

const isDelivered = (round: Round, { plan, mark }: Case): boolean => {
  const [first] = round.answers
  if (first.status !== 200) return false
  switch (plan.kind) {
    case "speech":
      return true
    case "chat":
    case "transcription":
      return plan.streamed || first.isWhole
    case "embedding":
    case "rerank":
      return first.isWhole
  }
  return round.answers.some(
    (answer) => answer.status === 200 && answer.isWhole && productIn(answer, mark).size > 0
  )
}

/** What an answer of success says in an error is its explanation where it is short and leads nowhere. */
const MAX_WORDS = 300
const address = /https?:|data:/i

/** The bytes of an error with the largest flat body of a vendor that is passed on for being short. */
const MAX_REFUSAL = 800

const freeRule = ({ answer, kind }: Plan, { answers }: Round): Rule | null => {
  const isTold = answer.shape === "message" || answer.ending === "error with words"
  if (answer.status < 300) {
    const words = answers.map((one) => errorOf(one)?.message ?? "")
    if (isTold && words.every((said) => said.length <= MAX_WORDS && !address.test(said)))
      return null
    return isTold ? "free product in an error's words" : "free product"
  }
  // Words of a refusal are the vendor's to choose, and cannot be told from a product: in its message,
  // or in a short flat body, as a transcript under another name is one.
  const isUnnamedText =
    kind === "transcription" &&
    answer.shape === "renamed" &&
    answers.every(({ body }) => body.length <= MAX_REFUSAL)
  return isTold || isUnnamedText ? null : "free product in a refusal"
}

const BYTES_PER_TOKEN = 3
/** What a text may be counted for less than by its size alone. */
const LENIENCE = 2

/** By the size of the words in the client's hands, where the vendor has counted nothing. */
const leastCharge = (pieces: ReadonlySet<string>, { plan }: Case, prices: Prices): bigint => {
  const counted = plan.answer.usage === "good" || plan.answer.usage === "middle"
  if (plan.kind !== "chat" || counted || plan.answer.usage === "zero") return 0n
  const bytes = [...pieces].reduce((sum, piece) => sum + piece.length, 0)
  return BigInt(Math.floor(bytes / BYTES_PER_TOKEN / LENIENCE)) * prices.outputToken
}

type Demand = (holds: boolean, rule: Rule) => void

const judgeCharge = (
  round: Round,
  one: Case,
  paid: bigint,
  pieces: ReadonlySet<string>,
  demand: Demand
): void => {
  const { plan } = one
  const free = freeRule(plan, round)
  const isFree = pieces.size > 0 && paid === 0n && plan.answer.usage !== "zero"
  if (free !== null) demand(!isFree, free)
  const isEarned = isDelivered(round, one) || isChargedUnread(round, plan)
  demand(round.charge === 0n || isEarned, "charged without a product")
  const isOwed = hasSucceeded(round, plan) && plan.answer.usage !== "zero"
  demand(round.charge > 0n || !isOwed, "unread answer not charged")
}

const judgeDoubt = (
  round: Round,
  { plan }: Case,
  pieces: ReadonlySet<string>,
  demand: Demand
): void => {
  const [first] = round.answers
  const hasRecord = round.charge > 0n || round.orphans > 0
  const isWithClient = first.status === 200 && pieces.size > 0
  demand(hasRecord || isWithClient || !isInDoubt(round, plan), "doubt without an orphan")
  const isFinal =
    errorCode(first) === "upstream_error" && /^x-should-retry: false$/m.test(first.headers)
  const isClear = round.orders === 0 || accountStatuses.has(plan.answer.status)
  demand(hasRecord || isClear || !isFinal, "doubt told to the client without an orphan")
}

const judgeAnswers = ({ answers }: Round, { kind, streamed }: Plan, demand: Demand): void => {
  demand(!answers.some((answer) => codeOf(answer) === "internal_error"), "internal error")
  demand(!answers.some(({ status }) => status === null), "no answer")
  // Bytes of a sound that broke off cannot tell it in another way.
  const mayBeCut = kind === "speech" && !streamed
  const isCut = answers.some(({ status, isWhole }) => status !== null && !isWhole)
  demand(mayBeCut || !isCut, "answer cut")
}

const judgeImages = (
  { charge }: Round,
  { n }: Plan,
  pieces: ReadonlySet<string>,
  prices: Prices,
  demand: Demand
): void => {
  demand(pieces.size <= n, "more images than ordered")
  demand(charge === 0n || charge === prices.image * BigInt(n), "images charged wrongly")
}

const judgeVideo = (round: Round, plan: Plan, demand: Demand): void => {
  const isTaken = isAccepted(round, plan)
  demand(!isTaken || !strangeIds.has(plan.answer.id), "task id taken that names no task")
  const bodies = round.answers.map(({ body }) => body.toString()).join()
  demand(!/"video_url":"(?!https?:)/.test(bodies), "film at an address that is not http")
}

const roundFaults = (round: Round, one: Case, paid: bigint, prices: Prices): Array<Rule> => {
  const { plan, mark } = one
  const pieces = new Set(round.answers.flatMap((answer) => [...productIn(answer, mark)]))
  const faults: Array<Rule> = []
  const demand: Demand = (holds, rule) => {
    if (!holds) faults.push(rule)
  }
  judgeCharge(round, one, paid, pieces, demand)
  judgeDoubt(round, one, pieces, demand)
  judgeAnswers(round, plan, demand)
  demand(round.held === 0n, "hold left open")
  if (plan.kind === "image") judgeImages(round, plan, pieces, prices, demand)
  if (plan.kind === "video") judgeVideo(round, plan, demand)
  if (paid > 0n) demand(paid >= leastCharge(pieces, one, prices), "text charged too little")
  return faults
}

const LastEvent = Schema.fromJsonString(Schema.Struct({ response: Schema.Unknown }))
const decodeLast = Schema.decodeUnknownOption(LastEvent)

/** The response that ends a stream. Its repeat has the same one, after events of other sizes. */
const endOf = ({ body }: Received): string =>
  JSON.stringify(
    Option.getOrNull(decodeLast(/data: (\{.*\})\s*$/.exec(body.toString())?.[1] ?? ""))
  )

/** A key that stood for the first request answers the same; one that stood for nothing orders again. */
const repeatFaults = (first: Round, second: Round, plan: Plan): Array<Rule> => {
  const [before] = first.answers
  const [after] = second.answers
  const isReplay = /^idempotency-replayed: true$/m.test(after.headers)
  const isKeptNowhere = errorCode(after) === "idempotency_conflict"
  const code = codeOf(before)
  // A stream that broke off had begun well; its repeat is the failure alone.
  const isSame =
    code === null
      ? before.status === after.status &&
        (plan.streamed && isResponse(plan.model)
          ? endOf(before) === endOf(after)
          : before.body.equals(after.body))
      : code === codeOf(after) && (plan.streamed || before.status === after.status)
  const isCharged = second.charge > 0n || second.orders > 0
  return [
    ...(isReplay && !isSame && !isKeptNowhere ? (["repeat differs"] as const) : []),
    ...((isReplay || first.charge > 0n) && isCharged ? (["repeat is charged"] as const) : [])
  ]
}

/** Every rule the order broke, each once. */
export const faultsOf = (one: Case, prices: Prices): ReadonlyArray<Rule> => {
  const [first, second] = one.rounds
  const faults = roundFaults(first, one, first.charge, prices)
  if (second !== undefined) {
    faults.push(
      ...roundFaults(second, one, first.charge + second.charge, prices),
      ...repeatFaults(first, second, one.plan)
    )
  }
  return [...new Set(faults)]
}

/** What became of the order, for the count of what the generator brings about. */
export const classesOf = ({ plan, mark, rounds }: Case): ReadonlyArray<string> => {
  const [first, second] = rounds
  const [answer] = first.answers
  const isError = answer.status !== null && answer.status >= 400
  const has = first.answers.some((one) => productIn(one, mark).size > 0)
  return Object.entries({
    delivered: has,
    charged: first.charge > 0n,
    orphaned: first.orphans > 0,
    refused: isError && first.orphans === 0,
    "never sent": first.orders === 0,
    "streamed and charged": plan.streamed && first.charge > 0n,
    repeated: second !== undefined,
    "repeated and not sent again": second?.orders === 0,
    "charged by polling": plan.kind === "video" && first.charge > 0n,
    [`${plan.kind} charged`]: first.charge > 0n
  }).flatMap(([name, holds]) => (holds ? [name] : []))
}
