import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { nextPollSeconds, pauseSeconds } from "../../src/domain/PollPace.ts"

const pace = { askIntervalSeconds: 2, maxAskIntervalSeconds: 15 }

describe("the pace of questions", () => {
  it.each([
    [0, 2.5, 2],
    [25, 2.5, 2],
    [50, 5, 4],
    [100, 10, 8],
    [150, 15, 12],
    [86_400, 15, 12]
  ])(
    "a task of %s s is asked for again after at most %s s and at least %s s",
    (age, most, least) => {
      assert.strictEqual(nextPollSeconds(pace, age, 0), most)
      assert.closeTo(nextPollSeconds(pace, age, 1), least, 1e-9)
    }
  )

  it("nothing is spread where both bounds are the same", () => {
    const fixed = { askIntervalSeconds: 15, maxAskIntervalSeconds: 15 }
    for (const chance of [0, 0.5, 0.999]) {
      assert.strictEqual(nextPollSeconds(fixed, 1000, chance), 15)
    }
  })

  const chance = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
  const age = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1e6 }))
  it.prop("both bounds hold whatever the age and the chance", [age, chance], ([age, chance]) => {
    const seconds = nextPollSeconds(pace, age, chance)
    assert.isAtLeast(seconds, pace.askIntervalSeconds)
    assert.isAtMost(seconds, pace.maxAskIntervalSeconds)
  })

  it.prop("an older task is never asked for sooner", [age, age, chance], ([one, other, chance]) => {
    assert.isAtMost(
      nextPollSeconds(pace, Math.min(one, other), chance),
      nextPollSeconds(pace, Math.max(one, other), chance)
    )
  })
})

describe("a vendor's Retry-After", () => {
  it.each([
    [null, 0],
    [undefined, 0],
    [0, 0],
    [7, 7],
    [300, 300],
    [999_999_999, 300]
  ])("%s is a pause of %s s", (said, pause) => {
    assert.strictEqual(pauseSeconds(said), pause)
  })
})
