/** I8: what a client was told with a 2xx is in the books. */
import type { Books } from "../books.ts"
import type { Attempt, Witness } from "../witness.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** Codes that are answered before any vendor is called. */
const beforeVendor = new Set([
  "insufficient_balance",
  "member_cap_exceeded",
  "idempotency_mismatch",
  "idempotency_conflict"
])

const taskIdOf = ({ outcome }: Attempt): string | null =>
  outcome._tag === "Accepted" ? outcome.taskId : null

export const judgeAnswers = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const tasksKept = open("I8", "a task that was answered exists, is the client's, and has ended")
  const seenKept = open("I8", "a state that a client saw is the state in the end")
  const deposits = open("I8", "a deposit that was acknowledged is there, once and in full")
  const refusals = open("R2", "who was refused for money or a key caused no job")

  const tasks = new Map(books.tasks.map((task) => [task.id, task]))
  const jobsById = new Map(books.jobs.map((job) => [job.accepted.upstream_id, job]))
  const jobsByOrder = groupBy(books.jobs, ({ accepted }) => accepted.order.prompt_sha256)

  for (const attempt of witness.attempts) {
    const id = taskIdOf(attempt)
    if (id === null) continue
    const { order } = attempt
    const task = tasks.get(id)
    const job = jobsById.get(task?.upstream_id ?? "")
    const wrong =
      task === undefined
        ? "is not there"
        : task.organization_id !== order.customer.organizationId ||
            task.member_id !== order.customer.memberId
          ? "is somebody else's"
          : task.state !== "succeeded" && task.state !== "failed"
            ? `is ${task.state}`
            : job?.accepted.order.prompt_sha256 !== order.promptDigest
              ? "is another order's job"
              : null
    tasksKept.look(wrong === null ? null : `order ${order.id} was answered ${id}, which ${wrong}`)
  }

  for (const { order, taskId, said, status, videoUrl } of witness.sightings) {
    const task = tasks.get(taskId)
    if (said === "succeeded" || said === "failed") {
      const same = task?.state === said && (task.video_url ?? null) === videoUrl
      seenKept.look(same ? null : `${taskId} of order ${order.id} was seen ${said}`)
    } else if (status === 404) {
      seenKept.look(`${taskId} of order ${order.id} was answered before and is not found`)
    } else if (status < 300) seenKept.look(null)
  }

  const depositsOf = groupBy(
    books.transfers.filter(({ kind }) => kind === "deposit"),
    (row) => `${row.organization_id} ${row.reference}`
  )
  for (const { organizationId, reference, amountNano, acknowledged } of witness.deposits) {
    const name = `${organizationId} ${reference}`
    const rows = depositsOf.get(name) ?? []
    const sound = rows.every(({ amount }) => amount === amountNano)
    const often = acknowledged ? rows.length === 1 : rows.length <= 1
    deposits.look(sound && often ? null : `${name}: ${rows.length} rows`)
  }

  const attemptsOf = groupBy(witness.attempts, ({ order }) => order.promptDigest)
  for (const [digest, attempts] of attemptsOf) {
    const refused = attempts.every(
      ({ outcome }) => outcome._tag === "Refused" && beforeVendor.has(outcome.code)
    )
    if (!refused) continue
    const jobs = jobsByOrder.get(digest) ?? []
    refusals.look(jobs.length === 0 ? null : `order ${attempts[0]?.order.id}: ${jobs.length} jobs`)
  }
  return [tasksKept, seenKept, deposits, refusals].map(({ verdict }) => verdict)
}
