/**
 * I9 and I10 for videos: every job that a vendor accepted is known to the gateway, once, and
 * charged according to its end.
 */
import type { Books, Hold, Job, Orphan, Task } from "../books.ts"
import { goods } from "../goods.ts"
import type { Order, Witness } from "../witness.ts"
import { pairUp } from "./matching.ts"
import {
  claimOf,
  isTakenForRepeat,
  kindOfTask,
  mayBelong,
  ordersByKeptDigest,
  verdictOnOrder
} from "./orders.ts"
import { type Docket, groupBy, open, type Verdict } from "./verdict.ts"

/** Whether the vendor made no images: its error frees the idempotency key for a new order. */
const isFailedImage = ({ accepted, ended }: Job): boolean =>
  accepted.kind === "image" && ended?.event === "failed"

/**
 * Checks that there is at most one job for each idempotency key, and for each request that was
 * never repeated.
 */
export const judgeRepeats = (
  books: Books,
  witness: Witness,
  keysCount: boolean
): ReadonlyArray<Verdict> => {
  const keys = open("I9", "one Idempotency-Key is at most one job, beside failed images")
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
    const jobs = jobsOf(group).filter((job) => !isFailedImage(job))
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

/** How the end of a task contradicts the end of its job; null when they agree. */
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

/** The ids of the orders that their vendor took for a repeat of another one. */
const repeatsIn = ({ holds }: Books, witness: Witness): ReadonlySet<string> => {
  const orders = ordersByKeptDigest(witness)
  return new Set(
    holds.flatMap(({ id, prompt_digest }) => {
      const order = orders.get(prompt_digest ?? "")
      return order !== undefined && isTakenForRepeat(order) ? [id] : []
    })
  )
}

const videoTasks = ({ tasks }: Books): ReadonlyArray<Task> =>
  tasks.filter((task) => kindOfTask(task) === "video")

const videoJobs = ({ jobs }: Books): ReadonlyArray<Job> =>
  jobs.filter(({ accepted }) => accepted.kind === "video")

/** What is wrong with the only task of a job; null where nothing is wrong. */
const faultOfTask = (
  task: Task,
  job: Job,
  { id, customer, model }: Order,
  orphan: Orphan | undefined
): string | null =>
  task.member_id === customer.memberId && task.model === model
    ? disagreement(task, job, orphan)
    : `is not the task of order ${id}`

/** The tasks and orphans, grouped so that those of a job can be found. */
const readTraces = (books: Books, witness: Witness) => ({
  repeats: repeatsIn(books, witness),
  tasksByJob: groupBy(videoTasks(books), ({ upstream_id }) => upstream_id ?? ""),
  orphansByHold: new Map(books.orphans.map((orphan) => [orphan.hold_id, orphan])),
  orphansByJob: new Set(books.orphans.map(({ upstream_id }) => upstream_id))
})

type Finding =
  | { readonly _tag: "Named"; readonly fault: string | null }
  /** The client token of the order identifies the orphan of the job. */
  | { readonly _tag: "ByToken"; readonly token: string; readonly fault: string | null }
  /** The vendor's response was lost, so that nothing identifies the orphan of the job. */
  | { readonly _tag: "Unnamed" }

const findJob = (
  job: Job,
  orders: Witness["orders"],
  { repeats, tasksByJob, orphansByHold, orphansByJob }: ReturnType<typeof readTraces>
): Finding => {
  const named = (fault: string | null): Finding => ({ _tag: "Named", fault })
  const { upstream_id: id, client_token: token } = job.accepted
  const [task, ...others] = tasksByJob.get(id) ?? []
  const order = orders.get(job.accepted.order.prompt_sha256)
  if (order === undefined) return named(`job ${id} was never ordered`)
  if (others.length > 0) return named(`job ${id} belongs to ${others.length + 1} tasks`)
  if (task !== undefined) {
    const orphan = orphansByHold.get(task.id)
    const fault = repeats.has(task.id)
      ? disagreement(task, job, orphan)
      : faultOfTask(task, job, order, orphan)
    return named(fault === null ? null : `job ${id}: task ${task.id} ${fault}`)
  }
  if (orphansByJob.has(id)) return named(null)
  if (token === null) return { _tag: "Unnamed" }
  const fault = orphansByHold.has(token) ? null : `job ${id} of ${token} is lost`
  return { _tag: "ByToken", token, fault }
}

const judgeJobs = (books: Books, witness: Witness): Verdict => {
  const docket = open("I10", "every video job has its task or its own orphan")
  const traces = readTraces(books, witness)
  const unnamed: Array<Job> = []
  const tokens = new Set<string>()
  for (const job of videoJobs(books)) {
    const finding = findJob(job, witness.orders, traces)
    if (finding._tag === "Unnamed") unnamed.push(job)
    else docket.look(finding.fault)
    if (finding._tag === "ByToken") tokens.add(finding.token)
  }
  const tasks = new Set(videoTasks(books).map(({ id }) => id))
  const holds = new Map(books.holds.map((hold) => [hold.id, hold]))
  // Each unidentified job needs a separate orphan, which has no vendor's id and belongs to no other
  // job.
  const claims = groupBy(
    books.orphans.flatMap(({ hold_id, upstream_id }) => {
      const hold = holds.get(hold_id)
      const isFree = upstream_id === null && !tokens.has(hold_id) && tasks.has(hold_id)
      return hold === undefined || !isFree ? [] : [hold]
    }),
    claimOf.hold
  )
  const pairs = pairUp<Job, Hold>(unnamed, (job) => {
    const order = witness.orders.get(job.accepted.order.prompt_sha256)
    const claimed = order === undefined ? [] : (claims.get(claimOf.order(order)) ?? [])
    return claimed.filter((hold) => mayBelong(job, hold))
  })
  for (const job of unnamed) {
    const order = witness.orders.get(job.accepted.order.prompt_sha256)
    docket.look(pairs.has(job) ? null : `job ${job.accepted.upstream_id} of ${order?.id} is lost`)
  }
  return docket.verdict
}

/** The tokens that the vendor reported for a job, or that a switch in the prompt made it report. */
const tokensOf = ({ accepted, ended }: Job): number | null => {
  const { nousage, usage } = accepted.switches
  if (nousage !== undefined) return null
  return usage === undefined ? (ended?.produced.completion_tokens ?? null) : Number(usage)
}

const judgeTaskJobs = (books: Books): Docket => {
  const docket = open("I10", "every charged video has its job, which succeeded")
  const ids = new Set(videoJobs(books).map(({ accepted }) => accepted.upstream_id))
  for (const { id, upstream_id } of videoTasks(books)) {
    if (upstream_id === null) continue
    docket.look(ids.has(upstream_id) ? null : `${id} names job ${upstream_id}, unknown`)
  }
  return docket
}

/** The videos that were charged, with their jobs and products; null for those that have none. */
const chargedVideos = (books: Books) => {
  const jobs = new Map(videoJobs(books).map((job) => [job.accepted.upstream_id, job]))
  const usageByHold = new Map(books.usage.map((usage) => [usage.hold_id, usage]))
  return videoTasks(books).flatMap(({ id, upstream_id, model }) => {
    const usage = usageByHold.get(id)
    if (usage === undefined) return []
    const good = goods.find((one) => one.model === model)
    const chargeNano = good?.chargeNano ?? null
    const job = jobs.get(upstream_id ?? "")
    const isKnown = job !== undefined && good !== undefined && chargeNano !== null
    const made = isKnown ? { job, protocol: good.protocol, chargeNano } : null
    return [{ id, charge: usage.charge, made }]
  })
}

const judgeCharges = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const charged = judgeTaskJobs(books)
  const amounts = open("I10", "a video is charged what the vendor counted")
  const noted = open("I10", "a count that no video can have leaves an orphan, and no other does")
  const denied = open("I10", "an order that ended in an upstream error is not charged")
  const orphans = new Map(books.orphans.map((orphan) => [orphan.hold_id, orphan]))
  const verdicts = verdictOnOrder(witness)
  const repeats = repeatsIn(books, witness)

  for (const { id, charge, made } of chargedVideos(books)) {
    if (made === null) charged.look(`${id} is charged without a job`)
    // The job of a repeat is of the order that the vendor confused with it.
    if (made === null || repeats.has(id)) continue
    const { job, protocol, chargeNano } = made
    const { order, switches } = job.accepted
    const tokens = tokensOf(job)
    const isWrong = switches.usage !== undefined && protocol === "vp_a"
    const isNoted = orphans.get(id)?.reason === "implausible_usage"
    noted.look(isWrong === isNoted ? null : `${id} was counted as ${tokens}: orphan ${isNoted}`)
    const expected = chargeNano(order.seconds ?? 0, tokens)
    amounts.look(charge === expected ? null : `${id} is charged ${charge}, not ${expected}`)
    const isDenied = verdicts.get(order.prompt_sha256) === "denied"
    denied.look(isDenied ? `${id} is charged, and its client was told of an error` : null)
  }
  return [charged, amounts, noted, denied].map(({ verdict }) => verdict)
}

export const judgeVideos = (books: Books, witness: Witness): ReadonlyArray<Verdict> => [
  judgeJobs(books, witness),
  ...judgeCharges(books, witness)
]
