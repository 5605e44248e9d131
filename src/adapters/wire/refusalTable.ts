/**
 * The refusals of vendors. Only a vendor's table proves that the vendor produced nothing: the error
 * must have the vendor's own shape, a status and a code with which the vendor refuses, and must
 * mention no job.
 */
import { Schema } from "effect"
import {
  accountStatuses,
  type KnownRefusal,
  knownRefusalOf,
  timeouts,
  type VendorFailure,
  VendorRefused
} from "../../domain/VendorOutcome.ts"
import { productIn } from "../../redaction/productsFromRefusals.ts"
import { errorOf } from "./errorText.ts"
import { jobMarkOf } from "./jobMarks.ts"
import type { VendorAnswer } from "./vendorAnswer.ts"

/** The meaning of a vendor's error code. */
export interface Meaning {
  /** The HTTP status that has the same meaning as the code; null keeps the status of the answer. */
  readonly status: number | null
  /** The reason that proves that the vendor produced nothing; null if the vendor may have begun. */
  readonly proof: KnownRefusal | null
  /** The HTTP status with which the code has this meaning; any status if missing. */
  readonly at?: number
}

export const meanings = {
  order: { status: 400, proof: "refused" },
  credentials: { status: 401, proof: "credentials_refused" },
  access: { status: 403, proof: "credentials_refused" },
  balance: { status: 402, proof: "account_empty" },
  /**
   * The vendor does not know the model. Because the catalog lists the model, this means that the
   * gateway's account may not call it under this name; the key works for other models.
   */
  model: { status: 403, proof: "model_unknown" },
  rate: { status: 429, proof: "rate_limited" },
  maintenance: { status: 503, proof: "overloaded" },
  /** With a status other than 503, vendors use these codes also for work that failed half-way. */
  overload: { status: 503, proof: "overloaded", at: 503 },
  failure: { status: 500, proof: null },
  timeout: { status: 504, proof: null },
  uncertain: { status: null, proof: null }
} as const satisfies Record<string, Meaning>

/**
 * Reads the codes of an error in one shape, the most specific first; null for a body of another
 * shape.
 */
export type Shape = (body: unknown) => ReadonlyArray<string> | null

/**
 * Codes as the vendor spells them; `Throttling` also covers `Throttling.User`, up to the first dot.
 */
export type Codes = Readonly<Record<string, Meaning>>

export interface RefusalTable {
  readonly shapes: ReadonlyArray<Shape>
  /** The meanings by code in lower case. */
  readonly codes: ReadonlyMap<string, Meaning>
  /** The vendor's own fields with addresses of products, in lower case, beside the usual ones. */
  readonly fileFields?: ReadonlySet<string>
}

/** Codes that mean, at every vendor, that the gateway's account is empty, closed or not allowed. */
const accountCodes: Codes = {
  account_deactivated: meanings.credentials,
  account_overdue_error: meanings.balance,
  AccountOverdueError: meanings.balance,
  Arrearage: meanings.balance,
  billing_hard_limit_reached: meanings.balance,
  billing_not_active: meanings.balance,
  insufficient_balance: meanings.balance,
  insufficient_quota: meanings.balance,
  invalid_api_key: meanings.credentials,
  model_not_found: meanings.model
}

export const refusalTable = (shapes: ReadonlyArray<Shape>, codes: Codes): RefusalTable => ({
  shapes,
  codes: new Map(
    Object.entries({ ...accountCodes, ...codes }).map(([code, meaning]) => [
      code.toLowerCase(),
      meaning
    ])
  )
})

/**
 * The table of a vendor behind a relay: either of the two may refuse, and the codes of `one` take
 * precedence.
 */
export const mergeRefusalTables = (one: RefusalTable, other: RefusalTable): RefusalTable => ({
  shapes: [...one.shapes, ...other.shapes],
  codes: new Map([...other.codes, ...one.codes])
})

// Shapes

const Text = Schema.NonEmptyString
const Code = Schema.Union([Schema.NonEmptyString, Schema.Int])

const isErrorObject = Schema.is(
  Schema.Struct({
    error: Schema.Struct({
      message: Text,
      code: Schema.optional(Schema.Unknown),
      type: Schema.optional(Schema.Unknown)
    })
  })
)
const isCode = Schema.is(Code)

/** The shape `{error: {message, type, code}}`, in which type and code may be empty. */
export const errorObjectShape: Shape = (body) =>
  isErrorObject(body) ? [body.error.code, body.error.type].filter(isCode).map(String) : null

/** The shape `{error: "text"}`, which has no code. */
const isErrorText = Schema.is(Schema.Struct({ error: Text }))
export const errorTextShape: Shape = (body) => (isErrorText(body) ? [] : null)

const isMessage = Schema.is(
  Schema.Union([Schema.Struct({ detail: Text }), Schema.Struct({ message: Text })])
)
/** The shapes `{detail: "text"}` and `{message: "text"}`, which have no code. */
export const messageShape: Shape = (body) => (isMessage(body) ? [] : null)

const isFlatWord = Schema.is(Schema.Struct({ code: Text, message: Text }))
/**
 * The shape `{code: "Word", message}`; an answer that also has an `output` is not only an error.
 */
export const flatWordShape: Shape = (body) =>
  isFlatWord(body) && !("output" in body) ? [body.code] : null

const FourDigits = Schema.Int.check(Schema.isBetween({ minimum: 1000, maximum: 9999 }))
const isFlatNumber = Schema.is(Schema.Struct({ code: FourDigits }))
/**
 * The shape `{code: 1201, message}`; a smaller number is an HTTP status, which proxies also write
 * into errors.
 */
export const flatNumberShape: Shape = (body) => (isFlatNumber(body) ? [String(body.code)] : null)

const isReason = Schema.is(Schema.Struct({ reason: Text, message: Text }))
/** The shape `{reason: "Word", message}`. */
export const flatReasonShape: Shape = (body) => (isReason(body) ? [body.reason] : null)

// Judging

/** Statuses of errors that occur before any work, unless the code says otherwise. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 415, 422])

/**
 * Statuses that also come from proxies in front of a vendor, so they prove a refusal only with a
 * code of the table.
 */
const busyStatuses: ReadonlySet<number> = new Set([429, 503])

/** The meaning of the first code that is in the table. */
export const meaningOf = (
  { codes }: Pick<RefusalTable, "codes">,
  answerCodes: ReadonlyArray<string>,
  httpStatus: number
): Meaning | null => {
  const meaningOfCode = (code: string) => {
    const meaning = codes.get(code) ?? codes.get(code.split(".")[0] ?? "")
    return meaning?.at === undefined || meaning.at === httpStatus ? meaning : undefined
  }
  return (
    answerCodes.map((code) => meaningOfCode(code.toLowerCase())).find((one) => one !== undefined) ??
    null
  )
}

interface Verdict {
  readonly effectiveStatus: number
  readonly proof: KnownRefusal | null
}

/**
 * The HTTP status with the same meaning as the error's code, if the code is about the gateway's
 * account and the status of the answer is not; otherwise null. Such an error must not reach
 * clients, whatever its shape or status.
 */
const accountStatusOf = ({ codes }: RefusalTable, { status, body }: VendorAnswer) => {
  const { code } = errorOf(body)
  const statusOfCode = code === null ? null : (meaningOf({ codes }, [code], status)?.status ?? null)
  return statusOfCode !== null && accountStatuses.has(statusOfCode) && !accountStatuses.has(status)
    ? statusOfCode
    : null
}

/**
 * Whether the meaning of a code decides. In a 2xx answer it always does. In an error it does only
 * if the meaning is a proof and the status is that of a refusal or of overload.
 */
const isDecisive = (meaning: Meaning | null, status: number): meaning is Meaning =>
  meaning !== null &&
  (status < 300 ||
    (meaning.proof !== null && (refusalStatuses.has(status) || busyStatuses.has(status))))

const verdictOf = (table: RefusalTable, answer: VendorAnswer): Verdict => {
  const { status, body } = answer
  const answeredStatus = status < 300 ? 502 : status
  // A time-out status comes from a proxy that stopped waiting, so a vendor's code in the same
  // answer proves nothing.
  if (timeouts.has(status)) return { effectiveStatus: answeredStatus, proof: null }
  const unprovenVerdict = {
    effectiveStatus: accountStatusOf(table, answer) ?? answeredStatus,
    proof: null
  }
  const answerCodes = table.shapes.map((shape) => shape(body)).find((codes) => codes !== null)
  if (answerCodes === undefined) return unprovenVerdict
  const meaning = meaningOf(table, answerCodes, status)
  if (refusalStatuses.has(status) && (meaning === null || meaning.proof === "refused")) {
    return { effectiveStatus: answeredStatus, proof: knownRefusalOf(status) }
  }
  if (!isDecisive(meaning, status)) return unprovenVerdict
  // If both the status and the code mean overload, clients get the status of the answer.
  if (busyStatuses.has(status) && busyStatuses.has(meaning.status ?? 0)) {
    return { effectiveStatus: answeredStatus, proof: knownRefusalOf(status) }
  }
  const effectiveStatus = (accountStatuses.has(status) ? status : meaning.status) ?? answeredStatus
  return { effectiveStatus, proof: meaning.proof }
}

/** Adds the table's verdict to the failure, and the id of the job that the answer mentions. */
export const judgeFailure = (
  table: RefusalTable,
  answer: VendorAnswer,
  failure: VendorFailure
): VendorFailure => {
  if (failure._tag !== "VendorRefused" || failure.isVerdict === true) return failure
  const { effectiveStatus, proof } = verdictOf(table, answer)
  const mark = jobMarkOf(answer)
  const isProved =
    proof !== null &&
    mark === null &&
    productIn(answer.body, answer.requestBody, table.fileFields) === "none"
  const upstreamId = mark?.upstreamId ?? null
  return new VendorRefused({
    ...failure,
    message: failure.message,
    effectiveStatus,
    ...(isProved ? { proof } : {}),
    ...(upstreamId === null ? {} : { upstreamId })
  })
}

/**
 * Judges an error in a stream. As the first event, the error is judged like a whole answer; after
 * other events it proves nothing, because the vendor had begun to work.
 */
export const judgeStreamFailure = (
  table: RefusalTable,
  answer: VendorAnswer,
  failure: VendorFailure,
  isFirst: boolean
): VendorFailure => {
  const verdict = judgeFailure(table, answer, failure)
  if (isFirst || verdict._tag !== "VendorRefused") return verdict
  if (!accountStatuses.has(verdict.effectiveStatus)) return failure
  const { proof: _, ...judgement } = verdict
  return new VendorRefused({ ...judgement, message: verdict.message })
}
