import { assert, describe, it } from "@effect/vitest"
import { formatWait, rateHeaders } from "../../src/http/server/access/keyRates.ts"

describe("a wait in words", () => {
  it.each([
    [0, "0ms"],
    [0.1, "1ms"],
    [999, "999ms"],
    [1000, "1s"],
    [1001, "2s"],
    [59_001, "1m0s"],
    [360_000, "6m0s"],
    [61_000, "1m1s"]
  ])("of %d ms is %s", (millis, words) => {
    assert.strictEqual(formatWait(millis), words)
  })
})

describe("the headers of a rate", () => {
  it("say the same to both kinds of client", () => {
    assert.deepStrictEqual(
      rateHeaders({
        isAllowed: true,
        limit: 100,
        remaining: 98,
        resetMillis: 1200,
        retryMillis: 0
      }),
      {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "98",
        "x-ratelimit-reset-requests": "2s",
        "ratelimit-policy": '"default";q=100;w=60',
        ratelimit: '"default";r=98;t=2'
      }
    )
  })
})
