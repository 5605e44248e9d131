/** Channels with a maximum number of tasks, and the orders that wait for a place. */
import type { Books, Hold, Job, Task } from "../books.ts"
import { placesOf } from "../goods.ts"
import type { Witness } from "../witness.ts"
import { jobsOfTask, ordersByKeptDigest, ROUNDING_MILLIS } from "./orders.ts"
import { open, type Verdict } from "./verdict.ts"

/** The time during which a job takes a place at its vendor, in milliseconds since 1970. */
interface Stay {
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * The stay of a job. The gateway gives the place of a task to another order when the task has ended,
 * also where it gave up and an orphan tells that the job may go on.
 */
const stayOf = ({ accepted, ended }: Job, hold: Hold, isDoubted: boolean): Stay => {
  const until = [
    ...(ended === null ? [] : [Date.parse(ended.at)]),
    ...(isDoubted && hold.closed_at !== null ? [hold.closed_at.getTime()] : [])
  ]
  return {
    name: accepted.upstream_id,
    from: Date.parse(accepted.at) + ROUNDING_MILLIS,
    to: Math.min(Number.POSITIVE_INFINITY, ...until)
  }
}

/** The stays of all jobs of a protocol that belong to a known task. */
const staysAt = (protocol: string, books: Books): ReadonlyArray<Stay> => {
  const jobsOf = jobsOfTask(books)
  const holds = new Map(books.holds.map((hold) => [hold.id, hold]))
  const orphans = new Set(books.orphans.map(({ hold_id }) => hold_id))
  return books.tasks.flatMap((task) => {
    const hold = holds.get(task.id)
    if (task.protocol !== protocol || hold === undefined) return []
    return jobsOf(task).map((job) => stayOf(job, hold, orphans.has(task.id)))
  })
}

const judgeCounts = (books: Books): Verdict => {
  const docket = open("Q1", "a vendor never has more jobs than its channel has places")
  for (const [protocol, places] of placesOf) {
    const stays = staysAt(protocol, books)
    for (const { name, from } of stays) {
      const present = stays.filter((stay) => stay.from <= from && from < stay.to)
      docket.look(present.length <= places ? null : `${name} is one of ${present.length}`)
    }
  }
  return docket.verdict
}

/** Whether the task ended while it waited for a place. */
const isUnplaced = ({ state, error_code, upstream_id }: Task): boolean =>
  state === "failed" &&
  upstream_id === null &&
  (error_code === "max_wait_exceeded" || error_code === "cancelled")

const judgeWaits = (books: Books, witness: Witness): Verdict => {
  const docket = open("Q2", "an order that got no place has no job, and costs nothing")
  const jobsOf = jobsOfTask(books)
  const holds = new Map(books.holds.map((hold) => [hold.id, hold]))
  const orders = ordersByKeptDigest(witness)
  for (const task of books.tasks) {
    const hold = holds.get(task.id)
    const order = orders.get(hold?.prompt_digest ?? "")
    if (order === undefined || order.maxWait === null) continue
    const isFree = hold?.state === "released" && hold.captured === 0n
    const isSound = !isUnplaced(task) || (isFree && jobsOf(task).length === 0)
    docket.look(isSound ? null : `${task.id} is ${task.error_code}, its hold ${hold?.state}`)
  }
  return docket.verdict
}

export const judgePlaces = (books: Books, witness: Witness): ReadonlyArray<Verdict> => [
  judgeCounts(books),
  judgeWaits(books, witness)
]
