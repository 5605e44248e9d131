/** Cancelled orders: they end by the vendor's word, and cost nothing. */
import type { Books, Job, Task } from "../books.ts"
import type { Cancel, Witness } from "../witness.ts"
import { jobsOfTask } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** The error code of cancelled tasks. */
const CANCELLED = "cancelled"

const readCancels = (books: Books, witness: Witness) => ({
  tasks: new Map(books.tasks.map((task) => [task.id, task])),
  holds: new Map(books.holds.map((hold) => [hold.id, hold])),
  charged: new Set(books.usage.map(({ hold_id }) => hold_id)),
  orphans: new Set(books.orphans.map(({ hold_id }) => hold_id)),
  jobsOf: jobsOfTask(books),
  messages: groupBy(witness.webhooks, ({ taskId }) => taskId)
})

type Cancels = ReturnType<typeof readCancels>

/** What is wrong with a task after an answer that it has ended; null where nothing is wrong. */
const faultOfEnd = (
  { taskId, answer }: Cancel,
  { tasks, holds, messages }: Cancels
): string | null => {
  if (answer._tag !== "Ended") return null
  const task = tasks.get(taskId)
  const hold = holds.get(taskId)
  const state = task?.state === "rejected" ? "failed" : task?.state
  if (state !== answer.state || (answer.code !== null && task?.error_code !== answer.code)) {
    return `is ${state} (${task?.error_code})`
  }
  if (answer.code !== CANCELLED) return null
  if (hold?.state !== "released" || hold.captured !== 0n) return `has a hold that is ${hold?.state}`
  const ids = new Set((messages.get(taskId) ?? []).map(({ id }) => id))
  return ids.size === 1 ? null : `was told by ${ids.size} messages`
}

const judgeAnswers = (cancels: Cancels, witness: Witness): Verdict => {
  const docket = open("C1", "a cancel is answered with the end; one that is done costs nothing")
  for (const cancel of witness.cancels) {
    if (cancel.answer._tag !== "Ended") continue
    const fault = faultOfEnd(cancel, cancels)
    const said = cancel.answer.code ?? cancel.answer.state
    docket.look(fault === null ? null : `${cancel.taskId} was answered ${said}, and ${fault}`)
  }
  return docket.verdict
}

/** Whether the vendor ended the job as cancelled. */
const isCancelled = ({ ended }: Job): boolean =>
  ended?.event === "cancelled" || ended?.reason === "cancelled"

/** Whether the vendor made nothing; of an expired job, some vendors say that it was cancelled. */
const isGivenUp = (job: Job): boolean => isCancelled(job) || job.ended?.event === "expired"

const cancelledTasks = ({ tasks }: Cancels): ReadonlyArray<Task> =>
  [...tasks.values()].filter(({ error_code }) => error_code === CANCELLED)

const judgeReleases = (cancels: Cancels): Verdict => {
  const docket = open("C2", "what was released as cancelled was cancelled, or never made")
  for (const task of cancelledTasks(cancels)) {
    const made = cancels.jobsOf(task).filter((job) => !isGivenUp(job))
    const isDoubted = cancels.orphans.has(task.id)
    const names = made.map(({ accepted, ended }) => `${accepted.upstream_id} ${ended?.event}`)
    docket.look(made.length === 0 || isDoubted ? null : `${task.id}: job ${names.join(", ")}`)
  }
  return docket.verdict
}

const judgeRefusals = (cancels: Cancels, witness: Witness): Verdict => {
  const docket = open("C3", "a cancel that the vendor refused leaves the task to its own end")
  for (const [taskId, asked] of groupBy(witness.cancels, (cancel) => cancel.taskId)) {
    const isRefused = asked.every(
      ({ answer }) => answer._tag === "GoesOn" && answer.status === "refused"
    )
    const task = cancels.tasks.get(taskId)
    if (!isRefused || task === undefined) continue
    const isByVendor = cancels.jobsOf(task).some(({ accepted }) => "cancel" in accepted.switches)
    docket.look(task.error_code === CANCELLED && !isByVendor ? `${taskId} is cancelled` : null)
  }
  return docket.verdict
}

const judgeCharges = (cancels: Cancels): Verdict => {
  const docket = open("C4", "nothing is both cancelled and charged")
  for (const task of cancels.tasks.values()) {
    const isBoth =
      task.error_code === CANCELLED ||
      (cancels.jobsOf(task).length > 0 && cancels.jobsOf(task).every(isCancelled))
    if (isBoth) docket.look(cancels.charged.has(task.id) ? `${task.id} is charged` : null)
  }
  return docket.verdict
}

export const judgeCancels = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const cancels = readCancels(books, witness)
  return [
    judgeAnswers(cancels, witness),
    judgeReleases(cancels),
    judgeRefusals(cancels, witness),
    judgeCharges(cancels)
  ]
}
