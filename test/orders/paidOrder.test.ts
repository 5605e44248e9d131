/** The store fails in a way that does not pass after the vendor has accepted a video. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Orphans } from "../../src/services/Orphans.ts"
import { Ledger, layerGatewayTesting, TaskRepo, TestingGateway } from "../../src/testing/doubles.ts"
import { openOrphans } from "../support/filters.ts"

type Accept = TaskRepo["Service"]["accept"]

/** The answer to an order whose acceptance `accept` records, and what the books say then. */
const ordered = Effect.fnUntraced(function* (
  accept: (store: TaskRepo["Service"], ledger: Ledger["Service"]) => Accept
) {
  const replacing = Layer.effect(
    TaskRepo,
    Effect.map(Effect.all([TaskRepo, Ledger]), ([store, ledger]) => ({
      ...store,
      accept: accept(store, ledger)
    }))
  )
  return yield* Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const ledger = yield* Ledger
    const who = yield* gateway.customer()
    const { status, body } = yield* gateway.call("/v1/videos/generations", {
      key: who.key,
      json: { model: "film-1", prompt: "a lighthouse" }
    })
    const { heldNano } = yield* ledger.balance(who.organizationId)
    const { data: orphans } = yield* (yield* Orphans).list(openOrphans, { after: null, limit: 10 })
    assert.deepStrictEqual(yield* ledger.verify, [])
    return { status, body, held: heldNano > 0n, orphans }
  }).pipe(Effect.provide(layerGatewayTesting({ replacing })), Effect.scoped)
})

const poisoned = Effect.die(new Error("the row was refused"))

describe("an acceptance that the store refuses", () => {
  it.effect("is given back with the vendor's id for the operator", () =>
    Effect.gen(function* () {
      const { status, held, orphans } = yield* ordered(() => () => poisoned)
      assert.strictEqual(status, 504)
      assert.isFalse(held)
      assert.strictEqual(orphans.length, 1)
      assert.isNotNull(orphans[0]?.upstreamId)
    })
  )

  it.effect("is answered with its id where it was written all the same", () =>
    Effect.gen(function* () {
      const { status, body, held, orphans } = yield* ordered(
        (store) =>
          (...order) =>
            Effect.andThen(store.accept(...order), poisoned)
      )
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.isTrue(held)
      assert.deepStrictEqual(orphans, [])
    })
  )

  it.effect("is no task of the client's where a sweep had given it back", () =>
    Effect.gen(function* () {
      const { status, held, orphans } = yield* ordered(
        (_store, ledger) => (organizationId, id) =>
          Effect.andThen(
            ledger.release({
              organizationId,
              holdId: id,
              by: "sweep",
              task: {
                from: "submitting",
                state: "rejected",
                errorCode: "upstream_error",
                errorMessage: "The gateway stopped"
              },
              orphan: { upstreamId: null, reason: "gateway_stopped" },
              answer: null,
              forgetKey: false
            }),
            poisoned
          )
      )
      assert.strictEqual(status, 504)
      assert.isFalse(held)
      assert.isNotNull(orphans[0]?.upstreamId ?? null)
    })
  )
})
