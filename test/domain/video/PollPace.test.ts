import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  clientPollMillis,
  nextPollSeconds,
  pauseSeconds
} from "../../../src/domain/video/PollPace.ts"

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

describe("a client is told to come back", () => {
  it.each([
    ["when such tasks usually end", 0, 30, true, 30_000],
    ["when what is left of that has passed", 12.5, 30, true, 17_500],
    ["after a minute at most", 0, 600, true, 60_000],
    ["not before the vendor is asked again", 29, 30, true, 2000],
    ["after a tenth of its age once that time has passed", 100, 30, true, 10_000],
    ["after a tenth of its age when nothing is known", 45, null, true, 4500],
    ["at the first moment when nothing is known of a new one", 0, null, true, 2000],
    ["after a minute at most, however old", 86_400, null, true, 60_000],
    ["when such tasks usually end, however long it has waited", 100, 30, false, 30_000]
  ] as const)("%s", (_, ageSeconds, usualSeconds, isAccepted, millis) => {
    assert.strictEqual(clientPollMillis(pace, { ageSeconds, isAccepted, usualSeconds }), millis)
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
