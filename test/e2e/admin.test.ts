import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway, testCatalog } from "../support/gateway.ts"

const Replaced = Schema.Struct({
  version: Schema.Int,
  changes: Schema.Struct({
    channels: Schema.Unknown,
    models: Schema.Unknown,
    mounts: Schema.Unknown
  }),
  warnings: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
})

const Faulty = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Literal("invalid_request"),
    param: Schema.NullOr(Schema.String),
    faults: Schema.optionalKey(
      Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
    )
  })
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `administration (${kind})`,
    (it) => {
      it.effect("the catalog never shows a channel's key, and a write without one keeps it", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const catalog = testCatalog(gateway.simulator.url)
          const read = yield* gateway.admin("/catalog")
          assert.notInclude(read.text, "api_key")
          assert.notInclude(read.text, "vendor-key-a")
          const answer = yield* gateway.admin("/catalog", { method: "PUT", body: read.text })
          const same = yield* bodyAs(Replaced, answer)
          assert.deepEqual(same.changes, {
            channels: { added: [], changed: [], removed: [] },
            models: { added: [], changed: [], removed: [] },
            mounts: { added: [], changed: [], removed: [] }
          })
          assert.deepInclude(same.warnings, {
            path: "channels[4].api_key",
            message: "no key is stored for this channel"
          })
          const who = yield* gateway.customer("10")
          const order = { model: "film-1", prompt: "x" }
          const made = yield* gateway.call("/v1/videos/generations", { key: who.key, json: order })
          assert.strictEqual(made.status, 200, made.text)
          yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
        })
      )

      it.effect("a replacement says what changed, and counts at once", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const catalog = testCatalog(gateway.simulator.url)
          const who = yield* gateway.customer("10")
          const paint = catalog.models.find((model) => model.id === "paint-1")
          const changed = {
            ...catalog,
            models: [
              ...catalog.models.filter((model) => !["paint-1", "talk-1"].includes(model.id)),
              { ...paint, prices: { kind: "image", per_image: "0.3" } },
              { id: "talk-2", modality: "chat", protocol: "openai" }
            ]
          }
          const answer = yield* gateway.admin("/catalog", { method: "PUT", json: changed })
          const replaced = yield* bodyAs(Replaced, answer)
          assert.deepInclude(replaced.changes, {
            models: { added: ["talk-2"], changed: ["paint-1"], removed: ["talk-1"] }
          })
          yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: "x" }
          })
          assert.strictEqual((yield* gateway.balance(who)).balance, "9.7")
          yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
        })
      )

      it.effect(
        "a catalog that contradicts itself is refused whole, with every fault by path",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const catalog = testCatalog(gateway.simulator.url)
            const before = (yield* gateway.admin("/catalog")).text
            const answer = yield* gateway.admin("/catalog", {
              method: "PUT",
              json: {
                ...catalog,
                mounts: [
                  ...catalog.mounts,
                  { model: "ghost", channel: "nowhere" },
                  { model: "film-1", channel: "ch-a" }
                ]
              }
            })
            assert.strictEqual(answer.status, 400)
            const { error } = yield* bodyAs(Faulty, answer)
            const last = catalog.mounts.length
            assert.deepEqual(
              error.faults?.map((fault) => fault.path),
              [`mounts[${last}].model`, `mounts[${last}].channel`, `mounts[${last + 1}]`]
            )
            assert.strictEqual((yield* gateway.admin("/catalog")).text, before)
          })
      )

      it.effect("prices that would not be exact and unknown fields are refused by path", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const answer = yield* gateway.admin("/catalog", {
            method: "PUT",
            json: {
              channels: [{ id: "c", name: "C", base_url: "ftp://x", speed: 9 }],
              models: [
                {
                  id: "m",
                  modality: "video",
                  protocol: "vp_a",
                  prices: {
                    kind: "token_video",
                    per_million_tokens: { base: { without_video: "46.0001" } }
                  }
                },
                {
                  id: "p",
                  modality: "image",
                  protocol: "ip_a",
                  prices: { kind: "image", per_image: "0" }
                }
              ],
              mounts: []
            }
          })
          assert.strictEqual(answer.status, 400, answer.text)
          const { error } = yield* bodyAs(Faulty, answer)
          const paths = error.faults?.map((fault) => fault.path) ?? []
          assert.includeMembers(paths, [
            "channels[0].base_url",
            "channels[0].speed",
            "models[0].prices.per_million_tokens.base.without_video",
            "models[1].prices.per_image"
          ])
        })
      )

      it.effect(
        "a channel that cannot be called is refused by path, and its key told to no one",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const put = (...channels: ReadonlyArray<object>) =>
              gateway.admin("/catalog", {
                method: "PUT",
                json: {
                  channels: channels.map((channel, index) => ({
                    id: `c${index}`,
                    name: "C",
                    ...channel
                  })),
                  models: [],
                  mounts: []
                }
              })
            const before = (yield* gateway.admin("/catalog")).text
            const unusable = yield* put(
              { base_url: "http://a.test", api_key: "secret-1\r\nx: y" },
              { base_url: "http://a.test", api_key: "geheim-密钥" },
              { base_url: "http://a.test", app_id: " app" },
              { base_url: "http://a.test:0" }
            )
            assert.strictEqual(unusable.status, 400, unusable.text)
            assert.deepEqual(
              (yield* bodyAs(Faulty, unusable)).error.faults?.map(({ path }) => path),
              [
                "channels[0].api_key",
                "channels[1].api_key",
                "channels[2].app_id",
                "channels[3].base_url"
              ]
            )
            assert.notMatch(unusable.text, /secret-1|geheim/)
            const linkLocal = { base_url: "http://2852039166/latest" }
            const unallowed = yield* put({ base_url: "http://10.0.0.1" }, linkLocal)
            assert.strictEqual(unallowed.status, 400, unallowed.text)
            assert.deepEqual(
              (yield* bodyAs(Faulty, unallowed)).error.faults?.map(({ path }) => path),
              ["channels[1].base_url"]
            )
            assert.strictEqual((yield* gateway.admin("/catalog")).text, before)
            const allowed = { ...linkLocal, allow_private: true }
            assert.strictEqual((yield* put(allowed)).status, 200)
            const read = yield* gateway.admin("/catalog")
            assert.deepNestedInclude(read.body, { "channels[0].allow_private": true })
            const restored = yield* gateway.admin("/catalog", { method: "PUT", body: before })
            assert.strictEqual(restored.status, 200, restored.text)
          })
      )

      it.effect("no key of a channel or a member can be read in the database", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const sql = yield* SqlClient.SqlClient
          const rows = yield* sql`
            SELECT (SELECT string_agg(c::text, ' ') FROM channel_keys c) AS channels,
                   (SELECT string_agg(k::text, ' ') FROM api_keys k) AS keys,
                   (SELECT string_agg(v::text, ' ') FROM catalog_versions v) AS versions`
          const dump = JSON.stringify(rows)
          assert.include(dump, "ch-a")
          for (const secret of ["vendor-key-a", who.key, who.key.slice(3, 40)]) {
            assert.notInclude(dump, secret)
            assert.notInclude(dump, Buffer.from(secret).toString("hex"))
          }
        })
      )

      it.effect("keys: scopes, models and expiry bind, revocation ends them", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const reader = yield* gateway.customer("10", { key: { scopes: ["models"] } })
          assert.strictEqual((yield* gateway.call("/v1/models", { key: reader.key })).status, 200)
          const denied = yield* gateway.call("/v1/balance", { key: reader.key })
          assert.strictEqual(denied.status, 403)
          assert.deepNestedInclude(denied.body, { "error.code": "permission_denied" })

          const painter = yield* gateway.customer("10", { key: { models: ["paint-1"] } })
          const film = { model: "film-1", prompt: "x" }
          const other = yield* gateway.call("/v1/videos/generations", {
            key: painter.key,
            json: film
          })
          assert.strictEqual(other.status, 403)
          const listed = yield* gateway.call("/v1/models", { key: painter.key })
          assert.deepEqual(listed.text.match(/"id":"[^"]*"/g), ['"id":"paint-1"'])

          const expired = yield* gateway.customer("10", {
            key: { expires_at: "2020-01-01T00:00:00Z" }
          })
          assert.strictEqual((yield* gateway.call("/v1/models", { key: expired.key })).status, 401)

          const made = yield* gateway.admin(`/members/${reader.memberId}/keys`, {
            json: { name: "second" }
          })
          const { id, key } = yield* bodyAs(
            Schema.Struct({ id: Schema.String, key: Schema.String }),
            made
          )
          assert.strictEqual((yield* gateway.call("/v1/balance", { key })).status, 200)
          const revoked = yield* gateway.admin(`/keys/${id}`, { method: "DELETE" })
          assert.strictEqual(revoked.status, 200)
          assert.strictEqual((yield* gateway.call("/v1/balance", { key })).status, 401)
        })
      )

      it.effect("unknown organisations, members and keys are not found", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const answers = [
            yield* gateway.admin("/organizations/org_none"),
            yield* gateway.admin("/organizations/org_none/ledger"),
            yield* gateway.admin("/organizations/org_none/usage"),
            yield* gateway.admin("/organizations/org_none/members", { json: { name: "x" } }),
            yield* gateway.admin("/organizations/org_none/deposits", {
              json: { amount: "1", reference: "r" }
            }),
            yield* gateway.admin("/members/mem_none/keys", { json: { name: "x" } }),
            yield* gateway.admin("/keys/key_none", { method: "DELETE" })
          ]
          assert.deepEqual(
            answers.map((answer) => answer.status),
            answers.map(() => 404)
          )
        })
      )

      it.effect("a customer's key opens nothing here, and neither does a wrong token", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          for (const key of [who.key, "wrong", ""]) {
            const answer = yield* gateway.call("/admin/v1/catalog", { key })
            assert.strictEqual(answer.status, 401)
            assert.deepNestedInclude(answer.body, { "error.code": "invalid_api_key" })
          }
        })
      )

      it.effect("models are listed with what can be ordered, and filtered by both names", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const all = yield* gateway.call("/v1/models", { key: who.key })
          const Models = Schema.Struct({
            object: Schema.Literal("list"),
            data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
          })
          const { data } = yield* bodyAs(Models, all)
          const film = data.find((model) => model.id === "film-1")
          assert.deepInclude(film, {
            object: "model",
            modality: "video",
            input_forms: ["text", "image"],
            durations: { min: 5, max: 15, default: 5, smart: false },
            resolutions: ["480p", "720p", "1080p", "4K"]
          })
          assert.isNumber(film?.created)
          assert.isString(film?.owned_by)
          const ids = (text: string) => text.match(/"id":"[^"]*"/g)
          const long = yield* gateway.call("/v1/models?modality=chat", { key: who.key })
          const short = yield* gateway.call("/v1/models?modality=language", { key: who.key })
          assert.deepEqual(ids(long.text), ['"id":"talk-1"'])
          assert.deepEqual(ids(short.text), ids(long.text))
        })
      )
    }
  )
}
