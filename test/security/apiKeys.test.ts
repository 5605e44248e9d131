/** API keys: kept as a hash alone, shown once, and every wrong one refused alike. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { formatApiKey } from "../../src/services/apiKey.ts"
import { withoutConnections } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const Key = Schema.Struct({ id: Schema.String, key: Schema.String })

/** Well formed, so that only the database can tell that nobody has it. */
const keyNobodyHas = (byte: number) => Redacted.value(formatApiKey(new Uint8Array(32).fill(byte)))
const unknownKey = keyNobodyHas(9)

/** Forms of the header that hold no valid key, made from one that is valid. */
const malformed = (key: string): ReadonlyArray<string> => [
  "",
  " ",
  "Bearer",
  "Bearer ",
  "Bearer  ",
  "Bearer null",
  "Bearer undefined",
  "Bearer mg_",
  "Bearer mg_nonsense",
  "Bearer sk-1234567890abcdef",
  `Bearer ${unknownKey}`,
  `Bearer ${key.slice(0, -1)}`,
  `Bearer ${key}0`,
  `Bearer ${key} ${key}`,
  `Bearer ${key},`,
  `Bearer ${key};`,
  `Bearer "${key}"`,
  `Bearer '${key}'`,
  `Bearer <${key}>`,
  `Bearer ${key.toUpperCase()}`,
  `Bearer ${key.slice(1)}`,
  `Bearer x${key}`,
  `Bearer ${key.replace("mg_", "")}`,
  `Bearer ${key.replace("mg_", "mg-")}`,
  `Bearer ${key.slice(0, 20)}`,
  `Bearer ${key.slice(0, -8)}00000000`,
  `Bearer ${key}%00`,
  `Bearer ${encodeURIComponent(`${key} `)}`,
  `Bearer ${Buffer.from(key).toString("base64")}`,
  `Bearer ${"a".repeat(4000)}`,
  `Bearer=${key}`,
  `Bearer:${key}`,
  `Bearer\u00a0${key}`,
  `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
  `Basic ${key}`,
  `Token ${key}`,
  `ApiKey ${key}`,
  `Digest username="${key}"`,
  `${key} Bearer`,
  `\u00e9 ${key}`,
  key,
  `Bearer Bearer ${key}`
]

const REQUEST_ID = /req_[0-9a-f-]{36}/g

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "API keys",
  (it) => {
    it.effect("are refused with one and the same answer whatever is wrong with the header", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const headers = malformed(key)
        assert.isAtLeast(headers.length, 40)
        const answers = yield* Effect.forEach(
          [null, ...headers],
          (header) =>
            Effect.map(
              rawRequest(gateway.url, [
                Buffer.from(
                  requestText("/v1/models", {
                    headers: header === null ? [] : [`authorization: ${header}`]
                  }),
                  "latin1"
                )
              ]),
              (answer) => ({
                header,
                status: answer?.status,
                // Only the id and the time of an answer may tell one from another.
                text: `${answer?.head.replace(REQUEST_ID, "").replace(/date: .*/, "")}\n${answer?.body}`
              })
            ),
          { concurrency: 8 }
        )
        const [none, ...others] = answers
        assert.include(none?.text, "invalid_api_key")
        for (const { header, status, text } of others) {
          assert.deepEqual([status, text], [401, none?.text], header ?? "")
        }
        assert.strictEqual((yield* gateway.call("/v1/models", { key })).status, 200)
      })
    )

    it.effect("are shown once, and stand nowhere in the database", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const made = yield* gateway.admin(`/members/${who.memberId}/keys`, {
          json: { name: "once" }
        })
        const { id, key } = yield* bodyAs(Key, made)
        assert.match(key, /^mg_[A-Za-z0-9_-]{43}[0-9a-f]{8}$/)
        for (const each of [key, who.key]) {
          yield* gateway.call("/v1/images/generations", {
            key: each,
            json: { model: "paint-1", prompt: "x" }
          })
        }
        const everything = yield* databaseText
        assert.include(everything, id)
        for (const secret of [key, who.key].flatMap((text) => [text, text.slice(3, 46)])) {
          assert.notInclude(everything, secret)
          assert.notInclude(everything, Buffer.from(secret).toString("hex"))
          assert.notInclude(everything, Buffer.from(secret).toString("base64").slice(0, -4))
        }
        const shown = [
          yield* gateway.admin("/audit?limit=100"),
          yield* gateway.admin(`/organizations/${who.organizationId}`),
          yield* gateway.admin(`/keys/${id}`, { method: "DELETE" })
        ]
        for (const { text } of shown) assert.notInclude(text, key.slice(3, 46))
      })
    )

    it.effect("with a wrong checksum are refused without a question to the database", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const wrong = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`
        yield* withoutConnections(
          Effect.gen(function* () {
            // The database is away, as a key that could be valid shows.
            const asked = yield* gateway.call("/v1/models", { key: keyNobodyHas(8) })
            assert.strictEqual(asked.status, 503, asked.text)
            for (const each of [wrong, "mg_nonsense", ""]) {
              assert.strictEqual((yield* gateway.call("/v1/models", { key: each })).status, 401)
            }
          })
        )
      })
    )

    it.effect("nobody has get no rate of their own", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { headers } = yield* gateway.call("/v1/models", { key: unknownKey })
        assert.isNull(headers.get("x-ratelimit-limit-requests"))
      })
    )
  }
)

const UNKNOWN_A_MINUTE = 20
const otherAddress = "127.0.0.2"

/** A key with a right checksum that nobody has. */
const madeUp = (seed: number) => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, seed)
  return Redacted.value(formatApiKey(bytes))
}

/** Puts a function that counts in the place of the table of keys; answers what it has counted. */
const countLookUps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(
    Effect.forEach(
      [
        "CREATE SEQUENCE looked_up",
        "ALTER TABLE api_keys RENAME TO kept_keys",
        `CREATE FUNCTION counted_keys() RETURNS SETOF kept_keys LANGUAGE plpgsql VOLATILE AS
         $$ BEGIN PERFORM nextval('looked_up'); RETURN QUERY SELECT * FROM kept_keys; END $$`,
        "CREATE VIEW api_keys AS SELECT * FROM counted_keys()"
      ],
      (statement) => sql.unsafe(statement),
      { discard: true }
    )
  )
  const Count = Schema.Struct({ count: Schema.Int })
  return Effect.gen(function* () {
    const [row] = yield* sql`
      SELECT (CASE WHEN is_called THEN last_value ELSE 0 END)::int AS count FROM looked_up`
    return (yield* Schema.decodeUnknownEffect(Count)(row)).count
  })
})

layer(
  layerTestGateway("postgres", {
    ...quickSettings,
    // A crowded machine may not hear of changes for a while, and look known keys up again.
    unheardCacheSeconds: quickSettings.cacheSeconds,
    addressUnknownKeysPerMinute: UNKNOWN_A_MINUTE
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a flood of API keys nobody has", (it) => {
  it.effect("costs a bounded number of look-ups, and keeps out no key that is known", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const many = yield* Effect.forEach(Array.from({ length: UNKNOWN_A_MINUTE + 5 }), () =>
        gateway.customer("1")
      )
      const [{ key: known } = { key: "" }] = many
      const late = yield* gateway.customer("1")
      const lookUps = yield* countLookUps

      // Keys of customers use nothing up, however many come from one address.
      for (const { key } of many) {
        assert.strictEqual((yield* gateway.call("/v1/balance", { key })).status, 200)
      }
      assert.strictEqual(yield* lookUps, many.length)

      // The same one again is remembered.
      const again = Array.from({ length: 50 }, () => madeUp(0))
      for (const key of again) {
        assert.strictEqual((yield* gateway.call("/v1/balance", { key })).status, 401)
      }
      assert.strictEqual(yield* lookUps, many.length + 1)

      const flood = Effect.forEach(
        Array.from({ length: 400 }, (_, index) => madeUp(index + 1)),
        (key, index) =>
          // The general way and the short one.
          index % 2 === 0
            ? gateway.call("/v1/models", { key })
            : gateway.call("/v1/images/generations", { key, json: { model: "paint-1" } }),
        { concurrency: 32 }
      )
      const served = Effect.forEach(
        Array.from({ length: 40 }),
        () => gateway.call("/v1/models", { key: known }),
        { concurrency: 2 }
      )
      const [took, [floods, others]] = yield* Effect.timed(
        Effect.all([flood, served], { concurrency: "unbounded" })
      )
      assert.deepStrictEqual([...new Set(others.map(({ status }) => status))], [200])
      const refused = floods.filter(({ status }) => status === 401)
      const limited = floods.filter(({ status }) => status !== 401)
      const refilled = Math.ceil(Duration.toSeconds(took) / (60 / UNKNOWN_A_MINUTE))
      assert.isAtMost(refused.length, UNKNOWN_A_MINUTE + refilled)
      assert.strictEqual(yield* lookUps, many.length + 1 + refused.length)
      for (const { status, text, headers } of limited) {
        assert.strictEqual(status, 429, text)
        assert.include(text, '"rate_limited"')
        assert.isAtLeast(Number(headers.get("retry-after")), 1)
        assert.isNull(headers.get("x-ratelimit-limit-requests"))
      }

      // A customer whose key is not known here yet gets in from another address at once.
      const balance = requestText("/v1/balance", { key: late.key })
      const elsewhere = yield* rawRequest(gateway.url, [balance], { from: otherAddress })
      assert.strictEqual(elsewhere?.status, 200, elsewhere?.body)
      const now = yield* gateway.call("/v1/balance", { key: late.key })
      assert.strictEqual(now.status, 200, now.text)
    })
  )
})
