import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { layerVendorLimits, VendorLimits } from "../../../src/adapters/wire/limits.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"

const seconds = (settings: Partial<Settings>) =>
  Effect.map(VendorLimits, ({ text, stream }) => ({
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

it.effect("a vendor of text has three quarters of the time its order has", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* seconds({}), { whole: 675, begin: 675, idle: 90, stream: 2700 })
    assert.deepStrictEqual(yield* seconds({ textDeadlineSeconds: 40 }), {
      whole: 30,
      begin: 30,
      idle: 90,
      stream: 2700
    })
    assert.deepStrictEqual(yield* seconds({ textStreamDeadlineSeconds: 7200 }), {
      whole: 675,
      begin: 675,
      idle: 90,
      stream: 5400
    })
  })
)
