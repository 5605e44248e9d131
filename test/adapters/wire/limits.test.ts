import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { layerVendorLimits, VendorLimits } from "../../../src/adapters/wire/limits.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"

const seconds = (settings: Partial<Settings>) =>
  Effect.map(VendorLimits, ({ pollInterval, text, stream }) => ({
    poll: Duration.toSeconds(pollInterval),
    whole: Duration.toSeconds(text.timeout),
    begin: Duration.toSeconds(stream.firstBytesTimeout),
    idle: Duration.toSeconds(stream.idleTimeout),
    stream: Duration.toSeconds(stream.timeout)
  })).pipe(
    Effect.provide(
      layerVendorLimits.pipe(
        Layer.provide(Layer.succeed(Settings, { ...defaultSettings, ...settings }))
      )
    )
  )

it.effect(
  "a vendor of text has three quarters of the time its order has, and images are asked for at the set pace",
  () =>
    Effect.gen(function* () {
      const usual = { poll: 2, whole: 675, begin: 675, idle: 90, stream: 2700 }
      assert.deepStrictEqual(yield* seconds({}), usual)
      assert.deepStrictEqual(yield* seconds({ askIntervalSeconds: 5 }), { ...usual, poll: 5 })
      assert.deepStrictEqual(yield* seconds({ textDeadlineSeconds: 40 }), {
        ...usual,
        whole: 30,
        begin: 30
      })
      assert.deepStrictEqual(yield* seconds({ textStreamDeadlineSeconds: 7200 }), {
        ...usual,
        stream: 5400
      })
    })
)
