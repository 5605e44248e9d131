import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import {
  eventNumber,
  publicState,
  seenEvent,
  type TaskState,
  transitions
} from "../../src/domain/taskStates.ts"

const states = Struct.keys(transitions)

const allowed = [
  ["submitting", "processing"],
  ["submitting", "rejected"],
  ["processing", "succeeded"],
  ["processing", "failed"]
] as const satisfies ReadonlyArray<readonly [TaskState, TaskState]>

const next = (state: TaskState): ReadonlyArray<TaskState> => transitions[state]

describe("a video task", () => {
  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
    "goes from %s to %s only where the life of a task says so",
    (from, to) => {
      assert.strictEqual(
        next(from).includes(to),
        allowed.some(([before, after]) => before === from && after === to)
      )
    }
  )

  it.each(["succeeded", "failed", "rejected"] as const)("never leaves %s", (state) => {
    assert.isEmpty(next(state))
  })

  it.each(states)("ends from %s within two steps", (state) => {
    const afterTwo = next(state).flatMap(next)
    assert.isEmpty(afterTwo.flatMap(next))
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

  it("knows five states", () => {
    assert.sameMembers(states, ["submitting", "processing", "succeeded", "failed", "rejected"])
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
