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

const originsOf = (value: string) =>
  loadConfig.pipe(
    Effect.map(({ settings }) => settings.corsOrigins),
    Effect.provide(
      ConfigProvider.layer(ConfigProvider.fromUnknown({ GATEWAY_CORS_ORIGINS: value }))
    )
  )

it.effect("origins are listed with commas in between", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* originsOf(" https://app.example.com, http://localhost:5173 ,"), [
      "https://app.example.com",
      "http://localhost:5173"
    ])
    assert.deepStrictEqual(yield* originsOf("*"), ["*"])
    assert.deepStrictEqual(yield* originsOf("tauri://localhost"), ["tauri://localhost"])
    assert.deepStrictEqual(yield* originsOf(""), [])
  })
)

it.effect.each([
  "app.example.com",
  "https://app.example.com/",
  "https://app.example.com:443",
  "HTTPS://APP.example.com",
  "https://*.example.com",
  "https://app.example.com;http://localhost"
])("%s is no origin, and the error names the variable", (value) =>
  Effect.gen(function* () {
    assert.strictEqual(
      (yield* Effect.flip(originsOf(value))).message,
      "GATEWAY_CORS_ORIGINS cannot be used: Expected * or origins such as https://app.example.com,http://localhost:5173"
    )
  })
)
