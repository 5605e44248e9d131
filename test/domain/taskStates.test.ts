import { assert, describe, it } from "@effect/vitest"
import {
  eventNumber,
  isFinal,
  publicState,
  seenEvent,
  TaskState
} from "../../src/domain/taskStates.ts"

describe("a task", () => {
  it.each(TaskState.literals)("that is %s is open or has ended for good", (state) => {
    const isOpen = state === "waiting" || state === "submitting" || state === "processing"
    assert.strictEqual(isFinal(state), !isOpen)
  })

  it.each([
    ["submitting", "processing"],
    ["processing", "processing"],
    ["succeeded", "succeeded"],
    ["failed", "failed"],
    ["rejected", null]
  ] as const)("that is %s is shown as %s", (state, shown) => {
    assert.strictEqual(publicState(state), shown)
  })
})

describe("the events of a task", () => {
  it("are numbered upwards, with one number for either end", () => {
    const states = ["processing", "succeeded", "failed"] as const
    assert.deepStrictEqual(states.map(eventNumber), [1, 2, 2])
  })

  it.each([
    [undefined, "processing", 0],
    ["", "processing", 0],
    ["0", "processing", 0],
    ["1", "processing", 1],
    ["2", "processing", 0],
    ["1", "succeeded", 1],
    ["2", "succeeded", 2],
    ["2", "failed", 2],
    ["3", "failed", 0],
    ["02", "failed", 0],
    ["2 ", "failed", 0],
    ["two", "failed", 0],
    ["-1", "failed", 0]
  ] as const)("of a client that has seen %j of a task that is %s: %i", (id, state, seen) => {
    assert.strictEqual(seenEvent(id, state), seen)
  })
})
