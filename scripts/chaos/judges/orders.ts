/** Which hold may belong to which job, where no id tells. */
import type { Books, Hold, Job } from "../books.ts"
import { goods } from "../goods.ts"
import type { Order, Witness } from "../witness.ts"
import { groupBy } from "./verdict.ts"

/** The book counts whole milliseconds. */
export const ROUNDING_MILLIS = 5
/** A gateway that slept may call the vendor for a hold that was given back meanwhile. */
const LATE_MILLIS = 20_000

/** Who ordered what at which price: all that hold and order have in common. */
export const claimOf = {
  hold: ({ member_id, upstream_model, amount }: Hold): string =>
    `${member_id} ${upstream_model} ${amount}`,
  order: ({ customer, model, units }: Order): string => {
    const good = goods.find((one) => one.model === model)
    return `${customer.memberId} ${good?.upstreamModel} ${good?.holdNano(units)}`
  }
}

/** The job came after the hold, and the hold was not closed long before the job. */
export const mayBelong = ({ accepted }: Job, { created_at, closed_at, state }: Hold): boolean => {
  const at = Date.parse(accepted.at)
  const late = state === "captured" ? 0 : LATE_MILLIS
  return (
    created_at.getTime() - ROUNDING_MILLIS <= at &&
    (closed_at === null || at <= closed_at.getTime() + ROUNDING_MILLIS + late)
  )
}

/** Those that are charged for an answer of success that could not be read. */
export const unreadHolds = (books: Books): ReadonlySet<string> =>
  new Set(
    books.orphans.filter(({ reason }) => reason === "unread_answer").map(({ hold_id }) => hold_id)
  )

/**
 * What its client was told of each order, by the digest of its prompt: `accepted` by any answer,
 * `denied` when all answers were vendor's errors, and otherwise nobody can say.
 */
export const verdictOnOrder = (
  witness: Witness
): ReadonlyMap<string, "accepted" | "denied" | "unknown"> =>
  new Map(
    [...groupBy(witness.attempts, ({ order }) => order.promptDigest)].map(([digest, attempts]) => {
      const outcomes = attempts.map(({ outcome }) => outcome)
      if (outcomes.some(({ _tag }) => _tag === "Accepted")) return [digest, "accepted"]
      const denied = outcomes.every(
        (outcome) => outcome._tag === "Refused" && outcome.code === "upstream_error"
      )
      return [digest, denied ? "denied" : "unknown"]
    })
  )
