/** Answers to commands that came together: any order of them explains, and nothing else does. */
import { assert, describe, it } from "@effect/vitest"
import { type Answer, caps, explain } from "../../scripts/ledger/commands.ts"
import { type Command, makeModel } from "../../scripts/ledger/model.ts"

const ID = "im_f0000000-0000-7000-8000-000000000100"

const hold: Command = {
  _tag: "Hold",
  id: ID,
  member: 0,
  apiKey: 0,
  amount: 20n,
  excess: 0n,
  key: null
}
const capture: Command = { _tag: "Capture", id: ID, isStale: false, charge: 5n, isAnswered: false }
const release: Command = { _tag: "Release", id: ID, isStale: false, forgetKey: false, doubt: null }

const modelWithHold = () => {
  const model = makeModel(caps)
  model.apply({ _tag: "Deposit", reference: "r0", amount: 100n })
  assert.strictEqual(model.apply(hold), "held")
  return model
}

const poolAfter = (...answers: ReadonlyArray<Answer>) =>
  explain(modelWithHold(), answers)?.books().pool ?? null

describe("two closes of an order that come together", () => {
  it("end it as the first of them does, whichever that is", () => {
    const isCharged = poolAfter(
      { command: release, verdict: "captured 5 0 before" },
      { command: capture, verdict: "captured 5 0 won" }
    )
    assert.deepInclude(isCharged, { balanceNano: 95n, heldNano: 0n })
    const isReturned = poolAfter(
      { command: release, verdict: "released 0 0 won" },
      { command: capture, verdict: "released 0 0 before" }
    )
    assert.deepInclude(isReturned, { balanceNano: 100n, heldNano: 0n })
  })

  it("cannot both end it, nor neither", () => {
    const won = { command: capture, verdict: "captured 5 0 won" }
    assert.isNull(poolAfter(won, { command: release, verdict: "released 0 0 won" }))
    const before = { command: capture, verdict: "captured 5 0 before" }
    assert.isNull(poolAfter(before, { command: release, verdict: "captured 5 0 before" }))
  })
})
