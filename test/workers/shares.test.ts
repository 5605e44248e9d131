import { assert, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect } from "effect"
import { loadConfig } from "../../src/config.ts"
import { shareOf } from "../../src/workers/shares.ts"
import { delayAfter } from "../../src/workers/supervisor.ts"

it.effect("what a gateway may have is divided over its workers, and no worker has nothing", () =>
  Effect.gen(function* () {
    const config = { ...(yield* loadConfig), workers: 3, databasePool: 16 }
    const settings = { ...config.settings, organizationInFlight: 2, channelInFlight: 300 }
    const share = shareOf({ ...config, settings })
    assert.strictEqual(share.databasePool, 6)
    assert.strictEqual(share.settings.organizationInFlight, 1)
    assert.strictEqual(share.settings.channelInFlight, 100)
    assert.isBelow(share.settings.bodyBudgetBytes * 3, config.settings.bodyBudgetBytes + 3)
    assert.isBelow(share.settings.maxConnections * 3, config.settings.maxConnections + 3)
    assert.isBelow(share.settings.organizationWaits * 3, config.settings.organizationWaits + 3)
    assert.isBelow(share.settings.pollsPerChannel * 3, config.settings.pollsPerChannel + 3)
    assert.strictEqual(share.settings.keyRefusalsPerMinute, 400)
    assert.strictEqual(share.settings.addressUnknownKeysPerMinute, 200)
    assert.strictEqual(share.settings.keyQuotesPerMinute, config.settings.keyQuotesPerMinute)
    assert.strictEqual(share.settings.maxMediaBodyBytes, config.settings.maxMediaBodyBytes)
  })
)

it.effect.each(["0", "1.5", "two", "65"])("%j is no number of workers", (text) =>
  Effect.gen(function* () {
    const refused = yield* Effect.flip(
      Effect.provideService(
        loadConfig,
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({ GATEWAY_WORKERS: text })
      )
    )
    assert.include(refused.message, "a whole number from 1 to 64")
  })
)

it("a worker that dies at once again and again is waited for longer and longer, to a bound", () => {
  const seconds = [1, 2, 3, 4, 50].map((deaths) => Duration.toSeconds(delayAfter(deaths)))
  assert.deepStrictEqual(seconds, [0, 0.5, 1, 2, 10])
})
