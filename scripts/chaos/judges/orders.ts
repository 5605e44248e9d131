/** Finds which hold may belong to which job, where no id connects them. */
import type { Books, Hold, Job, Task } from "../books.ts"
import { type Good, goods } from "../goods.ts"
import type { Order, Witness } from "../witness.ts"
import { groupBy } from "./verdict.ts"

/** The tolerance for the simulator's book, which has whole milliseconds. */
export const ROUNDING_MILLIS = 5
/**
 * The tolerance for a released hold: a paused gateway may call the vendor after its hold was
 * released.
 */
const LATE_MILLIS = 20_000

/** The length of the digests of prompts that the gateway keeps with its orders. */
const DIGEST_LENGTH = 12

/** The part of a prompt's digest that the gateway keeps with its order. */
export const keptDigest = (promptDigest: string): string => promptDigest.slice(0, DIGEST_LENGTH)

/** The orders by what the gateway keeps of their prompts' digests. */
export const ordersByKeptDigest = ({ orders }: Witness): ReadonlyMap<string, Order> =>
  new Map([...orders].map(([digest, order]) => [keptDigest(digest), order]))

/** The product that the hold pays for. */
export const goodOf = ({ upstream_model }: Pick<Hold, "upstream_model">): Good | undefined =>
  goods.find(({ upstreamModel }) => upstreamModel === upstream_model)

/** Whether the vendor takes the order for a repeat of another one, whose job it answers. */
export const isTakenForRepeat = ({ prompt }: Order): boolean => prompt.includes("sim:same-job")

/** The kind of order that a task is of: its id begins with it. */
export const kindOfTask = ({ id }: Pick<Task, "id">): "video" | "image" =>
  id.startsWith("im_") ? "image" : "video"

/**
 * The member, model and amount as a text: all that a hold and its order have in common. The amount
 * of a text's hold is an estimate, so it is left out.
 */
export const claimOf = {
  hold: (hold: Hold): string => {
    const isEstimate = goodOf(hold)?.holdNano === null
    return `${hold.member_id} ${hold.upstream_model} ${isEstimate ? "" : hold.amount}`
  },
  order: ({ customer, model, units, holdNano }: Order): string => {
    const good = goods.find((one) => one.model === model)
    const hold = holdNano ?? good?.holdNano?.(units)
    return `${customer.memberId} ${good?.upstreamModel} ${hold ?? ""}`
  }
}

/** Whether the job came after the hold was taken, and not long after the hold was closed. */
export const mayBelong = ({ accepted }: Job, { created_at, closed_at, state }: Hold): boolean => {
  const at = Date.parse(accepted.at)
  const late = state === "captured" ? 0 : LATE_MILLIS
  return (
    created_at.getTime() - ROUNDING_MILLIS <= at &&
    (closed_at === null || at <= closed_at.getTime() + ROUNDING_MILLIS + late)
  )
}

/** The ids of the holds that were charged because a success response could not be read. */
export const unreadHolds = (books: Books): ReadonlySet<string> =>
  new Set(
    books.orphans.filter(({ reason }) => reason === "unread_answer").map(({ hold_id }) => hold_id)
  )

/**
 * The outcome of each order for its client, by the digest of its prompt: `accepted` when any
 * response was a success, `denied` when all responses were errors of the vendor, and otherwise
 * `unknown`.
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

/**
 * Finds the jobs that a vendor accepted for a task: that of its id, those of its client token, and,
 * as the prompts of all orders differ, those of its prompt where no other order has the prompt.
 */
export const jobsOfTask = ({ holds, jobs }: Books): ((task: Task) => ReadonlyArray<Job>) => {
  const jobsByPrompt = groupBy(jobs, ({ accepted }) => keptDigest(accepted.order.prompt_sha256))
  const holdsByPrompt = groupBy(holds, ({ prompt_digest }) => prompt_digest ?? "")
  const promptOf = new Map(holds.map(({ id, prompt_digest }) => [id, prompt_digest ?? ""]))
  return ({ id, upstream_id }) => {
    const prompt = promptOf.get(id) ?? ""
    const isOnly = holdsByPrompt.get(prompt)?.length === 1
    return (jobsByPrompt.get(prompt) ?? []).filter(({ accepted }) =>
      upstream_id === null
        ? isOnly || accepted.client_token === id
        : accepted.upstream_id === upstream_id
    )
  }
}
