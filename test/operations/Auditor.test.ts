import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerAuditor } from "../../src/operations/Auditor.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { Ledger, type Violation } from "../../src/services/Ledger.ts"
import { OperationsStore } from "../../src/services/Operations.ts"

const broken = (organizationId: string, subject: string): Violation => ({
  invariant: "I7",
  organizationId,
  subject,
  detail: "finished task with an open hold"
})

/** What the auditor did, while the looks at the books found `findings` one after the other. */
const audited = (
  findings: ReadonlyArray<Effect.Effect<ReadonlyArray<Violation>>>,
  soleGateway = false
) => {
  const stops: Array<ReadonlyArray<readonly [string, string]>> = []
  const ends: Array<number | null> = []
  const paces: Array<number> = []
  let looks = 0
  const layer = layerAuditor.pipe(
    Layer.provide([
      Layer.mock(Ledger, {
        suspects: () => Effect.succeed(["org_late", "org_broken"]),
        verifyOf: () => Effect.suspend(() => findings[looks++] ?? Effect.succeed([])),
        stopSpending: (reasons) => Effect.sync(() => void stops.push([...reasons]))
      }),
      Layer.mock(OperationsStore, {
        takeAudit: (everySeconds) =>
          Effect.sync(() => {
            paces.push(everySeconds)
            return paces.length === 1
          }),
        endAudit: (violations) => Effect.sync(() => void ends.push(violations))
      }),
      Layer.succeed(Settings, { ...defaultSettings, auditSeconds: 60, soleGateway })
    ])
  )
  return Effect.gen(function* () {
    yield* Layer.build(layer)
    yield* TestClock.adjust("31 seconds")
    return { stops, ends, paces, looks }
  }).pipe(Effect.scoped)
}

describe("the auditor", () => {
  it.effect("stops nobody for what a second look does not find", () =>
    Effect.gen(function* () {
      const late = Effect.succeed([broken("org_late", "h1"), broken("org_broken", "h2")])
      const still = Effect.succeed([broken("org_broken", "h2"), broken("org_new", "h3")])
      const { stops, ends } = yield* audited([late, still])
      assert.deepStrictEqual(stops, [[["org_broken", "I7: finished task with an open hold (h2)"]]])
      assert.deepStrictEqual(ends, [1])
    })
  )

  it.effect("looks once at sound books, and lets everybody spend", () =>
    Effect.gen(function* () {
      const { stops, ends, looks } = yield* audited([])
      assert.deepStrictEqual([stops, ends, looks], [[[]], [0], 1])
    })
  )

  it.effect("that cannot look changes no stop, and says that it is done", () =>
    Effect.gen(function* () {
      const { stops, ends, paces } = yield* audited([Effect.die(new Error("no database"))])
      assert.deepStrictEqual([stops, ends], [[], [null]])
      assert.deepStrictEqual(paces, [60, 60, 60])
    })
  )

  it.effect("audits at the start when nobody else shares the books", () =>
    Effect.gen(function* () {
      const { paces } = yield* audited([], true)
      assert.deepStrictEqual(paces, [0, 60, 60])
    })
  )
})
