/** What clients note with their orders: kept with the usage, found by it, and kept from vendors. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo } from "../support/orders.ts"
import { textCatalog } from "../support/textCatalog.ts"

const note = { project: "canary-lighthouse", "cost centre": "=17" }

const orders = {
  "images/generations": { model: "paint-1", prompt: "x" },
  "chat/completions": { model: "talk-1", messages: [{ role: "user", content: "x" }] },
  embeddings: { model: "vector-1", input: "x" }
} as const

const post = (who: Customer, path: string, json: object) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(`/v1/${path}`, { key: who.key, json }))

const usage = (who: Customer, query = "") =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const answer = yield* gateway.call(`/v1/usage${query}`, { key: who.key })
    return (yield* bodyAs(list(UsageEntry), answer)).data
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`metadata (${kind})`, (it) => {
    it.effect("of every kind of order stands with its usage, and reaches no vendor", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const video = yield* createVideo(who, { model: "film-1", metadata: note })
        yield* finishVideo(who, video)
        for (const [path, json] of Object.entries(orders)) {
          const answer = yield* post(who, path, { ...json, metadata: note })
          assert.strictEqual(answer.status, 200, answer.text)
          yield* post(who, path, { ...json, metadata: null })
        }
        const streamed = { ...orders["chat/completions"], stream: true, metadata: note }
        yield* post(who, "chat/completions", streamed)
        const all = yield* usage(who)
        assert.lengthOf(all, 8)
        const found = yield* usage(who, "?tag=project=canary-lighthouse")
        assert.deepStrictEqual(
          found,
          all.filter(({ metadata }) => metadata.project !== undefined)
        )
        assert.deepStrictEqual(
          found.map(({ modality, metadata }) => [modality, metadata]),
          ["chat", "embedding", "chat", "image", "video"].map((modality) => [modality, note])
        )
        assert.lengthOf(yield* usage(who, `?tag=${encodeURIComponent("cost centre==17")}`), 5)
        assert.lengthOf(yield* usage(who, "?tag=project=other"), 0)
        const path = `/organizations/${who.organizationId}/usage?tag=project=canary-lighthouse`
        const operators = yield* gateway.admin(path)
        assert.include(operators.text, `"id":"us_${video}"`)
        const receipt = yield* gateway.call(`/v1/usage/us_${video}`, { key: who.key })
        assert.deepStrictEqual((yield* bodyAs(ReceiptView, receipt)).metadata, note)
        const csv = yield* gateway.call("/v1/usage?tag=project=canary-lighthouse&limit=2", {
          key: who.key,
          headers: { accept: "text/csv" }
        })
        // The following page is of the same tag.
        assert.match(csv.headers.get("link") ?? "", /tag=project%3Dcanary-lighthouse/)
        assert.include(csv.text, '"{""project"":""canary-lighthouse"",""cost centre"":""=17""}"')
        const sent = JSON.stringify(yield* gateway.simulator.requests)
        assert.notInclude(sent, "canary")
        assert.notInclude(JSON.stringify(yield* gateway.simulator.book), "canary")
        yield* gateway.verify
      })
    )

    it.effect("of a chat that its vendor stores is the vendor's as well", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const json = { ...orders["chat/completions"], store: true, metadata: note }
        assert.strictEqual((yield* post(who, "chat/completions", json)).status, 200)
        const [request] = (yield* gateway.simulator.requests).slice(-1)
        const Sent = Schema.Struct({ metadata: Schema.Record(Schema.String, Schema.String) })
        assert.deepStrictEqual(Schema.decodeUnknownSync(Sent)(request?.body).metadata, note)
      })
    )

    it.effect("has bounds, which an error tells by the field", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const pairs = (count: number) =>
          Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ""]))
        const most = { ["n".repeat(64)]: "v".repeat(512), ...pairs(15) }
        for (const [path, json] of Object.entries({ ...orders, "videos/generations": film })) {
          for (const [metadata, param] of [
            [pairs(17), "metadata"],
            [{ ["n".repeat(65)]: "x" }, "metadata"],
            [{ "": "x" }, "metadata"],
            [{ a: "v".repeat(513) }, "metadata.a"],
            [{ a: "\u0000" }, "metadata.a"],
            [{ a: 1 }, "metadata.a"],
            [["a"], "metadata"],
            ["a", "metadata"]
          ] as const) {
            const refused = yield* post(who, path, { ...json, metadata })
            assert.strictEqual(refused.status, 400, refused.text)
            assert.include((yield* errorOf(refused)).param ?? "", param, refused.text)
          }
          assert.strictEqual((yield* post(who, path, { ...json, metadata: most })).status, 200)
        }
        const wrong = yield* gateway.call("/v1/usage?tag=project", { key: who.key })
        assert.strictEqual((yield* errorOf(wrong)).param, "tag")
      })
    )
  })
}

const film = { model: "film-1", prompt: "x" }
