import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { loadConfig } from "../src/config.ts"

it.effect.each([
  [{}, false],
  [{ GATEWAY_WATERMARK: "0" }, false],
  [{ GATEWAY_WATERMARK: "1" }, true]
] as const)("the variables %j set the mark of orders by default to %s", ([variables, expected]) =>
  Effect.gen(function* () {
    const { settings } = yield* loadConfig
    assert.strictEqual(settings.watermark, expected)
  }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
)
