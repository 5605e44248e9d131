/** API keys: kept as a hash alone, shown once, and every wrong one refused alike. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SLOW_WAITS } from "../../src/http/server/access/keyLookUps.ts"
import { formatToken } from "../../src/services/bearerTokens.ts"
import { withoutConnections } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const Key = Schema.Struct({ id: Schema.String, key: Schema.String })

/** Well formed, so that only the database can tell that nobody has it. */
const keyNobodyHas = (byte: number) =>
  Redacted.value(formatToken("mg_", new Uint8Array(32).fill(byte)))
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

/** Which of the answers a header gets: the one without a key, of another scheme, or of an unknown key. */
const formOf = (header: string) => {
  if (/^(?:Bearer)? *$/.test(header)) return "none"
  return header.startsWith("Bearer ") ? "unknown" : "other"
}

const REQUEST_ID = /req_[0-9a-f-]{36}/g

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "API keys",
  (it) => {
    it.effect("are refused by the form of the header alone, before the key is looked up", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const headers = malformed(key)
        const references = { none: null, other: "Basic x", unknown: `Bearer ${unknownKey}` }
        assert.isAtLeast(headers.length, 40)
        const answers = yield* Effect.forEach(
          [...Object.values(references), ...headers],
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
        const [none, other, unknown, ...others] = answers
        const texts = [none, other, unknown].map((answer) => answer?.text ?? "")
        assert.strictEqual(new Set(texts).size, texts.length)
        for (const text of texts) assert.include(text, "invalid_api_key")
        for (const { header, status, text } of others) {
          const reference = { none, other, unknown }[formOf(header ?? "")]
          assert.deepEqual([status, text], [401, reference?.text], header ?? "")
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

const otherAddress = "127.0.0.2"

/** A key with a right checksum that nobody has. */
const keyNumbered = (seed: number) => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, seed)
  return Redacted.value(formatToken("mg_", bytes))
}

/**
 * Holds up every look-up of a key as long as `blocked` runs, which gets what counts those that wait in
 * the database meanwhile.
 */
const withLookUpsHeld = <A, E, R>(
  blocked: (underWay: Effect.Effect<number, never, SqlClient.SqlClient>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const Count = Schema.Struct({ count: Schema.Int })
    const underWay = Effect.gen(function* () {
      const [row] = yield* sql`
        SELECT count(*)::int AS count FROM pg_locks
         WHERE relation = 'api_keys'::regclass AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      return (yield* Schema.decodeUnknownEffect(Count)(row)).count
    }).pipe(Effect.orDie)
    return yield* sql.withTransaction(
      Effect.andThen(sql`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`, blocked(underWay))
    )
  })

const balanceWith = (key: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call("/v1/balance", { key }))

/** Waits until the gateway has so many requests under way, beside the one that asks for it. */
const inFlight = (count: number) =>
  Effect.flatMap(Gateway, (gateway) =>
    Effect.repeat(gateway.metrics, {
      until: ({ text }) => text.includes(`\ngateway_http_requests_in_flight ${count + 1}\n`)
    })
  )

layer(
  layerTestGateway("postgres", {
    ...quickSettings,
    // A crowded machine may not hear of changes for a while, and look known keys up again.
    unheardCacheSeconds: quickSettings.cacheSeconds,
    addressUnknownKeysPerMinute: 1
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a flood of API keys", (it) => {
  it.effect("of customers is let in, the same key many times and many keys", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1")
      const others = yield* Effect.forEach(Array.from({ length: 20 }), () => gateway.customer("1"))
      const keys = [...Array.from({ length: 200 }, () => key), ...others.map((who) => who.key)]
      const answers = yield* Effect.forEach(keys, balanceWith, { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    })
  )

  it.effect("nobody has is looked up slowly, and keeps out no key of a customer", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const [known, late, elsewhere] = [
        yield* gateway.customer("1"),
        yield* gateway.customer("1"),
        yield* gateway.customer("1")
      ]
      assert.strictEqual((yield* balanceWith(known.key)).status, 200)
      const madeUp = (from: number, count: number) =>
        Array.from({ length: count }, (_, index) => keyNumbered(from + index))
      const limited: Array<HttpAnswer> = []
      const ask = (key: string) =>
        Effect.tap(balanceWith(key), (answer) =>
          Effect.sync(() => {
            if (answer.status === 429) limited.push(answer)
          })
        )
      const flood = (keys: ReadonlyArray<string>) =>
        Effect.forkChild(Effect.forEach(keys, ask, { concurrency: "unbounded" }))

      const first = yield* withLookUpsHeld((underWay) =>
        Effect.gen(function* () {
          const asked = yield* flood(madeUp(0, 40))
          const atOnce = yield* Effect.repeat(underWay, { until: (count) => count > 1 })
          assert.isAtMost(atOnce, 8)
          yield* inFlight(40)
          assert.isAtMost(yield* underWay, 8)
          return asked
        })
      )
      yield* Fiber.join(first)
      assert.strictEqual(limited.length, 0)

      const [early, customer, more] = yield* withLookUpsHeld((underWay) =>
        Effect.gen(function* () {
          const before = yield* flood(madeUp(100, 20))
          yield* Effect.repeat(underWay, { until: (count) => count > 0 })
          const waiting = yield* Effect.forkChild(balanceWith(late.key))
          yield* inFlight(21)
          const after = yield* flood(madeUp(200, 2 * SLOW_WAITS))
          yield* Effect.repeat(
            Effect.tap(underWay, (count) => Effect.sync(() => assert.isAtMost(count, 1))),
            { until: () => limited.length > 0 }
          )
          assert.strictEqual((yield* balanceWith(known.key)).status, 200)
          return [before, waiting, after] as const
        })
      )
      const answer = yield* Fiber.join(customer)
      assert.strictEqual(answer.status, 200, answer.text)
      yield* Fiber.joinAll([early, more])
      for (const { text, headers } of limited) {
        assert.include(text, '"rate_limited"')
        assert.isAtLeast(Number(headers.get("retry-after")), 1)
        assert.isNull(headers.get("x-ratelimit-limit-requests"))
      }

      const balance = requestText("/v1/balance", { key: elsewhere.key })
      const other = yield* rawRequest(gateway.url, [balance], { from: otherAddress })
      assert.strictEqual(other?.status, 200, other?.body)
    })
  )
})
