/** Checks whether a vendor accepts an account, by a request that creates nothing. */
import { Option, Predicate, Result, Schema } from "effect"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorOf, isErrorText } from "../wire/errorText.ts"
import { judgeFailure, type RefusalTable } from "../wire/refusalTable.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusableAnswer } from "../wire/vendorFailures.ts"
import { bearer, get, standardUrl, type VendorRequest } from "../wire/vendorRequest.ts"
import { standardRefusals } from "./standardErrors.ts"

type Outcome<A> = Result.Result<A, VendorFailure>

/** The request of an account check, and the reader of its answer. */
export interface CheckDialect {
  readonly checkRequest: (account: ChannelAccount) => Outcome<VendorRequest>
  /** Fails if the answer does not contain the requested object. */
  readonly readChecked: (account: ChannelAccount, answer: VendorAnswer) => Outcome<unknown>
  readonly refusals: RefusalTable
  /** The statuses by which a vendor says that it accepts the account but has no such object. */
  readonly absentStatuses: ReadonlySet<number>
  /** Whether a body is the vendor's error in a place where errors of other vendors do not stand. */
  readonly isVendorError?: (body: unknown) => boolean
}

/**
 * A task id for account checks: the nil UUID. It has the most common format of task ids, and no
 * vendor assigns it to a task.
 */
export const NO_TASK = "00000000-0000-0000-0000-000000000000"

/**
 * The statuses for a task that does not exist. Some vendors answer 400 or 422 instead of 404 to an
 * id that none of their tasks can have.
 */
export const absentTaskStatuses: ReadonlySet<number> = new Set([400, 404, 422])

/**
 * A check that lists the models in the common standard form. Some vendors of that form have no such
 * list.
 */
export const modelsCheck: CheckDialect = {
  checkRequest: (account) => Result.succeed(get(standardUrl(account, "models"), bearer(account))),
  readChecked: (account, answer) =>
    answer.status < 300 && Predicate.isObjectOrArray(answer.body) && !isErrorText(answer.body)
      ? Result.void
      : Result.fail(unusableAnswer(account, answer)),
  refusals: standardRefusals,
  absentStatuses: new Set([404])
}

/** The maximum number of models that are read of a vendor's list. */
const MAX_MODELS = 1000

const decodeModels = Schema.decodeUnknownOption(
  Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
)

/** The request for the list of models, and the reader of its answer. */
export interface ModelListDialect {
  readonly listRequest: (account: ChannelAccount) => Outcome<VendorRequest>
  /** The ids of the models in a list; null if the body is none. */
  readonly idsIn: (body: unknown) => ReadonlyArray<string> | null
}

/** A list of models in the common standard form. */
export const standardModels: ModelListDialect = {
  listRequest: modelsCheck.checkRequest,
  idsIn: (body) =>
    Option.getOrNull(Option.map(decodeModels(body), ({ data }) => data.map(({ id }) => id)))
}

/** Reads the ids of a list of models. */
export const readModels =
  ({ idsIn }: ModelListDialect) =>
  (account: ChannelAccount, answer: VendorAnswer): Outcome<ReadonlyArray<string>> => {
    const ids = answer.status < 300 ? idsIn(answer.body) : null
    return ids === null
      ? Result.fail(unusableAnswer(account, answer))
      : Result.succeed(ids.slice(0, MAX_MODELS))
  }

/**
 * Whether an answer explains that the object does not exist. The error page of a web server at a
 * wrong address does not: it has no code and no message in the places of a vendor's error.
 */
const explainsAbsence = ({ body }: VendorAnswer): boolean => {
  const { code, message } = errorOf(body)
  return Predicate.isObject(body) && (code !== null || message !== null)
}

/** Accepts the requested object, and the vendor's explained error that it has no such object. */
export const readCheck =
  ({ readChecked, refusals, absentStatuses, isVendorError = () => false }: CheckDialect) =>
  (account: ChannelAccount, answer: VendorAnswer): Outcome<void> => {
    const readResult = Result.mapError(readChecked(account, answer), (failure) =>
      judgeFailure(refusals, answer, failure)
    )
    // A poll reads every 404 as an unknown task, even one from a wrong server, so a 404 is judged
    // again here.
    const checkResult =
      answer.status === 404 && Result.isSuccess(readResult)
        ? Result.fail(refusal(account, answer))
        : readResult
    const isAbsence = (failure: VendorFailure): boolean =>
      failure._tag === "VendorRefused" &&
      absentStatuses.has(failure.effectiveStatus) &&
      (explainsAbsence(answer) || isVendorError(answer.body))
    return Result.isFailure(checkResult) && !isAbsence(checkResult.failure)
      ? Result.fail(checkResult.failure)
      : Result.void
  }
