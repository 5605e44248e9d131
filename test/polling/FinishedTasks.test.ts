import { assert, describe, it } from "@effect/vitest"
import { makeFinishedTasks } from "../../src/polling/FinishedTasks.ts"
import type { Task } from "../../src/services/TaskRepo.ts"

const task = (id: string, changes: Partial<Task> = {}): Task => ({
  organizationId: "org_1",
  id,
  model: "film-1",
  channelId: "ch-a",
  state: "succeeded",
  finished: true,
  videoUrl: "https://files.test/o.mp4",
  completionTokens: 108_900n,
  errorCode: null,
  errorMessage: null,
  ageSeconds: 40,
  sinceAskedSeconds: 1,
  kind: null,
  ...changes
})

describe("finished tasks in memory", () => {
  it("are found by their organisation alone", () => {
    const finished = makeFinishedTasks()
    const one = task("vt_1")
    finished.keep(one)
    assert.strictEqual(finished.find("org_1", "vt_1"), one)
    assert.isNull(finished.find("org_2", "vt_1"))
    assert.isNull(finished.find("org_1", "vt_2"))
  })

  it.each(["submitting", "processing", "rejected"] as const)("do not include %s ones", (state) => {
    const finished = makeFinishedTasks()
    finished.keep(task("vt_1", { state, finished: state === "rejected", videoUrl: null }))
    assert.isNull(finished.find("org_1", "vt_1"))
  })

  it("take no more than their room, and those read last stay", () => {
    const finished = makeFinishedTasks(100_000)
    const ids = Array.from({ length: 1000 }, (_, index) => `vt_${index}`)
    finished.keep(task("vt_read"))
    for (const id of ids) {
      finished.keep(task(id))
      assert.isNotNull(finished.find("org_1", "vt_read"))
    }
    const left = ids.filter((id) => finished.find("org_1", id) !== null)
    assert.isAbove(left.length, 10)
    assert.isBelow(left.length, 100)
    assert.deepStrictEqual(left, ids.slice(-left.length))
  })

  it("count the texts in them, and one that is kept again counts once", () => {
    const finished = makeFinishedTasks(100_000)
    const long = { videoUrl: null, state: "failed" as const, errorCode: "bad" }
    const told = task("vt_long", { ...long, errorMessage: "x".repeat(20_000) })
    for (let times = 0; times < 10; times++) finished.keep(told)
    finished.keep(task("vt_1"))
    assert.isNotNull(finished.find("org_1", "vt_long"))
    finished.keep(task("vt_longer", { ...long, errorMessage: "x".repeat(15_000) }))
    assert.isNull(finished.find("org_1", "vt_long"))
    finished.keep(task("vt_endless", { ...long, errorMessage: "x".repeat(40_000) }))
    assert.isNull(finished.find("org_1", "vt_endless"))
    assert.isNotNull(finished.find("org_1", "vt_longer"))
  })
})
