/** I8: each order to which a client got a 2xx response is in the ledger. */
import type { Books, Job, Task } from "../books.ts"
import { goods } from "../goods.ts"
import type { Order, Witness } from "../witness.ts"
import { isTakenForRepeat, kindOfTask } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** The codes of errors that the gateway answers before it calls a vendor. */
const beforeVendor = new Set([
  "insufficient_balance",
  "member_cap_exceeded",
  "budget_exceeded",
  "rate_limited",
  "idempotency_mismatch",
  "idempotency_conflict"
])

/** The end of a task as its client sees it; null where it has none. */
const stateShown = (task: Task): "succeeded" | "failed" | null => {
  const { state } = task
  if (state === "succeeded" || state === "failed") return state
  return state === "rejected" && kindOfTask(task) === "image" ? "failed" : null
}

/** What is wrong with the task that an order's response named; null where nothing is wrong. */
const faultOfTask = (order: Order, task: Task | undefined, job: Job | undefined): string | null => {
  if (task === undefined) return "is not there"
  const { organizationId, memberId } = order.customer
  if (task.organization_id !== organizationId || task.member_id !== memberId) {
    return "is somebody else's"
  }
  if (stateShown(task) === null) return `is ${task.state}`
  if (order.kind === "image") return null
  // An order that may wait is answered before its vendor is called.
  if (order.maxWait !== null && task.upstream_id === null && task.state === "failed") return null
  const isOwn = job?.accepted.order.prompt_sha256 === order.promptDigest
  if (!isOwn && !isTakenForRepeat(order)) return "is another order's job"
  return null
}

const judgeTasks = (books: Books, witness: Witness): Verdict => {
  const docket = open("I8", "a task that was answered exists, is the client's, and has ended")
  const tasks = new Map(books.tasks.map((task) => [task.id, task]))
  const jobs = new Map(books.jobs.map((job) => [job.accepted.upstream_id, job]))
  for (const { order, outcome } of witness.attempts) {
    if (outcome._tag !== "Accepted" || outcome.taskId === null) continue
    const task = tasks.get(outcome.taskId)
    const fault = faultOfTask(order, task, jobs.get(task?.upstream_id ?? ""))
    docket.look(
      fault === null ? null : `order ${order.id} was answered ${outcome.taskId}, which ${fault}`
    )
  }
  return docket.verdict
}

const linkedModels = new Set(goods.flatMap(({ isLinked, model }) => (isLinked ? [model] : [])))

/** Whether the client was shown the video of the task: at its vendor, or at the gateway. */
const isVideoOf = (
  { id, model, video_url: stored, is_archived: isArchived }: Books["tasks"][number],
  shown: string | null
) => {
  const isLink = shown?.includes(`/v1/videos/${id}/content`) === true && stored !== null
  if (linkedModels.has(model) && stored !== null) return isLink
  return (stored ?? null) === shown || (isArchived && isLink)
}

const judgeSightings = (books: Books, witness: Witness): Verdict => {
  const docket = open("I8", "a state that a client saw is the state in the end")
  const tasks = new Map(books.tasks.map((task) => [task.id, task]))
  for (const { order, taskId, said, status, videoUrl } of witness.sightings) {
    const task = tasks.get(taskId)
    if (said === "succeeded" || said === "failed") {
      const isSame = task !== undefined && stateShown(task) === said && isVideoOf(task, videoUrl)
      docket.look(isSame ? null : `${taskId} of order ${order.id} was seen ${said}`)
    } else if (status === 404) {
      docket.look(`${taskId} of order ${order.id} was answered before and is not found`)
    } else if (status < 300) docket.look(null)
  }
  return docket.verdict
}

const judgeDeposits = (books: Books, witness: Witness): Verdict => {
  const docket = open("I8", "a deposit that was acknowledged is there, once and in full")
  const depositsOf = groupBy(
    books.transfers.filter(({ kind }) => kind === "deposit"),
    (row) => `${row.organization_id} ${row.reference}`
  )
  for (const { organizationId, reference, amountNano, acknowledged } of witness.deposits) {
    const name = `${organizationId} ${reference}`
    const rows = depositsOf.get(name) ?? []
    const isInFull = rows.every(({ amount }) => amount === amountNano)
    const isCountRight = acknowledged ? rows.length === 1 : rows.length <= 1
    docket.look(isInFull && isCountRight ? null : `${name}: ${rows.length} rows`)
  }
  return docket.verdict
}

const judgeRefusals = (books: Books, witness: Witness): Verdict => {
  const docket = open("R2", "who was refused for money or a key caused no job")
  const jobsByOrder = groupBy(books.jobs, ({ accepted }) => accepted.order.prompt_sha256)
  const attemptsOf = groupBy(witness.attempts, ({ order }) => order.promptDigest)
  for (const [digest, attempts] of attemptsOf) {
    const isRefused = attempts.every(
      ({ outcome }) => outcome._tag === "Refused" && beforeVendor.has(outcome.code)
    )
    if (!isRefused) continue
    const jobs = jobsByOrder.get(digest) ?? []
    docket.look(jobs.length === 0 ? null : `order ${attempts[0]?.order.id}: ${jobs.length} jobs`)
  }
  return docket.verdict
}

export const judgeAnswers = (books: Books, witness: Witness): ReadonlyArray<Verdict> => [
  judgeTasks(books, witness),
  judgeSightings(books, witness),
  judgeDeposits(books, witness),
  judgeRefusals(books, witness)
]
