/**
 * The rules of a chaos run about cancels, places, operators and texts: sound records pass, and broken
 * ones are seen.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Books, Hold, Job, Task } from "../../scripts/chaos/books.ts"
import { judgeCancels } from "../../scripts/chaos/judges/cancels.ts"
import { judgeFinance } from "../../scripts/chaos/judges/finance.ts"
import { judgeImages, judgeTexts } from "../../scripts/chaos/judges/images.ts"
import { judgeLedger } from "../../scripts/chaos/judges/ledger.ts"
import { judgeOffice } from "../../scripts/chaos/judges/office.ts"
import { keptDigest } from "../../scripts/chaos/judges/orders.ts"
import { judgePlaces } from "../../scripts/chaos/judges/places.ts"
import type { Verdict } from "../../scripts/chaos/judges/verdict.ts"
import { judgeWebhooks } from "../../scripts/chaos/judges/webhooks.ts"
import {
  type CancelAnswer,
  type FinanceNote,
  financeRules,
  makeWitness,
  type Order,
  type Outcome,
  type Witness
} from "../../scripts/chaos/witness.ts"
import { clip, imageHold, jobOf, paint, sound, task, videoHold } from "../support/chaosBooks.ts"

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
      witness.webhooks.push({
        id,
        type: "video.failed",
        taskId: task.id,
        organizationId: "org",
        isTaken: true
      })
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

describe("operators", () => {
  const second = (seconds: number) => Date.parse("2026-01-01T00:00:00Z") + 1000 * seconds
  const nano = 1_000_000_000n
  const key = { id: "key_1", key: "mg_x", revokedFrom: 1000, revokedAt: 1100 }
  const use = { keyId: key.id, startedAt: 0, endedAt: 10 }
  const late = { ...use, startedAt: 2100, endedAt: 2200 }
  const named = { desk: "name" as const, acknowledged: true }
  const catalogs = ["a", "b"].map((name, index) => ({ version: BigInt(index), name, cost: null }))
  const change = { amountNano: 5n * nano, startedAt: second(-30), endedAt: second(-29) }
  const budget = { id: "b", organizationId: "org", memberId: null, firstAmount: 1n }
  const soundWitness: Partial<Witness> = {
    keys: [key],
    keyUses: [
      { ...use, status: 200 },
      { ...late, startedAt: 1500, status: 200 },
      { ...late, status: 401 }
    ],
    catalogChanges: [
      { ...named, value: "a" },
      { ...named, value: "b" }
    ],
    office: [null],
    budgets: [{ ...budget, changes: [change] }]
  }
  const violated = (witness: Partial<Witness>, books: Partial<Books> = {}) =>
    violatedIn(
      judgeOffice(
        { ...sound, catalogs, ...books },
        { ...makeWitness("canary"), ...soundWitness, ...witness }
      )
    )

  it("change what they may", () => {
    assert.deepStrictEqual(violated({}), [])
  })

  it.each<readonly [string, Partial<Witness>, Partial<Books>, ReadonlyArray<string>]>([
    ["a valid key that is refused", { keyUses: [{ ...use, status: 401 }] }, {}, ["K1"]],
    ["a revoked key that opens", { keyUses: [{ ...late, status: 200 }] }, {}, ["K2"]],
    ["a change of the catalog that is lost", {}, { catalogs: catalogs.slice(0, 1) }, ["O1"]],
    ["a change that another one took back", {}, { catalogs: [...catalogs].reverse() }, ["O1"]],
    ["a refusal", { office: ["/catalog answered 400"] }, {}, ["O2"]],
    [
      "an order above a budget that was lowered long ago",
      {
        budgets: [
          { ...budget, changes: [change, { ...change, amountNano: nano, endedAt: second(-20) }] }
        ]
      },
      {},
      ["B1"]
    ]
  ])("see %s", (_, witness, books, rules) => {
    assert.deepStrictEqual(violated(witness, books), rules)
  })

  it("may lower a budget below what is used, and raise it while an order is on its way", () => {
    const lowered = { ...change, amountNano: nano, startedAt: second(1), endedAt: second(2) }
    assert.deepStrictEqual(violated({ budgets: [{ ...budget, changes: [change, lowered] }] }), [])
    const raised = { ...change, startedAt: second(1), endedAt: second(2) }
    assert.deepStrictEqual(violated({ budgets: [{ ...budget, changes: [raised] }] }), [])
  })
})

describe("the finance desk", () => {
  const note: FinanceNote = { rule: "F1", what: "a deposit", expected: "done", answer: "done" }
  const judged = (finance: ReadonlyArray<FinanceNote>) =>
    judgeFinance({ ...makeWitness("canary"), finance: [...finance] })

  it("gets the answers that its books let it expect", () => {
    assert.deepStrictEqual(violatedIn(judged([note])), [])
    const rules = judged([]).map(({ id }) => id)
    assert.deepStrictEqual(rules, Object.keys(financeRules))
  })

  it.each(["F1", "F4", "F7"] as const)("sees another answer: %s", (rule) => {
    const other = { ...note, rule, answer: "budget_exceeded" }
    assert.deepStrictEqual(violatedIn(judged([note, other])), [rule])
  })

  const [pool] = sound.pools
  const given = { organization_id: "org", amount: 2n, hold_id: null, reference: "r" }
  const credit = { ...given, kind: "credit", debit: "adjustments", credit: "pool" }
  const withdrawal = { ...given, kind: "withdrawal", debit: "pool", credit: "external" }
  const violatedBy = (change: Partial<Books["pools"][number]>, rows: Books["transfers"]) =>
    violatedIn(
      judgeLedger({
        ...sound,
        pools: pool === undefined ? [] : [{ ...pool, ...change }],
        transfers: [...sound.transfers, ...rows]
      })
    )
  const balance = pool?.balance ?? 0n

  it("gives and takes money without an order", () => {
    assert.deepStrictEqual(violatedBy({}, [credit, withdrawal]), [])
    assert.deepStrictEqual(violatedBy({ balance: balance + 2n }, [credit]), [])
    assert.deepStrictEqual(violatedBy({}, [withdrawal]), ["I1"])
    assert.deepStrictEqual(
      violatedBy({ balance: balance - 2n }, [{ ...withdrawal, kind: "credit" }]),
      ["I1"]
    )
  })

  it("lets holds make debts as far as their credit", () => {
    const debts = { ...withdrawal, amount: balance + 5n }
    const owing = { balance: -5n }
    assert.deepStrictEqual(violatedBy({ ...owing, highest_overdraft: 5n }, [debts]), [])
    assert.deepStrictEqual(violatedBy({ ...owing, highest_overdraft: 4n }, [debts]), ["I5"])
  })

  it("has no receiver to which its tasks are told", () => {
    const witness = makeWitness("canary")
    assert.deepStrictEqual(violatedIn(judgeWebhooks(sound, witness)), ["W1"])
    witness.untold.add("org")
    assert.deepStrictEqual(violatedIn(judgeWebhooks(sound, witness)), [])
  })
})

describe("images that are read later, and texts", () => {
  const sent = { gateway: "g", startedAt: Date.parse("2026-01-01T00:00:00Z"), endedAt: 0 }
  const answered = (order: Order, outcome: Outcome): Witness => {
    const witness = makeWitness("canary")
    witness.orders.set(order.promptDigest, order)
    witness.attempts.push({ ...sent, order, outcome })
    return witness
  }
  const accepted = (taskId: string | null): Outcome => ({
    _tag: "Accepted",
    taskId,
    replayed: false,
    text: ""
  })
  const orphanOf = (reason: string) => [
    { organization_id: "org", hold_id: "im_1", upstream_id: null, reason }
  ]
  const later: Order = { ...paint, isLater: true }
  const imageTask: Task = { ...task, id: "im_1", model: "paint-1", state: "succeeded" }
  const imageBooks: Books = {
    ...sound,
    holds: [imageHold],
    tasks: [imageTask],
    jobs: [jobOf(paint, "job-i")]
  }

  it("may be charged unread, or fail with an orphan after they were accepted", () => {
    const witness = answered(later, accepted("im_1"))
    const unread = {
      ...imageBooks,
      tasks: [{ ...imageTask, state: "failed" }],
      orphans: orphanOf("unread_answer")
    }
    const stopped = {
      ...imageBooks,
      holds: [{ ...imageHold, state: "released", captured: 0n }],
      tasks: [{ ...imageTask, state: "rejected" }],
      orphans: orphanOf("gateway_stopped")
    }
    for (const books of [imageBooks, unread, stopped]) {
      assert.deepStrictEqual(violatedIn(judgeImages(books, witness)), [])
      assert.notInclude(violatedIn(judgeLedger(books)), "I7")
    }
    const lost = { ...stopped, orphans: [] }
    assert.deepStrictEqual(violatedIn(judgeImages(lost, witness)), ["I10"])
    const kept = { ...unread, orphans: [] }
    assert.include(violatedIn(judgeLedger(kept)), "I7")
    assert.deepStrictEqual(violatedIn(judgeWebhooks(stopped, witness)), ["W1"])
  })

  it("are delivered where their receiver took the message", () => {
    const books = { ...sound, deliveries: [{ id: "msg_1" }] }
    const violated = (isTaken: boolean) => {
      const witness = makeWitness("canary")
      const { id: taskId } = task
      const told = { type: "video.completed", taskId, organizationId: task.organization_id }
      witness.webhooks.push({ ...told, id: "msg_1", isTaken })
      return violatedIn(judgeWebhooks(books, witness))
    }
    assert.deepStrictEqual(violated(true), [])
    assert.deepStrictEqual(violated(false), ["W4"])
  })

  const talk: Order = { ...paint, model: "talk-1", kind: "text", promptDigest: "f".repeat(64) }
  const job = jobOf(talk, "job-t")
  const textBooks: Books = {
    ...sound,
    holds: [{ ...imageHold, id: "tx_1", upstream_model: "sim-talk-1", amount: 7n, captured: 5n }],
    tasks: [],
    jobs: [job]
  }

  it("are charged where the vendor made them, and only there", () => {
    const witness = answered(talk, accepted(null))
    const violated = (books: Partial<Books>) =>
      violatedIn(judgeTexts({ ...textBooks, ...books }, witness))
    assert.deepStrictEqual(violated({}), [])
    assert.deepStrictEqual(violated({ jobs: [] }), ["I8", "I10"])
    assert.deepStrictEqual(violated({ holds: [] }), ["I8", "I10"])
    assert.deepStrictEqual(violated({ jobs: [job, jobOf(talk, "job-u")] }), ["I10"])
  })
})
