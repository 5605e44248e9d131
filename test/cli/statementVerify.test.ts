/** `media-gateway statement verify`, as finance runs it: against a gateway, and over files that were kept. */
import { createHash } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Statements } from "../../src/features/statements/Statements.ts"
import { version } from "../../src/version.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { runCommand } from "../support/commandLine.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"

const verify = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  runCommand(["statement", "verify", ...args], env)

/** An organisation with two charges and a correction, its present month sealed with what it has now. */
const sealed = Effect.gen(function* () {
  const gateway = yield* Gateway
  const statements = yield* Statements
  const who = yield* gateway.customer("10", { key: { scopes: ["images", "statements"] } })
  yield* orderImages(who, { model: "paint-1", n: 2, metadata: { note: 'a,"b"\n' } })
  yield* orderImages(who, { model: "paint-1" })
  const month = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 7)
  const read = (accept: string) =>
    gateway.call(`/v1/statements/${month}`, { key: who.key, headers: { accept } })
  const csv = (yield* read("text/csv")).text
  const sha256 = createHash("sha256").update(csv).digest("hex")
  const amounts = { entries: 3n, openingNano: 0n, closingNano: 9_400_000_000n }
  yield* statements.seal(who.organizationId, month, { sha256, ...amounts })
  return { who, month, csv, sha256, json: (yield* read("application/json")).text }
})

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the command",
  (it) => {
    it.effect("recomputes a month that a gateway tells, for operators and members", () =>
      Effect.gen(function* () {
        const { url } = yield* Gateway
        const { who, month, sha256 } = yield* sealed
        const at = ["--gateway", url, "--month", month]
        const organization = ["--organization", who.organizationId]
        for (const [args, env] of [
          [[...at, ...organization], { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }],
          [at, { GATEWAY_KEY: who.key }]
        ] as const) {
          const { code, stdout, stderr } = yield* verify(args, env)
          assert.strictEqual(code, 0, stderr)
          assert.include(stdout, `${month} of ${who.organizationId} is as it was sealed`)
          assert.include(stdout, `3 entries, 9.4 CNY, SHA-256 ${sha256}`)
        }
        for (const [args, env, says] of [
          [at, { GATEWAY_KEY: "mg_wrong" }, "401"],
          [[...at, ...organization], { GATEWAY_KEY: who.key }, "GATEWAY_ADMIN_TOKEN is not set"],
          [at.slice(0, 2), { GATEWAY_KEY: who.key }, "Expected --month"],
          [[...at.slice(0, 3), "2026-13"], { GATEWAY_KEY: who.key }, "a month such as 2026-10"]
        ] as const) {
          const { code, stderr } = yield* verify(args, env)
          assert.strictEqual(code, says.startsWith("a month") ? 2 : 1)
          assert.include(stderr, says)
        }
      })
    )

    it.effect("finds each byte that was changed in files that were kept", () =>
      Effect.gen(function* () {
        const { csv, json } = yield* sealed
        const directory = yield* temporaryDataDir()
        const [statement, entries] = [join(directory, "month.json"), join(directory, "month.csv")]
        const files = ["--statement", statement, "--entries", entries]
        const over = Effect.fnUntraced(function* (told: string, kept: string) {
          yield* Effect.promise(() => writeFile(statement, told))
          yield* Effect.promise(() => writeFile(entries, kept))
          return yield* verify(files)
        })
        assert.strictEqual((yield* over(json, csv)).code, 0)
        for (const [told, kept, says] of [
          [json, csv.replace("paint-1", "paint-2"), "the SHA-256 of the entries is"],
          [json, csv.replace("-0.4,", "-0.3,"), "the balance does not add up at us_im_"],
          [
            json,
            csv.replace(/charge,[^\n]*-0\.2,[^\n]*\n/, ""),
            "charges: the entries come to 0.4"
          ],
          [
            json.replace('"9.4"', '"9.5"'),
            csv,
            "closing_balance: the entries come to 9.4, not 9.5"
          ],
          [json, csv.replace("-0.4,", "-0.x,"), "The entries cannot be read"],
          [json.slice(0, 50), csv, statement]
        ] as const) {
          assert.isTrue(told !== json || kept !== csv)
          const { code, stderr } = yield* over(told, kept)
          assert.strictEqual(code, 1, stderr)
          assert.include(stderr, says)
        }
      })
    )

    it.effect("tells its version, which is the package's, and what it can do", () =>
      Effect.gen(function* () {
        const manifest = yield* Effect.promise(() =>
          readFile(new URL("../../package.json", import.meta.url), "utf8")
        )
        assert.include(manifest, `"version": "${version}"`)
        assert.include((yield* runCommand(["--version"])).stdout, version)
        assert.include((yield* runCommand(["--help"])).stdout, "statement")
        const { code, stderr } = yield* runCommand(["--nonsense"])
        assert.strictEqual(code, 2)
        assert.include(stderr, "--nonsense")
      })
    )
  }
)
