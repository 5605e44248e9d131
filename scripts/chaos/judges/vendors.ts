/** I9 and I10 for videos: every job a vendor took on is known to us, once, and charged as it ended. */
import type { Books, Hold, Job, Orphan, Task } from "../books.ts"
import { goods } from "../goods.ts"
import type { Order, Witness } from "../witness.ts"
import { pairUp } from "./matching.ts"
import { claimOf, mayBelong, verdictOnOrder } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** At most one job for each key, and one for each request that was never repeated. */
export const judgeRepeats = (
  books: Books,
  witness: Witness,
  keysCount: boolean
): ReadonlyArray<Verdict> => {
  const keys = open("I9", "one Idempotency-Key is at most one job")
  const answers = open("I9", "one Idempotency-Key is answered with one task")
  const once = open("I9", "a request that was sent once is at most one job")
  const jobsByOrder = groupBy(books.jobs, ({ accepted }) => accepted.order.prompt_sha256)
  const jobsOf = (orders: ReadonlyArray<Order>) =>
    orders.flatMap(({ promptDigest }) => jobsByOrder.get(promptDigest) ?? [])
  const say = (orders: ReadonlyArray<Order>, jobs: ReadonlyArray<Job>) =>
    `${orders.map(({ id }) => id)}: ${jobs.map(({ accepted }) => accepted.upstream_id).join(" ")}`

  const orders = [...witness.orders.values()]
  for (const order of orders) {
    if (order.idempotencyKey !== null) continue
    const jobs = jobsOf([order])
    once.look(jobs.length <= 1 ? null : say([order], jobs))
  }
  if (!keysCount) return [once.verdict]

  const keyOf = ({ customer, idempotencyKey }: Order) =>
    idempotencyKey === null ? "" : `${customer.organizationId} ${idempotencyKey}`
  const answersOf = groupBy(witness.attempts, ({ order }) => keyOf(order))
  for (const [key, group] of groupBy(orders, keyOf)) {
    if (key === "") continue
    const jobs = jobsOf(group)
    keys.look(jobs.length <= 1 ? null : say(group, jobs))
    const given = new Set(
      (answersOf.get(key) ?? []).flatMap(({ outcome }) =>
        outcome._tag === "Accepted" ? [outcome.taskId ?? outcome.text] : []
      )
    )
    answers.look(given.size <= 1 ? null : `${key} was answered ${[...given].join(" and ")}`)
  }
  return [keys.verdict, answers.verdict, once.verdict]
}

/** What the task's end must be by the job's end; null when they agree. */
const disagreement = (task: Task, job: Job, orphan: Orphan | undefined): string | null => {
  if (task.state === "succeeded") {
    return job.ended?.event === "succeeded"
      ? null
      : `is charged, and the job ${job.ended?.event ?? "never ended"}`
  }
  if (job.ended !== null && job.ended.event !== "succeeded") return null
  return orphan === undefined
    ? `is ${task.state} without an orphan, and the job may be billed`
    : null
}

export const judgeVideos = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const known = open("I10", "every video job has its task or its own orphan")
  const charged = open("I10", "every charged video has its job, which succeeded")
  const amounts = open("I10", "a video is charged what the vendor counted")
  const noted = open("I10", "a count that no video can have leaves an orphan, and no other does")
  const denied = open("I10", "an order that ended in an upstream error is not charged")

  const jobs = books.jobs.filter(({ accepted }) => accepted.kind === "video")
  const jobsById = new Map(jobs.map((job) => [job.accepted.upstream_id, job]))
  const tasksById = new Map(books.tasks.map((task) => [task.id, task]))
  const tasksByJob = groupBy(books.tasks, ({ upstream_id }) => upstream_id ?? "")
  const orphansByHold = new Map(books.orphans.map((orphan) => [orphan.hold_id, orphan]))
  const orphansByJob = new Map(books.orphans.map((orphan) => [orphan.upstream_id, orphan]))
  const holdsById = new Map(books.holds.map((hold) => [hold.id, hold]))
  const usageByHold = new Map(books.usage.map((usage) => [usage.hold_id, usage]))

  /** Jobs whose answer never came: each needs an orphan without an id that nobody else needs. */
  const unnamed: Array<Job> = []
  const taken = new Set<string>()
  for (const job of jobs) {
    const { upstream_id: id, client_token: token, order } = job.accepted
    const [task, ...others] = tasksByJob.get(id) ?? []
    const ordered = witness.orders.get(order.prompt_sha256)
    if (ordered === undefined) known.look(`job ${id} was never ordered`)
    else if (others.length > 0) known.look(`job ${id} belongs to ${others.length + 1} tasks`)
    else if (task !== undefined) {
      const owned = task.member_id === ordered.customer.memberId && task.model === ordered.model
      const wrong = owned
        ? disagreement(task, job, orphansByHold.get(task.id))
        : `is not the task of order ${ordered.id}`
      known.look(wrong === null ? null : `job ${id}: task ${task.id} ${wrong}`)
    } else if (orphansByJob.has(id)) known.look(null)
    else if (token !== null) {
      taken.add(token)
      known.look(orphansByHold.has(token) ? null : `job ${id} of ${token} is lost`)
    } else unnamed.push(job)
  }

  const claims = groupBy(
    books.orphans.flatMap(({ hold_id, upstream_id }) => {
      const hold = holdsById.get(hold_id)
      const free = upstream_id === null && !taken.has(hold_id) && tasksById.has(hold_id)
      return hold === undefined || !free ? [] : [hold]
    }),
    claimOf.hold
  )
  const pairs = pairUp<Job, Hold>(unnamed, (job) => {
    const ordered = witness.orders.get(job.accepted.order.prompt_sha256)
    const holds = ordered === undefined ? [] : (claims.get(claimOf.order(ordered)) ?? [])
    return holds.filter((hold) => mayBelong(job, hold))
  })
  for (const job of unnamed) {
    const order = witness.orders.get(job.accepted.order.prompt_sha256)
    known.look(pairs.has(job) ? null : `job ${job.accepted.upstream_id} of ${order?.id} is lost`)
  }

  const told = verdictOnOrder(witness)
  for (const task of books.tasks) {
    const job = task.upstream_id === null ? undefined : jobsById.get(task.upstream_id)
    if (task.upstream_id !== null) {
      charged.look(job === undefined ? `${task.id} names job ${task.upstream_id}, unknown` : null)
    }
    const usage = usageByHold.get(task.id)
    if (usage === undefined) continue
    const good = goods.find(({ model }) => model === task.model)
    if (job === undefined || good === undefined) {
      charged.look(`${task.id} is charged without a job`)
      continue
    }
    const { nousage, usage: said } = job.accepted.switches
    const counted =
      said === undefined ? (job.ended?.produced.completion_tokens ?? null) : Number(said)
    const tokens = nousage === undefined ? counted : null
    const isWrong = said !== undefined && good.protocol === "vp_a"
    const isNoted = orphansByHold.get(task.id)?.reason === "implausible_usage"
    noted.look(
      isWrong === isNoted ? null : `${task.id} was counted as ${counted}: orphan ${isNoted}`
    )
    const expected = good.chargeNano(job.accepted.order.seconds ?? 0, tokens)
    amounts.look(
      usage.charge === expected ? null : `${task.id} is charged ${usage.charge}, not ${expected}`
    )
    const refused = told.get(job.accepted.order.prompt_sha256) === "denied"
    denied.look(refused ? `${task.id} is charged, and its client was told of an error` : null)
  }
  return [known, charged, amounts, noted, denied].map(({ verdict }) => verdict)
}
