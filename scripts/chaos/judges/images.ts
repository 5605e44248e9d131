/** I8 and I10 for images, which carry no id of ours to their vendor. */
import type { Books, Hold, Job } from "../books.ts"
import type { Witness } from "../witness.ts"
import { pairUp } from "./matching.ts"
import { claimOf, mayBelong, unreadHolds, verdictOnOrder } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

export const judgeImages = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const answered = open("I8", "images that were answered were made, and are charged")
  const known = open("I10", "every image job is charged, or has its own orphan")
  const charged = open("I10", "every charged image has a job of its own, or could not be read")
  const amounts = open("I10", "images are charged by the number ordered")

  const told = verdictOnOrder(witness)
  const attempts = groupBy(witness.attempts, ({ order }) => order.promptDigest)
  const tasks = new Set(books.tasks.map(({ id }) => id))
  const orphans = new Set(books.orphans.map(({ hold_id }) => hold_id))
  const unread = unreadHolds(books)
  const holds = books.holds.filter(({ id }) => !tasks.has(id))
  const holdsByClaim = groupBy(holds, claimOf.hold)
  // A job that failed at the vendor is billed by nobody, and needs nothing of us.
  const jobs = books.jobs.filter(
    ({ accepted, ended }) =>
      accepted.kind === "image" && (ended === null || ended.event === "succeeded")
  )
  const jobsByOrder = groupBy(jobs, ({ accepted }) => accepted.order.prompt_sha256)

  /**
   * Charged when the client has the images, an orphan when it was told of an error, and both where the
   * vendor's answer of success could not be read. Where nothing was heard, or one of several requests was
   * answered, it may be either.
   */
  const fits = (job: Job, hold: Hold): boolean => {
    const digest = job.accepted.order.prompt_sha256
    const verdict = told.get(digest)
    if (hold.state === "captured") {
      return (verdict !== "denied" || unread.has(hold.id)) && mayBelong(job, hold)
    }
    const answered = verdict === "accepted" && attempts.get(digest)?.length === 1
    return !answered && orphans.has(hold.id) && mayBelong(job, hold)
  }
  const holdsFor = (job: Job): ReadonlyArray<Hold> => {
    const order = witness.orders.get(job.accepted.order.prompt_sha256)
    const claimed = order === undefined ? [] : (holdsByClaim.get(claimOf.order(order)) ?? [])
    return claimed.filter((hold) => fits(job, hold))
  }

  // If all jobs can be paired, and all charges can, then both can at once (Mendelsohn and Dulmage).
  const paired = pairUp(jobs, holdsFor)
  const jobsByHold = new Map<Hold, Array<Job>>()
  for (const job of jobs) {
    for (const hold of holdsFor(job)) {
      const others = jobsByHold.get(hold)
      if (others === undefined) jobsByHold.set(hold, [job])
      else others.push(job)
    }
    const digest = job.accepted.order.prompt_sha256
    const name = `job ${job.accepted.upstream_id} of order ${witness.orders.get(digest)?.id}`
    const wrong = paired.has(job) ? null : `${name} (${told.get(digest)}) is lost`
    known.look(wrong)
  }
  const captured = holds.filter(({ state }) => state === "captured")
  const covered = pairUp(captured, (hold) => jobsByHold.get(hold) ?? [])
  for (const hold of captured) {
    const isKnown = covered.has(hold) || unread.has(hold.id)
    charged.look(isKnown ? null : `${hold.id} is charged without a job`)
    amounts.look(hold.captured === hold.amount ? null : `${hold.id} is charged ${hold.captured}`)
  }

  /** One for each answer that came of work of its own; a replayed answer needs the first one. */
  const demands = [...witness.orders.values()].flatMap((order) => {
    const given = (attempts.get(order.promptDigest) ?? []).flatMap(({ outcome }) =>
      order.kind === "image" && outcome._tag === "Accepted" ? [outcome] : []
    )
    const fresh = given.filter(({ replayed }) => !replayed)
    return (fresh.length > 0 ? fresh : given.slice(0, 1)).map((outcome) => ({ order, outcome }))
  })
  const met = pairUp(demands, ({ order }) =>
    (jobsByOrder.get(order.promptDigest) ?? [])
      .flatMap(holdsFor)
      .filter(({ state }) => state === "captured")
  )
  for (const demand of demands) {
    const { id, promptDigest } = demand.order
    const made = jobsByOrder.get(promptDigest)?.length ?? 0
    answered.look(met.has(demand) ? null : `order ${id}: ${made} jobs, and no charge left for it`)
  }
  return [answered, known, charged, amounts].map(({ verdict }) => verdict)
}
