/** I8 and I10 for images and texts, whose orders at the vendor carry no id of the gateway. */
import type { Books, Hold, Job } from "../books.ts"
import type { Witness } from "../witness.ts"
import { pairUp } from "./matching.ts"
import { claimOf, goodOf, mayBelong, unreadHolds, verdictOnOrder } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

type Kind = "image" | "text"

/** Finds which jobs and holds of a kind may belong together. */
const readProducts = (kind: Kind, books: Books, witness: Witness) => {
  const verdicts = verdictOnOrder(witness)
  const attempts = groupBy(witness.attempts, ({ order }) => order.promptDigest)
  const orphans = new Set(books.orphans.map(({ hold_id }) => hold_id))
  const unread = unreadHolds(books)
  const holds = books.holds.filter((hold) => goodOf(hold)?.kind === kind)
  const holdsByClaim = groupBy(holds, claimOf.hold)
  // Failed jobs are excluded: no vendor bills them, so they need no charge and no orphan.
  const jobs = books.jobs.filter(
    ({ accepted, ended }) =>
      accepted.kind === kind && (ended === null || ended.event === "succeeded")
  )

  /**
   * Whether a hold fits a job. A charged hold does not fit if the client got an error, except where
   * the vendor's success response could not be read. Any other hold fits only if it has an orphan,
   * and not if the client got the product with its only request.
   */
  const mayFit = (job: Job, hold: Hold): boolean => {
    const digest = job.accepted.order.prompt_sha256
    const verdict = verdicts.get(digest)
    if (hold.state === "captured") {
      return (verdict !== "denied" || unread.has(hold.id)) && mayBelong(job, hold)
    }
    const [attempt, ...repeats] = attempts.get(digest) ?? []
    const isAnswered =
      verdict === "accepted" && repeats.length === 0 && attempt?.order.isLater === false
    return !isAnswered && orphans.has(hold.id) && mayBelong(job, hold)
  }
  const holdsFor = (job: Job): ReadonlyArray<Hold> => {
    const order = witness.orders.get(job.accepted.order.prompt_sha256)
    const claimed = order === undefined ? [] : (holdsByClaim.get(claimOf.order(order)) ?? [])
    return claimed.filter((hold) => mayFit(job, hold))
  }
  const captured = holds.filter(({ state }) => state === "captured")
  return { kind, jobs, captured, unread, attempts, verdicts, holdsFor }
}

type Products = ReturnType<typeof readProducts>

// If one matching pairs all jobs and another one pairs all charges, then a single matching can pair
// all jobs and all charges (theorem of Mendelsohn and Dulmage). So the two are judged separately.

const judgeJobs = (products: Products, { orders }: Witness): Verdict => {
  const { kind, jobs, verdicts, holdsFor } = products
  const docket = open("I10", `every ${kind} job is charged, or has its own orphan`)
  const pairs = pairUp(jobs, holdsFor)
  for (const job of jobs) {
    const { upstream_id, order } = job.accepted
    const digest = order.prompt_sha256
    const name = `job ${upstream_id} of order ${orders.get(digest)?.id}`
    docket.look(pairs.has(job) ? null : `${name} (${verdicts.get(digest)}) is lost`)
  }
  return docket.verdict
}

const judgeCharges = ({ kind, jobs, captured, unread, holdsFor }: Products): Verdict => {
  const docket = open("I10", `every charged ${kind} has a job of its own, or could not be read`)
  const candidates = jobs.flatMap((job) => holdsFor(job).map((hold) => ({ job, hold })))
  const candidatesOf = groupBy(candidates, ({ hold }) => hold.id)
  const pairs = pairUp(captured, ({ id }) => (candidatesOf.get(id) ?? []).map(({ job }) => job))
  for (const hold of captured) {
    const isKnown = pairs.has(hold) || unread.has(hold.id)
    docket.look(isKnown ? null : `${hold.id} is charged without a job`)
  }
  return docket.verdict
}

const judgeAmounts = ({ captured: holds }: Products): Verdict => {
  const docket = open("I10", "images are charged by the number ordered")
  for (const { id, amount, captured } of holds) {
    docket.look(captured === amount ? null : `${id} is charged ${captured}`)
  }
  return docket.verdict
}

const judgeAnswers = (products: Products, witness: Witness): Verdict => {
  const { kind, jobs, attempts, holdsFor } = products
  const docket = open("I8", `${kind}s that were answered were made, and are charged`)
  const jobsByOrder = groupBy(jobs, ({ accepted }) => accepted.order.prompt_sha256)
  /**
   * One demand for each response that has its own job. A replayed response needs only the job of
   * the first response.
   */
  const demands = [...witness.orders.values()].flatMap((order) => {
    const accepted = (attempts.get(order.promptDigest) ?? []).flatMap(({ outcome }) =>
      order.kind === kind && outcome._tag === "Accepted" && outcome.taskId === null ? [outcome] : []
    )
    const fresh = accepted.filter(({ replayed }) => !replayed)
    return (fresh.length > 0 ? fresh : accepted.slice(0, 1)).map((outcome) => ({ order, outcome }))
  })
  const pairs = pairUp(demands, ({ order }) =>
    (jobsByOrder.get(order.promptDigest) ?? [])
      .flatMap(holdsFor)
      .filter(({ state }) => state === "captured")
  )
  for (const demand of demands) {
    const { id, promptDigest } = demand.order
    const count = jobsByOrder.get(promptDigest)?.length ?? 0
    docket.look(pairs.has(demand) ? null : `order ${id}: ${count} jobs, and no charge left for it`)
  }
  return docket.verdict
}

export const judgeImages = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const images = readProducts("image", books, witness)
  return [
    judgeAnswers(images, witness),
    judgeJobs(images, witness),
    judgeCharges(images),
    judgeAmounts(images)
  ]
}

/** The charges of texts differ in their tokens, so no amount is judged. */
export const judgeTexts = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const texts = readProducts("text", books, witness)
  return [judgeAnswers(texts, witness), judgeJobs(texts, witness), judgeCharges(texts)]
}
