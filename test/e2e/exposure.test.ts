/** What a pool may come to owe, as clients and operators see it. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { textCatalog } from "../support/textCatalog.ts"

const REMOTE = "https://files.test/in.mp4"
const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    required: Schema.optionalKey(Schema.String),
    available: Schema.optionalKey(Schema.String)
  })
})
const Quoted = Schema.Struct({
  hold: Schema.String,
  exposure: Schema.optionalKey(Schema.String),
  exposure_reason: Schema.optionalKey(Schema.String),
  affordable: Schema.Struct({ pool: Schema.Boolean })
})
const Pool = Schema.Struct({
  balance: Schema.String,
  held: Schema.String,
  exposure: Schema.String,
  credit: Schema.String
})
const Orphans = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, reason: Schema.String, usage: Schema.Unknown })
  )
})
const Id = Schema.Struct({ id: Schema.String })

/** A vendor of videos and texts that counts what it likes; a video of no tokens is never done. */
const countingVendor = (counts: { readonly video: number; readonly text: number }) =>
  brokenVendor((request) => {
    if (request.target.includes("chat")) {
      const message = { role: "assistant", content: "It is a lighthouse at dusk." }
      const usage = { prompt_tokens: counts.text, completion_tokens: counts.text }
      return { body: { id: "c-1", choices: [{ index: 0, message }], usage } }
    }
    return {
      body:
        request.method === "POST"
          ? { id: `job-${Math.random()}` }
          : {
              id: "job",
              status: counts.video === 0 ? "running" : "succeeded",
              content: { video_url: "https://files.test/o.mp4" },
              usage: { completion_tokens: counts.video }
            }
    }
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `what a pool may come to owe (${kind})`,
    (it) => {
      /** Has every model called at a vendor that counts like this. */
      const countedAs = Effect.fnUntraced(function* (counts: {
        readonly video: number
        readonly text: number
      }) {
        const gateway = yield* Gateway
        const vendor = yield* countingVendor(counts)
        const catalog = textCatalog()(gateway.simulator.url)
        const channels = catalog.channels.map((one) => ({ ...one, base_url: vendor.url }))
        yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
        const ask = (key: string, path: string, json: object) => gateway.call(path, { key, json })
        const pool = (key: string) =>
          Effect.flatMap(gateway.call("/v1/balance", { key }), (answer) => bodyAs(Pool, answer))
        const orphanOf = Effect.fnUntraced(function* (organizationId: string) {
          const query = `?organization_id=${organizationId}`
          const { data } = yield* bodyAs(Orphans, yield* gateway.admin(`/orphans${query}`))
          return data.map(({ reason, usage }) => ({ reason, usage }))
        })
        return { gateway, ask, pool, orphanOf }
      })
      const film = { model: "film-1", prompt: "x", video_url: REMOTE }
      const chat = (content: unknown) => ({
        model: "talk-1",
        max_tokens: 100,
        messages: [{ role: "user", content }]
      })

      it.effect("a pool of 50 takes four videos after a remote film, and no further order", () =>
        Effect.gen(function* () {
          const { gateway, ask, pool } = yield* countedAs({ video: 1_400_000, text: 1 })
          const who = yield* gateway.customer("50")
          const quote = yield* bodyAs(Quoted, yield* ask(who.key, "/v1/quotes", film))
          assert.deepInclude(quote, { hold: "5.4432", exposure: "13.3056" })
          assert.include(quote.exposure_reason, "length of a reference video")
          const plain = { model: "film-1", prompt: "x" }
          const determined = yield* bodyAs(Quoted, yield* ask(who.key, "/v1/quotes", plain))
          assert.notProperty(determined, "exposure")
          const answers = yield* Effect.all(
            Array.from({ length: 9 }, () => ask(who.key, "/v1/videos/generations", film)),
            { concurrency: "unbounded" }
          )
          const taken = answers.filter(({ status }) => status === 200)
          assert.strictEqual(taken.length, 4)
          const refused = answers.find(({ status }) => status === 402)
          assert.isDefined(refused)
          if (refused === undefined) return
          const { error } = yield* bodyAs(ErrorBody, refused)
          assert.strictEqual(error.code, "insufficient_balance")
          assert.strictEqual(error.required, "5.4432")
          for (const answer of taken) {
            const { id } = yield* bodyAs(Id, answer)
            yield* gateway.call(`/v1/videos/${id}?wait=15`, { key: who.key })
          }
          assert.deepInclude(yield* pool(who.key), {
            balance: "-3.2224",
            held: "0",
            exposure: "0",
            credit: "0"
          })
          yield* gateway.verify
        })
      )

      it.effect("credit is as far as exposures may take the pool, and nothing is held on it", () =>
        Effect.gen(function* () {
          const { gateway, ask, pool } = yield* countedAs({ video: 0, text: 1 })
          const who = yield* gateway.customer("15")
          const path = `/organizations/${who.organizationId}`
          const order = () =>
            Effect.map(ask(who.key, "/v1/videos/generations", film), ({ status }) => status)
          assert.strictEqual(yield* order(), 200)
          assert.strictEqual(yield* order(), 402)
          const quote = yield* bodyAs(Quoted, yield* ask(who.key, "/v1/quotes", film))
          assert.isFalse(quote.affordable.pool)
          const wrong = yield* gateway.admin(path, { method: "PATCH", json: { credit: "-1" } })
          assert.strictEqual(wrong.status, 400)
          const set = yield* gateway.admin(path, { method: "PATCH", json: { credit: "12" } })
          assert.deepInclude(yield* bodyAs(Pool, set), { credit: "12", exposure: "13.3056" })
          assert.strictEqual(yield* order(), 200)
          assert.deepInclude(yield* pool(who.key), { held: "10.8864", exposure: "26.6112" })
          // Its hold does not fit, whatever the credit.
          yield* gateway.admin(path, { method: "PATCH", json: { credit: "1000" } })
          assert.strictEqual(yield* order(), 402)
          const read = yield* bodyAs(Pool, yield* gateway.admin(path))
          assert.deepInclude(read, { credit: "1000", held: "10.8864" })
        })
      )

      it.effect("a model's own limits decide, and are told with the model", () =>
        Effect.gen(function* () {
          const { gateway, ask } = yield* countedAs({ video: 0, text: 1 })
          const catalog = textCatalog()(gateway.simulator.url)
          const limits: Readonly<Record<string, object>> = {
            "film-1": { input_video_seconds: 60 },
            "talk-1": { input_tokens: 20_000 }
          }
          const put = (more: object) =>
            gateway.admin("/catalog", {
              method: "PUT",
              json: {
                ...catalog,
                models: catalog.models.map((model) => {
                  const own = limits[model.id]
                  return own === undefined ? model : { ...model, limits: { ...own, ...more } }
                })
              }
            })
          const wrong = yield* put({ seconds: 3 })
          assert.strictEqual(wrong.status, 400)
          assert.include(wrong.text, "limits.seconds")
          assert.strictEqual((yield* put({})).status, 200)
          const who = yield* gateway.customer("100")
          const quote = yield* bodyAs(Quoted, yield* ask(who.key, "/v1/quotes", film))
          // 65 seconds and a tenth.
          assert.deepInclude(quote, { hold: "5.4432", exposure: "43.2432" })
          const filmed = chat([{ type: "video_url", video_url: { url: REMOTE } }])
          const text = yield* bodyAs(Quoted, yield* ask(who.key, "/v1/quotes", filmed))
          assert.strictEqual(text.hold, "0.0408")
          const model = yield* gateway.call("/v1/models/film-1", { key: who.key })
          assert.deepNestedInclude(model.body, { limits: { input_video_seconds: 60 } })
        })
      )

      it.effect("a pool of 0.5 takes no chat with a film by address", () =>
        Effect.gen(function* () {
          const { gateway, ask, pool } = yield* countedAs({ video: 1, text: 1_000_000 })
          const who = yield* gateway.customer("0.5")
          const filmed = chat([
            { type: "text", text: "What is it?" },
            { type: "video_url", video_url: { url: REMOTE } }
          ])
          const answers = yield* Effect.all(
            Array.from({ length: 5 }, () => ask(who.key, "/v1/chat/completions", filmed)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            answers.map(({ status }) => status),
            [402, 402, 402, 402, 402]
          )
          assert.deepInclude(yield* pool(who.key), { balance: "0.5", held: "0" })
        })
      )

      it.effect("9.9M tokens for a text of 40 bytes are charged at the most there can be", () =>
        Effect.gen(function* () {
          const { gateway, ask, pool, orphanOf } = yield* countedAs({ video: 1, text: 9_900_000 })
          const who = yield* gateway.customer("10")
          const answer = yield* ask(who.key, "/v1/chat/completions", chat("x".repeat(40)))
          assert.strictEqual(answer.status, 200, answer.text)
          // 1080 tokens in at 2 a million, and 116 out at 8.
          assert.deepInclude(yield* pool(who.key), { balance: "9.996912" })
          assert.deepStrictEqual(yield* orphanOf(who.organizationId), [
            {
              reason: "implausible_usage",
              usage: { input_tokens: 9_900_000, output_tokens: 9_900_000 }
            }
          ])
          yield* gateway.verify
        })
      )

      it.effect("1 token for a video of 108,900 is charged by the formula", () =>
        Effect.gen(function* () {
          const { gateway, ask, pool, orphanOf } = yield* countedAs({ video: 1, text: 1 })
          const who = yield* gateway.customer("10")
          const created = yield* ask(who.key, "/v1/videos/generations", {
            model: "film-1",
            prompt: "x"
          })
          const { id } = yield* bodyAs(Id, created)
          yield* gateway.call(`/v1/videos/${id}?wait=15`, { key: who.key })
          assert.deepInclude(yield* pool(who.key), { balance: "5.032" })
          assert.deepStrictEqual(yield* orphanOf(who.organizationId), [
            { reason: "implausible_usage", usage: { input_tokens: null, output_tokens: 1 } }
          ])
          yield* gateway.verify
        })
      )
    }
  )
}
