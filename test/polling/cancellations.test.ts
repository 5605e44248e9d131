/** What a client hears of a request to cancel, by the vendor's answers to it and to the poll after it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Cancellation } from "../../src/domain/taskAnswers.ts"
import { VendorUnreachable } from "../../src/domain/VendorOutcome.ts"
import { requestCancel } from "../../src/polling/cancellations.ts"
import type { CancelAnswer } from "../../src/services/ProtocolAdapter.ts"

const lost = new VendorUnreachable({ message: "no answer" })

const reportsOf = Effect.fnUntraced(function* (answer: CancelAnswer, isPolled: boolean) {
  const reports: Array<Cancellation["status"]> = []
  const job = {
    jobs: "unfinished" as const,
    send: Effect.succeed(answer),
    poll: isPolled ? Effect.succeed("goes on") : Effect.fail(lost),
    isQueued: () => false,
    start: Effect.succeed(true),
    afterSend: Effect.void
  }
  const status = yield* Effect.option(
    requestCancel(job, (cancellation) => reports.push(cancellation.status))
  )
  return { reports, isKnown: status._tag === "Some" }
})

describe("a request to cancel", () => {
  it.effect("is refused where the vendor says so, and then how the job is", () =>
    Effect.gen(function* () {
      const refused: CancelAnswer = { _tag: "Refused", message: "it runs" }
      assert.deepEqual(yield* reportsOf(refused, true), { reports: ["refused"], isKnown: true })
    })
  )

  it.effect("is not refused by an answer that can be of a second request", () =>
    Effect.gen(function* () {
      const refused: CancelAnswer = { _tag: "Refused", message: "it was cancelled" }
      assert.deepEqual(yield* reportsOf(refused, false), { reports: [], isKnown: false })
    })
  )

  it.effect("is taken, also where the poll after it fails", () =>
    Effect.gen(function* () {
      const requested: CancelAnswer = { _tag: "Requested" }
      assert.deepEqual(yield* reportsOf(requested, false), {
        reports: ["requested"],
        isKnown: false
      })
    })
  )
})
