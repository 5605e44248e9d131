/** Whether a vendor accepts an account, told by its answer to a question that creates nothing. */
import { Predicate, Result } from "effect"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import { errorOf, saysError } from "../wire/errorText.ts"
import { judged, type RefusalTable } from "../wire/refusalTable.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusable } from "../wire/vendorFailures.ts"
import { bearer, get, standardUrl, type VendorRequest } from "../wire/vendorRequest.ts"
import { standardRefusals } from "./standardErrors.ts"

type Outcome<A> = Result.Result<A, VendorFailure>

/** What a vendor is asked, and how its answer is judged. */
export interface CheckDialect {
  readonly checkRequest: (account: ChannelAccount) => Outcome<VendorRequest>
  /** Fails where the answer is not the one that was asked for. */
  readonly readChecked: (account: ChannelAccount, answer: VendorAnswer) => Outcome<unknown>
  readonly refusals: RefusalTable
  /** Statuses by which a vendor that accepts the account says that it has no such thing. */
  readonly absentStatuses: ReadonlySet<number>
}

/** An id in the most usual form; no vendor gives it to a task. */
export const NO_TASK = "00000000-0000-0000-0000-000000000000"

/** Some vendors refuse an id that no task of theirs can have, instead of looking for it. */
export const absentTask: ReadonlySet<number> = new Set([400, 404, 422])

/** The models of the common standard form, which not every vendor of it lists. */
export const modelsCheck: CheckDialect = {
  checkRequest: (account) => Result.succeed(get(standardUrl(account, "models"), bearer(account))),
  readChecked: (account, answer) =>
    answer.status < 300 && Predicate.isObjectOrArray(answer.body) && !saysError(answer.body)
      ? Result.void
      : Result.fail(unusable(account, answer)),
  refusals: standardRefusals,
  absentStatuses: new Set([404])
}

/** A page of a web server at a wrong address has no words in the places of an error. */
const saysWhy = ({ body }: VendorAnswer): boolean => {
  const { code, message } = errorOf(body)
  return Predicate.isObject(body) && (code !== null || message !== null)
}

/** Passes the answer that was asked for, and the vendor's word that it has no such thing. */
export const readCheck =
  ({ readChecked, refusals, absentStatuses }: CheckDialect) =>
  (account: ChannelAccount, answer: VendorAnswer): Outcome<void> => {
    const read = Result.mapError(readChecked(account, answer), (failure) =>
      judged(refusals, answer, failure)
    )
    // A poll takes every 404 for a task that is unknown, whoever answered it.
    const said =
      answer.status === 404 && Result.isSuccess(read) ? Result.fail(refusal(account, answer)) : read
    const isAbsence = (failure: VendorFailure): boolean =>
      failure._tag === "VendorRefused" &&
      absentStatuses.has(failure.effectiveStatus) &&
      saysWhy(answer)
    return Result.isFailure(said) && !isAbsence(said.failure)
      ? Result.fail(said.failure)
      : Result.void
  }
