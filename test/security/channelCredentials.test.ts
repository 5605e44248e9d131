/** Keys of channels at rest: bound to their channel and to the master key, and never read back. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../../src/runtime/Changes.ts"
import { databaseText } from "../support/databaseText.ts"
import { Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"
import { orderImages, orderVideo } from "../support/orders.ts"

/** The catalog with its keys, which seals them again. */
const restored = Effect.map(Gateway, ({ simulator }) => testCatalog(simulator.url))

/** Changes rows as anyone who can write to the database could. */
const tamper = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { changeAndNotify } = yield* Changes
    yield* changeAndNotify("catalog", Effect.orDie(statement(sql)))
  })

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "keys of channels",
  (it) => {
    it.effect.each([
      ["base_url", "https://vendor.example:0"],
      ["base_url", "https://[::1"],
      ["app_id", "应用"]
    ] as const)(
      "stored under other rules keep no catalog from being read: %s %s",
      ([field, value]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const json = yield* restored
          yield* gateway.admin("/catalog", { method: "PUT", json })
          const who = yield* gateway.customer("100")
          yield* tamper((sql) =>
            Effect.all([
              sql`
              INSERT INTO catalog_versions (version, document)
              SELECT version + 1, jsonb_set(document, ARRAY['channels', (n.at - 1)::text, ${field}],
                                            to_jsonb(${value}::text))
                FROM catalog_versions,
                     jsonb_array_elements(document -> 'channels') WITH ORDINALITY AS n (channel, at)
               WHERE n.channel ->> 'id' = 'ch-i'
               ORDER BY version DESC LIMIT 1`,
              sql`UPDATE channel_accounts SET ${sql(field)} = ${value} WHERE channel_id = 'ch-i'`
            ])
          )
          const read = yield* gateway.admin("/catalog")
          assert.strictEqual(read.status, 200, read.text)
          assert.include(read.text, value)
          const answer = yield* orderImages(who, { model: "paint-1" })
          if (field === "base_url") assert.include([502, 503], answer.status, answer.text)
          assert.strictEqual((yield* orderVideo(who, { model: "film-1" })).status, 200)
          yield* gateway.admin("/catalog", { method: "PUT", json })
          yield* gateway.verify
        })
    )

    it.effect("open under their own channel alone, whole and unchanged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const film = orderVideo(who, { model: "film-1" })
        const paint = orderImages(who, { model: "paint-1" })
        assert.strictEqual((yield* film).status, 200)
        assert.strictEqual((yield* paint).status, 200)
        const accepted = Effect.map(
          gateway.simulator.book,
          (book) => book.filter(({ event }) => event === "accepted").length
        )
        const before = yield* accepted

        // Otherwise the key of one vendor could be sent to another.
        yield* tamper(
          (sql) => sql`
            UPDATE channel_keys a
               SET sealed_api_key = b.sealed_api_key, key_id = b.key_id
              FROM channel_keys b
             WHERE (a.channel_id, b.channel_id) IN (('ch-a', 'ch-i'), ('ch-i', 'ch-a'))`
        )
        for (const order of [film, paint]) {
          const answer = yield* order
          assert.strictEqual(answer.status, 503, answer.text)
          assert.deepNestedInclude(answer.body, { "error.code": "channel_unavailable" })
        }

        // A bit that changed is noticed, and so is another master key.
        for (const statement of [
          (sql: SqlClient.SqlClient) =>
            sql`UPDATE channel_keys SET sealed_api_key =
                  set_byte(sealed_api_key, 15, get_byte(sealed_api_key, 15) # 1)`,
          (sql: SqlClient.SqlClient) => sql`UPDATE channel_keys SET key_id = '0000000000000000'`,
          (sql: SqlClient.SqlClient) => sql`UPDATE channel_keys SET sealed_api_key = '\\x00'`
        ]) {
          yield* gateway.admin("/catalog", {
            method: "PUT",
            json: yield* restored
          })
          assert.strictEqual((yield* paint).status, 200)
          yield* tamper(statement)
          assert.strictEqual((yield* paint).status, 503)
        }
        // One order for each time the keys were whole.
        assert.strictEqual((yield* accepted) - before, 3)
        yield* gateway.verify
      })
    )

    it.effect("are the same in the database twice only by chance, and readable nowhere", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const sealed = Effect.map(
          sql`SELECT encode(sealed_api_key, 'hex') AS sealed FROM channel_keys
               WHERE channel_id = 'ch-a'`,
          ([row]) => JSON.stringify(row)
        )
        yield* gateway.admin("/catalog", { method: "PUT", json: yield* restored })
        const first = yield* sealed
        yield* gateway.admin("/catalog", { method: "PUT", json: yield* restored })
        assert.notStrictEqual(yield* sealed, first)
        const text = yield* databaseText
        for (const secret of ["vendor-key-a", Buffer.from("vendor-key-a").toString("hex")]) {
          assert.notInclude(text, secret)
          assert.notInclude((yield* gateway.admin("/catalog")).text, secret)
        }
      })
    )
  }
)
