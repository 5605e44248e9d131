/**
 * Checks that an error of the vendor is returned only after the hold was released, or was charged
 * because the response could not be read.
 */
import type { Books, Hold } from "../books.ts"
import type { Attempt, Witness } from "../witness.ts"
import { pairUp } from "./matching.ts"
import { claimOf, keptDigest, ROUNDING_MILLIS, unreadHolds } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** Whether the hold was taken and closed while the client waited. */
const within = ({ startedAt, endedAt }: Attempt, { created_at, closed_at }: Hold): boolean =>
  closed_at !== null &&
  created_at.getTime() + ROUNDING_MILLIS >= startedAt &&
  closed_at.getTime() - ROUNDING_MILLIS <= endedAt

/**
 * Checks the refunds. Requests with an idempotency key are excluded, since their response may be a
 * replay.
 */
export const judgeRefunds = (books: Books, witness: Witness): Verdict => {
  const docket = open(
    "refund",
    "a hold is back, or charged unread, when the vendor's error is answered"
  )
  const unread = unreadHolds(books)
  const isBack = ({ id, state }: Hold) => state === "released" || unread.has(id)
  const refused = witness.attempts.filter(
    ({ order, outcome }) =>
      order.idempotencyKey === null &&
      outcome._tag === "Refused" &&
      outcome.code === "upstream_error"
  )
  const holds = groupBy(books.holds, claimOf.hold)
  const pairs = pairUp(refused, (attempt) =>
    (holds.get(claimOf.order(attempt.order)) ?? []).filter(
      (hold) => isBack(hold) && within(attempt, hold)
    )
  )
  for (const attempt of refused) {
    docket.look(pairs.has(attempt) ? null : `order ${attempt.order.id}: no hold came back in time`)
  }
  return docket.verdict
}

/** The same of orders under a key, as far as their holds have the digest of the prompt. */
export const judgeKeyedRefunds = (books: Books, witness: Witness): Verdict => {
  const docket = open(
    "refund",
    "who got the vendor's error under a key has no hold that is charged"
  )
  const unread = unreadHolds(books)
  const holds = groupBy(books.holds, ({ prompt_digest }) => prompt_digest ?? "")
  for (const { order, outcome } of witness.attempts) {
    const isError = outcome._tag === "Refused" && outcome.code === "upstream_error"
    const own = holds.get(keptDigest(order.promptDigest)) ?? []
    if (order.idempotencyKey === null || !isError || own.length === 0) continue
    // An error may free the key for another hold, which is charged.
    const isBack = own.some(({ id, state }) => state === "released" || unread.has(id))
    docket.look(isBack ? null : `order ${order.id} was answered ${outcome.status}, and is charged`)
  }
  return docket.verdict
}
