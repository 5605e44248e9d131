import { assert, describe, it } from "@effect/vitest"
import { type CallItem, makeCallRepeats } from "../../../src/postgres/tasks/callRepeats.ts"

let calls = 0

const callOf = (job: string, outcome: string, purpose = "poll"): CallItem => {
  calls += 1
  const at = new Date(calls * 1000).toISOString()
  return {
    organization_id: "org_1",
    job_id: job,
    id: `uc_${calls}`,
    purpose,
    method: "GET",
    url: "http://vendor.test/t",
    status: 200,
    failure: null,
    outcome,
    started_at: at,
    duration_ms: calls,
    request: null,
    answer: { calls },
    repeats: 0,
    last_at: at
  }
}

describe("repeats of a vendor's answer", () => {
  it("are gathered as one, which is written before the job's next other answer", () => {
    const repeats = makeCallRepeats(10, 1000)
    const first = callOf("a", "running")
    assert.deepStrictEqual(repeats.add(first, 1, 0), [first])
    const [second, third] = [callOf("a", "running"), callOf("a", "running")]
    assert.deepStrictEqual(repeats.add(second, 1, 0), [])
    assert.deepStrictEqual(repeats.add(third, 1, 0), [])
    const other = callOf("a", "500")
    assert.deepStrictEqual(repeats.add(other, 1, 0), [
      {
        ...second,
        repeats: 1,
        last_at: third.started_at,
        duration_ms: third.duration_ms,
        answer: third.answer
      },
      other
    ])
    assert.deepStrictEqual(repeats.take(0), [])
  })

  it("are those of one job, and of polls alone", () => {
    const repeats = makeCallRepeats(10, 1000)
    const all = [callOf("a", "200"), callOf("b", "200"), callOf("a", "200", "submit")]
    for (const call of [...all, callOf("a", "200")]) {
      assert.deepStrictEqual(repeats.add(call, 1, 0), [call])
    }
  })

  it("are handed over once they were gathered for long enough", () => {
    const repeats = makeCallRepeats(10, 1000)
    for (const [job, at] of [
      ["a", 1],
      ["b", 2]
    ] as const) {
      repeats.add(callOf(job, "running"), 1, 0)
      repeats.add(callOf(job, "running"), 1, at)
      repeats.add(callOf(job, "running"), 1, 9)
    }
    assert.deepStrictEqual(
      repeats.take(1).map(({ job_id, repeats }) => [job_id, repeats]),
      [["a", 1]]
    )
    assert.deepStrictEqual(
      repeats.take(9).map(({ job_id }) => job_id),
      ["b"]
    )
  })

  it("are held for so many jobs, and so many characters, as there is room for", () => {
    const few = makeCallRepeats(2, 1000)
    for (const job of ["a", "b", "c"]) few.add(callOf(job, "running"), 1, 0)
    assert.lengthOf(few.add(callOf("a", "running"), 1, 0), 1)
    assert.lengthOf(few.add(callOf("c", "running"), 1, 0), 0)

    const light = makeCallRepeats(10, 100)
    for (const job of ["a", "b"]) light.add(callOf(job, "running"), 60, 0)
    assert.lengthOf(light.add(callOf("a", "running"), 60, 0), 0)
    assert.lengthOf(light.add(callOf("a", "running"), 60, 0), 0)
    assert.deepStrictEqual(
      light.add(callOf("b", "running"), 60, 0).map(({ job_id }) => job_id),
      ["a"]
    )
  })
})
