/**
 * How vendors refuse. That one made nothing is proved by its table alone: by an error in the vendor's
 * own shape, with a status and a code by which it is known to refuse, and with no word of a job.
 */
import { Schema } from "effect"
import {
  aboutAccount,
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

/** What a code of a vendor says. */
export interface Meaning {
  /** The HTTP status it stands for; null leaves the one it came with. */
  readonly status: number | null
  /** Null where the vendor may have begun. */
  readonly proof: KnownRefusal | null
  /** The only status it says this at. */
  readonly at?: number
}

export const meanings = {
  order: { status: 400, proof: "refused" },
  credentials: { status: 401, proof: "credentials_refused" },
  access: { status: 403, proof: "credentials_refused" },
  balance: { status: 402, proof: "account_empty" },
  /** The catalog has the model, so our account may not call it, or not under this name: the key is good for others. */
  model: { status: 403, proof: "model_unknown" },
  rate: { status: 429, proof: "rate_limited" },
  maintenance: { status: 503, proof: "overloaded" },
  /** A word that vendors have for what they failed at as well. */
  overload: { status: 503, proof: "overloaded", at: 503 },
  failure: { status: 500, proof: null },
  timeout: { status: 504, proof: null },
  unsure: { status: null, proof: null }
} as const satisfies Record<string, Meaning>

/** Codes of an error in one shape, the most telling first; null for everything that has another one. */
export type Shape = (body: unknown) => ReadonlyArray<string> | null

/** Codes as the vendor spells them; the part before a first dot stands for all that begin with it. */
export type Codes = Readonly<Record<string, Meaning>>

export interface RefusalTable {
  readonly shapes: ReadonlyArray<Shape>
  /** By codes in lower case. */
  readonly codes: ReadonlyMap<string, Meaning>
}

/** Codes by which vendors of every kind say that our account there is empty, closed or not allowed. */
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

/** Of a vendor behind another one: either may refuse, and the first one's words come first. */
export const eitherOf = (one: RefusalTable, other: RefusalTable): RefusalTable => ({
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

/** `{error: {message, type, code}}`, in which the last two may be empty. */
export const errorObject: Shape = (body) =>
  isErrorObject(body) ? [body.error.code, body.error.type].filter(isCode).map(String) : null

/** `{error: "text"}`, which has no code. */
const isErrorText = Schema.is(Schema.Struct({ error: Text }))
export const errorText: Shape = (body) => (isErrorText(body) ? [] : null)

const isFlatWord = Schema.is(Schema.Struct({ code: Text, message: Text }))
/** `{code: "Word", message}`; beside an output, it is no error alone. */
export const flatWord: Shape = (body) =>
  isFlatWord(body) && !("output" in body) ? [body.code] : null

const FourDigits = Schema.Int.check(Schema.isBetween({ minimum: 1000, maximum: 9999 }))
const isFlatNumber = Schema.is(Schema.Struct({ code: FourDigits }))
/** `{code: 1201, message}`; a smaller number is a status, which anything writes into its errors. */
export const flatNumber: Shape = (body) => (isFlatNumber(body) ? [String(body.code)] : null)

const isReason = Schema.is(Schema.Struct({ reason: Text, message: Text }))
/** `{reason: "Word", message}`. */
export const flatReason: Shape = (body) => (isReason(body) ? [body.reason] : null)

// Judging

/** An error at these statuses came before any work, whatever its code; the code may tell otherwise. */
const refusing: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 413, 415, 422])

/** Something that stands before a vendor has these as well, so its code must be known. */
const busy: ReadonlySet<number> = new Set([429, 503])

/** What the first of the codes that is known says. */
export const meaningOf = (
  { codes }: Pick<RefusalTable, "codes">,
  said: ReadonlyArray<string>,
  httpStatus: number
): Meaning | null => {
  const meant = (code: string) => {
    const meaning = codes.get(code) ?? codes.get(code.split(".")[0] ?? "")
    return meaning?.at === undefined || meaning.at === httpStatus ? meaning : undefined
  }
  return said.map((code) => meant(code.toLowerCase())).find((one) => one !== undefined) ?? null
}

interface Verdict {
  readonly effectiveStatus: number
  readonly proof: KnownRefusal | null
}

/** What is said of our account is not for clients, in whatever shape and with whatever status it comes. */
const accountStatusOf = ({ codes }: RefusalTable, { status, body }: VendorAnswer) => {
  const { code } = errorOf(body)
  const told = code === null ? null : (meaningOf({ codes }, [code], status)?.status ?? null)
  return told !== null && aboutAccount.has(told) && !aboutAccount.has(status) ? told : null
}

const verdictOf = (table: RefusalTable, answer: VendorAnswer): Verdict => {
  const { status, body } = answer
  const own = status < 300 ? 502 : status
  // A proxy that stopped waiting speaks for itself, whatever code it found in the vendor's words.
  if (timeouts.has(status)) return { effectiveStatus: own, proof: null }
  const unproved = { effectiveStatus: accountStatusOf(table, answer) ?? own, proof: null }
  const said = table.shapes.map((shape) => shape(body)).find((codes) => codes !== null)
  if (said === undefined) return unproved
  const meaning = meaningOf(table, said, status)
  if (refusing.has(status) && (meaning === null || meaning.proof === "refused")) {
    return { effectiveStatus: own, proof: knownRefusalOf(status) }
  }
  const isJudged = status < 300 || refusing.has(status) || busy.has(status)
  if (!isJudged || meaning === null || (meaning.proof === null && status >= 300)) return unproved
  // Of two words for too much work the status is the one that clients know.
  if (busy.has(status) && busy.has(meaning.status ?? 0)) {
    return { effectiveStatus: own, proof: knownRefusalOf(status) }
  }
  const finer = aboutAccount.has(status) ? status : meaning.status
  return { effectiveStatus: finer ?? own, proof: meaning.proof }
}

/** The failure with what the table knows of it, and with the job that the answer tells of. */
export const judged = (
  table: RefusalTable,
  answer: VendorAnswer,
  failure: VendorFailure
): VendorFailure => {
  if (failure._tag !== "VendorRefused" || failure.isVerdict === true) return failure
  const { effectiveStatus, proof } = verdictOf(table, answer)
  const mark = jobMarkOf(answer)
  const isProved = proof !== null && mark === null && productIn(answer.body, answer.sent) === "none"
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
 * An error that a stream tells: of the first event it is judged as that of a whole answer, and after
 * others it proves nothing, as the vendor had begun.
 */
export const judgedInStream = (
  table: RefusalTable,
  answer: VendorAnswer,
  failure: VendorFailure,
  isFirst: boolean
): VendorFailure => {
  const verdict = judged(table, answer, failure)
  if (isFirst || verdict._tag !== "VendorRefused") return verdict
  if (!aboutAccount.has(verdict.effectiveStatus)) return failure
  const { proof: _, ...doubt } = verdict
  return new VendorRefused({ ...doubt, message: verdict.message })
}
