import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  Ledger,
  layerGatewayTesting,
  ScriptedVendors,
  TestingGateway,
  vendor
} from "media-gateway/testing"

it.effect("a scene the vendor refuses costs nothing", () =>
  Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const vendors = yield* ScriptedVendors
    const ledger = yield* Ledger
    const { key, organizationId } = yield* gateway.customer({ deposit: 10 })

    yield* vendors.images(vendor.refuses({ status: 422, message: "Not this scene" }))
    const refused = yield* gateway.call("/v1/images/generations", {
      key,
      json: { model: "paint-1", prompt: "a storm" }
    })
    assert.strictEqual(refused.status, 422)

    const pool = yield* ledger.balance(organizationId)
    assert.deepStrictEqual(pool, { balanceNano: 10_000_000_000n, heldNano: 0n })
  }).pipe(Effect.provide(layerGatewayTesting()))
)
