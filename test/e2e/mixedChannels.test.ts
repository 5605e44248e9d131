import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import { failoverCatalog, trouble } from "../support/failovers.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"

const ORDERS = Number(process.env.MIXED_ORDERS ?? 100)

/** An order goes on to another channel in the first quarter of it, and a vendor has three. */
const settings = { ...quickSettings, imageDeadlineSeconds: 10 }

/** Three accounts that share the orders. */
const catalogFor = (simulatorUrl: string) => {
  const { channels, models, mounts } = failoverCatalog([], true)(simulatorUrl)
  return { channels, models, mounts: mounts.filter(({ channel }) => !channel.endsWith("dddd")) }
}

const Orphans = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, channel: Schema.String })),
  has_more: Schema.Boolean
})

const allOrphans = Effect.gen(function* () {
  const gateway = yield* Gateway
  const found: Array<typeof Orphans.Type.data> = []
  for (let after = ""; ; ) {
    const page = yield* bodyAs(Orphans, yield* gateway.admin(`/orphans?limit=100${after}`))
    found.push(page.data)
    if (!page.has_more) return found.flat()
    after = `&after=${page.data.at(-1)?.id}`
  }
})

layer(
  layerTestGateway("postgres", settings, {
    catalogFor,
    adapters: layerAdapters.pipe(Layer.provide(layerVendorLimits))
  }),
  { excludeTestServices: true, timeout: "600 seconds" }
)("a channel that refuses, one that hangs and one that works", (it) => {
  it.effect("all that can succeed do, each is charged once, and none is sent twice", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* trouble("aaaa", "sim:refuse=503")
      yield* trouble("bbbb", "sim:hang")
      const who = yield* gateway.customer("10000")
      const answers = yield* Effect.forEach(
        Array.from({ length: ORDERS }, (_, index) => `lighthouse ${index}`),
        (prompt) => orderImages(who, { model: "paint-1", prompt }),
        { concurrency: 64 }
      )
      const made = answers.filter(({ status }) => status === 200).length
      const lost = answers.filter(({ status }) => status === 504).length
      assert.strictEqual(made + lost, ORDERS)

      const accepted = (yield* gateway.simulator.book).flatMap((entry) =>
        entry.event === "accepted" ? [entry] : []
      )
      const at = (account: string) => accepted.filter(({ key_hint }) => key_hint === account).length
      assert.deepStrictEqual([at("aaaa"), at("bbbb"), at("cccc")], [0, lost, made])
      // Half of them: the refusing channel's orders go on to either of the others.
      assert.isAbove(made, ORDERS / 4)
      assert.isAbove(lost, ORDERS / 4)
      const prompts = new Set(accepted.map(({ order }) => order.prompt_sha256))
      assert.strictEqual(prompts.size, accepted.length)

      const orphans = yield* allOrphans
      assert.strictEqual(orphans.length, lost)
      assert.deepStrictEqual([...new Set(orphans.map(({ channel }) => channel))], ["ip_a-bbbb"])
      const { balance, held } = yield* gateway.balance(who)
      assert.strictEqual(held, "0")
      assert.strictEqual((10_000 - Number(balance)).toFixed(1), (made * 0.2).toFixed(1))
      yield* gateway.verify
    })
  )
})
