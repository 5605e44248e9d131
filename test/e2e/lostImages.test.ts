import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"

/** Room for one question to the vendor, two seconds after its answer. */
const settings = { ...quickSettings, imageDeadlineSeconds: 4 }

layer(
  layerTestGateway("embedded", settings, {
    catalogFor: protocolCatalog,
    adapters: layerAdapters.pipe(Layer.provide(layerVendorLimits))
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("images a vendor makes as a task", (it) => {
  it.effect("a task that takes too long is given back, and an operator can find it", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* brokenVendor({
        body: { request_id: "r-1", output: { task_id: "job-9", task_status: "RUNNING" } }
      })
      const catalog = protocolCatalog(gateway.simulator.url)
      yield* gateway.admin("/catalog", {
        method: "PUT",
        json: {
          ...catalog,
          channels: catalog.channels.map((channel) => ({ ...channel, base_url: vendor.url }))
        }
      })
      const lose = Effect.fnUntraced(function* (model: string) {
        const who = yield* gateway.customer("10")
        const answer = yield* orderImages(who, { model })
        assert.strictEqual(answer.status, 504, answer.text)
        assert.strictEqual(answer.headers.get("x-should-retry"), "false")
        assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
        const { text } = yield* gateway.admin(`/organizations/${who.organizationId}/ledger`)
        const id = /"hold_id":"(im_[^"]+)"/.exec(text)?.[1]
        const timeline = yield* gateway.admin(`/tasks/${id}`)
        assert.deepNestedInclude(timeline.body, {
          state: "failed",
          upstream_id: "job-9",
          "orphan.upstream_id": "job-9",
          "orphan.reason": "timeout",
          "upstream_calls[0].purpose": "image",
          "upstream_calls[1].purpose": "poll",
          "upstream_calls[1].answer.output.task_status": "RUNNING"
        })
      })
      yield* Effect.all([lose("paint-b"), lose("relay-paint-messages")], {
        concurrency: "unbounded"
      })
      yield* gateway.verify
    })
  )
})
