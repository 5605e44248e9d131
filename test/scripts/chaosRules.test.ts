/** The rules of a chaos run about cancels and places: sound records pass, and broken ones are seen. */
import { assert, describe, it } from "@effect/vitest"
import type { Books, Hold, Job, Task } from "../../scripts/chaos/books.ts"
import { judgeCancels } from "../../scripts/chaos/judges/cancels.ts"
import { keptDigest } from "../../scripts/chaos/judges/orders.ts"
import { judgePlaces } from "../../scripts/chaos/judges/places.ts"
import type { Verdict } from "../../scripts/chaos/judges/verdict.ts"
import { type CancelAnswer, makeWitness, type Order } from "../../scripts/chaos/witness.ts"
import { clip, jobOf, sound, task, videoHold } from "../support/chaosBooks.ts"

const violatedIn = (verdicts: ReadonlyArray<Verdict>): ReadonlyArray<string> => [
  ...new Set(verdicts.flatMap(({ id, violations }) => (violations.length > 0 ? [id] : [])))
]

const prompt_digest = keptDigest(clip.promptDigest)
const released: Hold = { ...videoHold, prompt_digest, state: "released", captured: 0n }
const cancelled: Task = { ...task, state: "failed", error_code: "cancelled", video_url: null }

const made = jobOf(clip, "job-v")
const cancelledJob: Job = {
  ...made,
  ended: made.ended === null ? null : { ...made.ended, event: "cancelled", reason: "cancelled" }
}

const done: CancelAnswer = { _tag: "Ended", state: "failed", code: "cancelled" }
const refused: CancelAnswer = { _tag: "GoesOn", status: "refused" }

describe("cancels", () => {
  const cancelledBooks: Books = {
    ...sound,
    holds: [released],
    usage: [],
    tasks: [cancelled],
    jobs: [cancelledJob]
  }
  const violated = (
    books: Partial<Books>,
    answer: CancelAnswer = done,
    messages: ReadonlyArray<string> = ["msg_1"]
  ) => {
    const witness = makeWitness("canary")
    witness.cancels.push({ order: clip, taskId: task.id, startedAt: 0, endedAt: 1, answer })
    for (const id of messages) {
      witness.webhooks.push({ id, type: "video.failed", taskId: task.id, organizationId: "org" })
    }
    return violatedIn(judgeCancels({ ...cancelledBooks, ...books }, witness))
  }

  it("may end an order for nothing", () => {
    assert.deepStrictEqual(violated({}), [])
  })

  it.each<readonly [string, Partial<Books>, CancelAnswer, ReadonlyArray<string>]>([
    ["a done cancel of a task that goes on", { tasks: [task] }, done, ["C1"]],
    ["a done cancel whose hold is captured", { holds: [videoHold] }, done, ["C1"]],
    ["a video that was made and not paid", { jobs: [made] }, done, ["C2"]],
    ["a refused cancel that was done", {}, refused, ["C3"]],
    ["a charge of a cancelled order", { usage: sound.usage }, done, ["C4"]]
  ])("see %s", (_, books, answer, rules) => {
    assert.deepStrictEqual(violated(books, answer), rules)
  })

  it("see a cancel that was told twice, and one that was not told", () => {
    assert.deepStrictEqual(violated({}, done, ["msg_1", "msg_2"]), ["C1"])
    assert.deepStrictEqual(violated({}, done, []), ["C1"])
  })
})

describe("places", () => {
  /** An order that may wait, as the book of its vendor and the gateway have it. */
  const waitingOrder = (number: number) => {
    const promptDigest = `${number}`.padEnd(64, "0")
    const order: Order = { ...clip, promptDigest, maxWait: 5 }
    const id = `vt_${number}`
    const ofTask: Task = { ...task, id, upstream_id: `job-${number}` }
    const hold: Hold = { ...videoHold, id, prompt_digest: keptDigest(promptDigest) }
    return { order, ofTask, hold, job: jobOf(order, `job-${number}`) }
  }
  const violated = (
    orders: ReadonlyArray<ReturnType<typeof waitingOrder>>,
    change: Partial<Books> = {}
  ) => {
    const witness = makeWitness("canary")
    for (const { order } of orders) witness.orders.set(order.promptDigest, order)
    const books = {
      ...sound,
      holds: orders.map(({ hold }) => hold),
      tasks: orders.map(({ ofTask }) => ofTask),
      jobs: orders.map(({ job }) => job),
      ...change
    }
    return violatedIn(judgePlaces(books, witness))
  }
  const orders = [1, 2, 3, 4].map(waitingOrder)
  const [first] = orders

  it("are as many as the catalog says", () => {
    assert.deepStrictEqual(violated(orders.slice(0, 3)), [])
    assert.deepStrictEqual(violated(orders), ["Q1"])
  })

  it("are free again where the gateway gave up a job in doubt", () => {
    const closed_at = new Date("2026-01-01T00:00:00.500Z")
    const holds = orders.map(({ hold }, index) => (index === 0 ? { ...hold, closed_at } : hold))
    const orphan = { organization_id: "org", hold_id: first?.hold.id ?? "", upstream_id: null }
    const orphans = [{ ...orphan, reason: "deadline_exceeded" }]
    assert.deepStrictEqual(violated(orders, { holds, orphans }), [])
    assert.deepStrictEqual(violated(orders, { holds }), ["Q1"])
  })

  it("see a charge or a job of an order that got none", () => {
    const tasks = orders.slice(0, 1).map(({ ofTask }) => ({
      ...ofTask,
      state: "failed",
      error_code: "max_wait_exceeded",
      upstream_id: null
    }))
    const holds = orders.slice(0, 1).map(({ hold }) => ({
      ...hold,
      state: "released",
      captured: 0n
    }))
    const alone = orders.slice(0, 1)
    assert.deepStrictEqual(violated(alone, { tasks, holds, jobs: [] }), [])
    assert.deepStrictEqual(violated(alone, { tasks, holds }), ["Q2"])
    assert.deepStrictEqual(violated(alone, { tasks, jobs: [] }), ["Q2"])
  })
})
