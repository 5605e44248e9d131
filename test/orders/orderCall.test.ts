/** Which calls of an order the log is told of, and when. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeOrderCall } from "../../src/orders/orderCall.ts"
import type { CallPurpose } from "../../src/services/CallLog.ts"

const setUp = () => {
  const logged: Array<string> = []
  const call = makeOrderCall({
    record: (subject) => Effect.sync(() => void logged.push(subject.purpose)),
    flush: Effect.void,
    prune: Effect.succeed(0)
  })
  const report = (purpose: typeof CallPurpose.Type, status: number | null) =>
    call.record(
      { organizationId: "org", jobId: "job", channelId: "ch", purpose, upstreamId: null },
      {
        answeredCall:
          status === null
            ? null
            : { startedAt: new Date(0), durationMillis: 1, status, bytes: 2, requestId: null },
        weigh: () => assert.fail("it is not weighed"),
        describe: () => assert.fail("it is not described")
      }
    )
  return { logged, call, report }
}

describe("the call of an order", () => {
  it.effect("is kept from the log when it made the order, and told of when it did not", () =>
    Effect.gen(function* () {
      for (const isCharged of [true, false]) {
        const { logged, call, report } = setUp()
        yield* report("image", 200)
        assert.deepInclude(call.answered(), { status: 200, bytes: 2 })
        if (isCharged) call.skipLog()
        yield* call.log() ?? Effect.void
        assert.isUndefined(call.log())
        assert.deepStrictEqual(logged, isCharged ? [] : ["image"])
        assert.isNull(call.answered())
      }
    })
  )

  it.effect("is in the log before the polls of what it began", () =>
    Effect.gen(function* () {
      const { logged, call, report } = setUp()
      yield* report("image", 200)
      yield* report("poll", 200)
      yield* report("poll", 200)
      assert.deepStrictEqual(logged, ["image", "poll", "poll"])
      assert.isNull(call.answered())
    })
  )

  it.effect("is in the log at once without an answer, or as a submit", () =>
    Effect.gen(function* () {
      const { logged, call, report } = setUp()
      yield* report("text", null)
      assert.deepStrictEqual(logged, ["text"])
      yield* report("submit", 200)
      assert.deepStrictEqual(logged, ["text", "submit"])
      assert.isNull(call.answered())
    })
  )
})
