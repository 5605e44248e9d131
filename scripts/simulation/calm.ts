/** What has to be true where nothing is at fault: at the end of each world, and in a few from the beginning. */
import type { TaskPolls } from "../../src/simulator/Tasks.ts"
import type { Books, Hold, Job } from "../chaos/books.ts"
import { keptDigest } from "../chaos/judges/orders.ts"
import { open, type Verdict } from "../chaos/judges/verdict.ts"
import type { Order, Witness } from "../chaos/witness.ts"

/** The longest time between two polls of a task. */
const MOST_PAUSE_MILLIS = 6000

/** The longest pause between two of these times, in milliseconds. */
const longestPause = (times: ReadonlyArray<number>): number =>
  times.slice(1).reduce((longest, at, index) => Math.max(longest, at - (times[index] ?? at)), 0)

/** The time of a job from when nothing was at fault until its task ended; null for none. */
const calmOf = ({ accepted }: Job, finishedAt: Date | null, calmMillis: ReadonlyArray<number>) => {
  if (finishedAt === null) return null
  const acceptedMillis = Date.parse(accepted.at)
  const to = finishedAt.getTime()
  const from = calmMillis.find((at) => acceptedMillis < at && at < to)
  return from === undefined ? null : { from, to }
}

export const judgePolls = (
  { jobs, tasks }: Books,
  polls: ReadonlyArray<TaskPolls>,
  calmMillis: ReadonlyArray<number>
): Verdict => {
  const docket = open("P1", "a running task is polled again and again, whichever gateway died")
  const jobsById = new Map(jobs.map((job) => [job.accepted.upstream_id, job]))
  const pollsById = new Map(polls.map(({ upstream_id, polled_at }) => [upstream_id, polled_at]))
  for (const { id, upstream_id, finished_at } of tasks) {
    const job = jobsById.get(upstream_id ?? "")
    const calm = job === undefined ? null : calmOf(job, finished_at, calmMillis)
    if (calm === null) continue
    const within = (pollsById.get(upstream_id ?? "") ?? []).filter(
      (at) => calm.from < at && at < calm.to
    )
    const pause = longestPause([calm.from, ...within, calm.to])
    docket.look(pause <= MOST_PAUSE_MILLIS ? null : `${id} was not polled for ${pause} ms`)
  }
  return docket.verdict
}

/** Whether an order may end without a product although nothing is at fault. */
const mayFail = ({ prompt, maxWait }: Order): boolean => prompt.includes("sim:") || maxWait !== null

export const judgeOrders = ({ holds, tasks }: Books, { orders }: Witness): Verdict => {
  const docket = open("N1", "where nothing is at fault, an order that was taken is made")
  const ordersByDigest = new Map([...orders].map(([digest, order]) => [keptDigest(digest), order]))
  const codes = new Map(tasks.map(({ id, error_code }) => [id, error_code]))
  const isMade = ({ id, state }: Hold): boolean =>
    state === "captured" || codes.get(id) === "cancelled"
  for (const hold of holds) {
    const order = ordersByDigest.get(hold.prompt_digest ?? "")
    if (order === undefined || mayFail(order)) continue
    docket.look(isMade(hold) ? null : `${hold.id} of order ${order.id} is ${hold.state}`)
  }
  return docket.verdict
}
