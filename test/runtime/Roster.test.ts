import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeRoster } from "../../src/runtime/Roster.ts"

const crowd = fileURLToPath(new URL("./rosterCrowd.ts", import.meta.url))

/** A heap in which whatever is kept shows soon, however much memory the machine has. */
const small = ["--expose-gc", "--max-old-space-size=64"]

/** Collections of the whole heap while many come and go. */
const wholeCollections = (kind: "roster" | "set") =>
  Effect.map(
    Effect.promise(() => promisify(execFile)(process.execPath, [...small, crowd, kind])),
    ({ stdout }) => Number(stdout)
  )

describe("a roster", () => {
  it("names who is there", () => {
    const roster = makeRoster<string>()
    const leave = new Map(["a", "b", "c", "d"].map((name) => [name, roster.enter(name)]))
    const present = () => roster.present().toSorted().join("")
    assert.strictEqual(present(), "abcd")
    for (const [name, left] of [
      ["b", "acd"],
      ["b", "acd"],
      ["d", "ac"],
      ["a", "c"],
      ["d", "c"],
      ["c", ""],
      ["c", ""]
    ] as const) {
      leave.get(name)?.()
      assert.strictEqual(present(), left)
      assert.strictEqual(roster.size(), left.length)
    }
    const again = roster.enter("a")
    leave.get("a")?.()
    assert.strictEqual(present(), "a")
    again()
    assert.strictEqual(roster.size(), 0)
  })

  it("may hold the same one twice", () => {
    const roster = makeRoster<string>()
    const leave = roster.enter("a")
    roster.enter("a")
    leave()
    leave()
    assert.deepStrictEqual(roster.present(), ["a"])
  })

  it.effect("lets go of who has left, where a set does not", () =>
    Effect.gen(function* () {
      assert.isAtMost(yield* wholeCollections("roster"), 10)
      assert.isAbove(yield* wholeCollections("set"), 20, "a Set has become good enough")
    })
  )
})
