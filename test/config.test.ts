import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Result } from "effect"
import { loadConfig } from "../src/config.ts"
import { signInConfigOf } from "../src/features/signIn/SignInConfig.ts"

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

const signInOf = (variables: Readonly<Record<string, string>>) =>
  loadConfig.pipe(
    Effect.map((config) => signInConfigOf(config)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )

const signIn = {
  GATEWAY_PUBLIC_URL: "https://media.example.com/",
  GATEWAY_OIDC_ISSUER: "https://login.example.com",
  GATEWAY_OIDC_CLIENT_ID: "gateway",
  GATEWAY_OIDC_ROLES: "media-admins=owner, cn=a=finance ,@Example.com=viewer"
}

it.effect("sign-in is off without its variables, and takes its rules in their order", () =>
  Effect.gen(function* () {
    for (const variables of [{}, { GATEWAY_PUBLIC_URL: "https://media.example.com" }]) {
      assert.deepStrictEqual(yield* signInOf(variables), Result.succeed(null))
    }
    assert.deepStrictEqual(
      yield* signInOf({ ...signIn, GATEWAY_OIDC_ORGANIZATIONS: "ann@example.com=org_1" }),
      Result.succeed({
        publicUrl: "https://media.example.com",
        issuer: "https://login.example.com",
        clientId: "gateway",
        clientSecret: null,
        scopes: "openid email profile",
        groupsClaim: "groups",
        roles: [
          { subject: "media-admins", right: "owner" },
          { subject: "cn=a", right: "finance" },
          { subject: "@Example.com", right: "viewer" }
        ],
        organizations: [{ subject: "ann@example.com", right: "org_1" }]
      })
    )
  })
)

it.effect.each([
  ["GATEWAY_PUBLIC_URL", "GATEWAY_OIDC_ISSUER is set, but GATEWAY_PUBLIC_URL is not"],
  ["GATEWAY_OIDC_ISSUER", "GATEWAY_OIDC_CLIENT_ID is set, but GATEWAY_OIDC_ISSUER is not"],
  ["GATEWAY_OIDC_CLIENT_ID", "GATEWAY_OIDC_ISSUER is set, but GATEWAY_OIDC_CLIENT_ID is not"],
  ["GATEWAY_OIDC_ROLES", "neither GATEWAY_OIDC_ROLES nor GATEWAY_OIDC_ORGANIZATIONS is"]
] as const)("sign-in without %s is refused by its name", ([missing, expected]) =>
  Effect.gen(function* () {
    const result = yield* signInOf({ ...signIn, [missing]: "" })
    assert.include(Result.isFailure(result) ? result.failure : "", expected)
  })
)

it.effect.each([
  ["GATEWAY_OIDC_ISSUER", "http://login.example.com", "an issuer such as"],
  ["GATEWAY_OIDC_ISSUER", "login.example.com", "an issuer such as"],
  ["GATEWAY_OIDC_SCOPES", "email profile", "openid among them"],
  ["GATEWAY_OIDC_ROLES", "admins=king", "of the roles owner, operator, finance, viewer"],
  ["GATEWAY_OIDC_ROLES", "admins", "group=role pairs"],
  ["GATEWAY_OIDC_ORGANIZATIONS", "=org_1", "pairs such as"],
  ["GATEWAY_SESSION_SECONDS", "0", "greater than 0"]
] as const)("%s takes no %s, and the error names the variable", ([name, value, expected]) =>
  Effect.gen(function* () {
    const { message } = yield* Effect.flip(signInOf({ ...signIn, [name]: value }))
    assert.match(message, new RegExp(`^${name} cannot be used`))
    assert.include(message, expected)
  })
)
