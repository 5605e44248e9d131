import { assert, describe, it } from "@effect/vitest"
import { makeUnwrittenCalls } from "../../../src/postgres/tasks/unwrittenCalls.ts"
import type { CallSubject } from "../../../src/services/CallLog.ts"

type Unwritten = ReturnType<typeof makeUnwrittenCalls>

let calls = 0

/** Answers the number of the call, which is in its id, its times and its bodies. */
const add = (
  unwritten: Unwritten,
  job: string,
  outcome: string,
  { purpose = "poll", now = 0 }: { purpose?: CallSubject["purpose"]; now?: number } = {}
): number => {
  calls += 1
  unwritten.add(
    `uc_${calls}`,
    { organizationId: "org_1", jobId: job, channelId: "ch", purpose, upstreamId: null },
    {
      method: "GET",
      url: "http://vendor.test/t",
      status: 200,
      failure: null,
      startedAt: new Date(calls * 1000),
      durationMillis: calls,
      request: { calls },
      answer: { calls },
      outcome
    },
    now
  )
  return calls
}

const take = (unwritten: Unwritten) =>
  unwritten
    .take(100)
    .map(({ id, repeats, lastAt, durationMillis, request, answer }) => [
      id,
      repeats,
      lastAt.getTime() / 1000,
      durationMillis,
      request,
      answer
    ])

/** A row whose last call is `last`, when its first is not written yet. */
const row = (first: number, repeats: number, last = first) => [
  `uc_${first}`,
  repeats,
  last,
  last,
  { calls: first },
  { calls: last }
]

/** The same where the first is written, with its request. */
const later = (first: number, repeats: number, last: number) => [
  `uc_${first}`,
  repeats,
  last,
  last,
  null,
  { calls: last }
]

describe("calls that wait to be written", () => {
  it("are one row for polls with the same end, until the job has another answer", () => {
    const unwritten = makeUnwrittenCalls(10, 10)
    const first = add(unwritten, "a", "running")
    const second = add(unwritten, "a", "running")
    assert.deepStrictEqual(take(unwritten), [row(first, 1, second)])
    add(unwritten, "a", "running")
    const fourth = add(unwritten, "a", "running")
    const other = add(unwritten, "a", "500")
    const again = add(unwritten, "a", "running")
    assert.deepStrictEqual(take(unwritten), [row(other, 0), row(again, 0)])
    unwritten.release(0)
    assert.deepStrictEqual(take(unwritten), [later(first, 3, fourth)])
    assert.strictEqual(unwritten.waiting(), 0)
  })

  it("are rows of their own for each job, and unless they are polls", () => {
    const unwritten = makeUnwrittenCalls(10, 10)
    const rows = [
      row(add(unwritten, "a", "200"), 0),
      row(add(unwritten, "b", "200"), 0),
      row(add(unwritten, "a", "200", { purpose: "submit" }), 0),
      row(add(unwritten, "a", "200"), 0)
    ]
    assert.deepStrictEqual(take(unwritten), rows)
  })

  it("are written again once repeats were gathered for long enough", () => {
    const unwritten = makeUnwrittenCalls(10, 10)
    const [a, b] = [add(unwritten, "a", "running"), add(unwritten, "b", "running")]
    take(unwritten)
    add(unwritten, "a", "running", { now: 1 })
    add(unwritten, "b", "running", { now: 2 })
    const last = add(unwritten, "a", "running", { now: 9 })
    unwritten.release(1)
    assert.deepStrictEqual(take(unwritten), [later(a, 2, last)])
    unwritten.release(2)
    assert.deepStrictEqual(take(unwritten), [later(b, 1, last - 1)])
  })

  it("are remembered of so many jobs and gathered in so many rows as there is room for", () => {
    const few = makeUnwrittenCalls(2, 10)
    for (const job of ["a", "b", "c"]) add(few, job, "running")
    take(few)
    add(few, "c", "running")
    assert.strictEqual(few.waiting(), 0)
    add(few, "a", "running")
    assert.strictEqual(few.waiting(), 1)

    const light = makeUnwrittenCalls(10, 1)
    const [a] = [add(light, "a", "running"), add(light, "b", "running")]
    take(light)
    const repeat = add(light, "a", "running")
    assert.strictEqual(light.waiting(), 0)
    add(light, "b", "running")
    assert.deepStrictEqual(take(light), [later(a, 1, repeat)])
  })

  it.each([
    ["is to be written as well", true],
    ["is still gathered", false]
  ])("wait again when they could not be written, where what came meanwhile %s", (_, released) => {
    const unwritten = makeUnwrittenCalls(10, 10)
    const first = add(unwritten, "a", "running")
    const taken = unwritten.take(100)
    const second = add(unwritten, "a", "running")
    if (released) unwritten.release(0)
    unwritten.putBack(taken)
    assert.deepStrictEqual(take(unwritten), [row(first, 1, second)])
    unwritten.release(0)
    assert.deepStrictEqual(take(unwritten), [])
  })

  it("forget jobs that were not asked for since, and no others", () => {
    const unwritten = makeUnwrittenCalls(10, 10)
    const old = add(unwritten, "a", "running")
    const kept = add(unwritten, "b", "running")
    assert.deepStrictEqual(take(unwritten), [row(old, 0), row(kept, 0)])
    unwritten.forget(kept * 1000)
    const again = add(unwritten, "a", "running")
    const last = add(unwritten, "b", "running")
    assert.deepStrictEqual(take(unwritten), [row(again, 0)])
    unwritten.release(0)
    assert.deepStrictEqual(take(unwritten), [later(kept, 1, last)])
  })
})
