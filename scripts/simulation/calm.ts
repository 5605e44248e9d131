/** Rules of times without faults (the end of each world, and the whole of some), and of the queue. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { orderPrefixes } from "../../src/domain/orderIds.ts"
import { rowsOf } from "../../src/postgres/client/rows.ts"
import { UNHELD_SECONDS } from "../../src/services/channels/ChannelQueue.ts"
import type { TaskPolls } from "../../src/simulator/Tasks.ts"
import type { Books, Hold, Job, Task } from "../chaos/books.ts"
import { channelIdOf, placesOf } from "../chaos/goods.ts"
import { goodOf, jobsOfTask, ordersByKeptDigest } from "../chaos/judges/orders.ts"
import { open, type Verdict } from "../chaos/judges/verdict.ts"
import type { Order, Witness } from "../chaos/witness.ts"

/** `failures` are the statements that failed, beside those that found the disk full. */
export const judgeStatements = (failures: ReadonlyArray<string>): Verdict => {
  const docket = open("S1", "no statement breaks a constraint or a trigger of the schema")
  docket.look(null)
  for (const failure of failures) docket.look(failure)
  return docket.verdict
}

/** The longest time between two polls of a task, whose pace slows down with its age. */
const MOST_PAUSE_MILLIS = 10_000

/** The longest pause between two of these times, in milliseconds. */
const longestPause = (times: ReadonlyArray<number>): number =>
  times.slice(1).reduce((longest, at, index) => Math.max(longest, at - (times[index] ?? at)), 0)

/** The time of a job from the end of the faults to the end of its task; null for none. */
const calmOf = (
  { accepted }: Job,
  hold: Hold | undefined,
  finishedAt: Date | null,
  calmMillis: ReadonlyArray<number>
) => {
  if (finishedAt === null || hold === undefined) return null
  // A vendor that takes an order for a repeat answers a job from before.
  const acceptedMillis = Math.max(Date.parse(accepted.at), hold.created_at.getTime())
  const to = finishedAt.getTime()
  const from = calmMillis.find((at) => acceptedMillis < at && at < to)
  return from === undefined ? null : { from, to }
}

export const judgePolls = (
  { holds, jobs, tasks }: Books,
  polls: ReadonlyArray<TaskPolls>,
  calmMillis: ReadonlyArray<number>
): Verdict => {
  const docket = open("P1", "a running video is polled again and again, whichever gateway died")
  const holdsById = new Map(holds.map((hold) => [hold.id, hold]))
  const jobsById = new Map(jobs.map((job) => [job.accepted.upstream_id, job]))
  const pollsById = new Map(polls.map(({ upstream_id, polled_at }) => [upstream_id, polled_at]))
  for (const { id, upstream_id, finished_at } of tasks) {
    // Images of a gateway that died are given up at their deadline.
    if (!id.startsWith(`${orderPrefixes.video}_`)) continue
    const job = jobsById.get(upstream_id ?? "")
    const calm = job === undefined ? null : calmOf(job, holdsById.get(id), finished_at, calmMillis)
    if (calm === null) continue
    const within = (pollsById.get(upstream_id ?? "") ?? []).filter(
      (at) => calm.from < at && at < calm.to
    )
    const pause = longestPause([calm.from, ...within, calm.to])
    docket.look(
      pause <= MOST_PAUSE_MILLIS ? null : `${id} was not polled for ${pause} ms: job ${upstream_id}`
    )
  }
  return docket.verdict
}

/** A place of an order without a hold. */
const UnheldPlace = Schema.Struct({
  order_id: Schema.String,
  channel_id: Schema.String,
  taken_at: Schema.Date
})
type UnheldPlace = typeof UnheldPlace.Type

/** The places of orders whose gateway died before the hold, or is about to take it. */
export const readUnheldPlaces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* rowsOf(UnheldPlace)(sql`
    SELECT p.order_id, p.channel_id, p.taken_at
      FROM channel_places p LEFT JOIN orders o
        ON o.organization_id = p.organization_id AND o.id = p.order_id
     WHERE o.id IS NULL`)
})

const WaitingOrder = Schema.Struct({ id: Schema.String, is_queued: Schema.Boolean })

/** The orders that wait. One that is in no queue would wait until its deadline. */
export const readWaitingOrders = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* rowsOf(WaitingOrder)(sql`
    SELECT t.id, w.order_id IS NOT NULL AS is_queued
      FROM tasks t LEFT JOIN waiting_orders w
        ON w.organization_id = t.organization_id AND w.order_id = t.id
     WHERE t.state = 'waiting'`)
})

/** Of the orders that waited, whenever they were read. */
export const judgeQueue = (waiting: ReadonlyArray<typeof WaitingOrder.Type>): Verdict => {
  const docket = open("Q4", "an order that waits is in the queue of its channel")
  for (const { id, is_queued } of waiting) docket.look(is_queued ? null : `${id} is in no queue`)
  return docket.verdict
}

/** The longest time that an order waits while a place is free. */
const MOST_WAIT_MILLIS = 8000

interface Wait {
  readonly from: number
  readonly to: number
}

/**
 * When vendors accepted the jobs of a task. A vendor that takes an order for a repeat answers another
 * one's job, so there the time is the one at which the gateway read the answer.
 */
const acceptedTimes = (books: Books): ((task: Task) => ReadonlyArray<number>) => {
  const jobsOf = jobsOfTask(books)
  return (task) => {
    const times = jobsOf(task).map(({ accepted }) => Date.parse(accepted.at))
    return times.length === 0 && task.accepted_at !== null ? [task.accepted_at.getTime()] : times
  }
}

/** How long the orders of a protocol waited for a place: until their vendor got them, or their end. */
const waitsAt = (
  protocol: string,
  books: Books,
  witness: Witness
): ReadonlyArray<Wait & { readonly id: string }> => {
  const holds = new Map(books.holds.map((hold) => [hold.id, hold]))
  const orders = ordersByKeptDigest(witness)
  const timesOf = acceptedTimes(books)
  return books.tasks.flatMap((task) => {
    const hold = holds.get(task.id)
    const maxWait = orders.get(hold?.prompt_digest ?? "")?.maxWait ?? null
    const isWaiting = task.protocol === protocol && maxWait !== null
    const [acceptedMillis] = timesOf(task)
    const to = acceptedMillis ?? task.finished_at?.getTime()
    if (hold === undefined || !isWaiting || to === undefined) return []
    return [{ id: task.id, from: hold.created_at.getTime(), to }]
  })
}

/**
 * The time during which each job of a protocol takes a place: until its order is closed, also where
 * its vendor has ended the job before.
 */
const staysAt = (protocol: string, books: Books): ReadonlyArray<Wait> => {
  const holds = new Map(books.holds.map((hold) => [hold.id, hold]))
  const timesOf = acceptedTimes(books)
  return books.tasks
    .filter((task) => task.protocol === protocol)
    .flatMap((task) => {
      const to = holds.get(task.id)?.closed_at?.getTime() ?? Number.POSITIVE_INFINITY
      return timesOf(task).map((from) => ({ from, to }))
    })
}

/** The places without a hold are taken until a sweep frees them. */
const unheldStaysAt = (protocol: string, unheld: ReadonlyArray<UnheldPlace>): ReadonlyArray<Wait> =>
  unheld
    .filter(({ channel_id }) => channel_id === channelIdOf(protocol))
    .map(({ taken_at }) => {
      const from = taken_at.getTime()
      return { from, to: from + UNHELD_SECONDS * 1000 }
    })

/** The longest time between the two in which fewer than `places` were taken. */
const longestFree = ({ from, to }: Wait, places: number, stays: ReadonlyArray<Wait>): number => {
  const ends = stays.flatMap((stay) => [stay.from, stay.to])
  const times = [from, ...ends.filter((at) => from < at && at < to), to].toSorted((a, b) => a - b)
  const isFull = (at: number) =>
    stays.filter((stay) => stay.from <= at && at < stay.to).length >= places
  let longest = 0
  let freeFrom: number | null = null
  for (const at of times) {
    if (freeFrom !== null) longest = Math.max(longest, at - freeFrom)
    freeFrom = isFull(at) ? null : (freeFrom ?? at)
  }
  return longest
}

/** `unheld` are the places without a hold at those times. */
export const judgeWaits = (
  books: Books,
  witness: Witness,
  calmMillis: ReadonlyArray<number>,
  unheld: ReadonlyArray<UnheldPlace>
): Verdict => {
  const docket = open("Q3", "no order waits for long while its channel has a free place")
  for (const [protocol, places] of placesOf) {
    const stays = [...staysAt(protocol, books), ...unheldStaysAt(protocol, unheld)]
    for (const { id, from, to } of waitsAt(protocol, books, witness)) {
      const calm = calmMillis.find((at) => from < at && at < to)
      if (calm === undefined) continue
      const free = longestFree({ from: calm, to }, places, stays)
      docket.look(free <= MOST_WAIT_MILLIS ? null : `${id} waited ${free} ms for nothing`)
    }
  }
  return docket.verdict
}

/** The longest time for which a gateway that is alone leaves an order of a dead one open. */
const MOST_LEFT_MILLIS = 1000

/** Of a gateway that is alone; `startedMillis` is when it began to serve, each time. */
export const judgeRecovery = (
  { holds }: Books,
  startedMillis: ReadonlyArray<number>,
  calmMillis: ReadonlyArray<number>
): Verdict => {
  const docket = open("N2", "a gateway that starts alone ends what a dead one has left open")
  for (const hold of holds.filter((one) => goodOf(one)?.kind !== "video")) {
    const created = hold.created_at.getTime()
    const calm = calmMillis.find((at) => created < at)
    const isLeft = startedMillis.some((at) => created < at && calm !== undefined && at <= calm)
    if (calm === undefined || !isLeft || hold.closed_at === null) continue
    const late = hold.closed_at.getTime() - calm
    docket.look(late <= MOST_LEFT_MILLIS ? null : `${hold.id} was open for ${late} ms`)
  }
  return docket.verdict
}

/** Whether an order may end without a product in a world without faults. */
const mayFail = ({ prompt, maxWait }: Order): boolean => prompt.includes("sim:") || maxWait !== null

export const judgeOrders = ({ holds, tasks }: Books, witness: Witness): Verdict => {
  const docket = open("N1", "without faults, each accepted order succeeds")
  const orders = ordersByKeptDigest(witness)
  const codes = new Map(tasks.map(({ id, error_code }) => [id, error_code]))
  const isMade = ({ id, state }: Hold): boolean =>
    state === "captured" || codes.get(id) === "cancelled"
  for (const hold of holds) {
    const order = orders.get(hold.prompt_digest ?? "")
    if (order === undefined || mayFail(order)) continue
    docket.look(isMade(hold) ? null : `${hold.id} of order ${order.id} is ${hold.state}`)
  }
  return docket.verdict
}
