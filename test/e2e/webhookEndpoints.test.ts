/** Endpoints of webhooks are managed by the `openai` package, and by operators. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { openaiOf } from "../support/officialClients.ts"
import { errorOf } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { create, EndpointBody, images, verified, webhookSettings } from "../support/webhooks.ts"

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, webhookSettings), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`endpoints of webhooks (${kind})`, (it) => {
    it.effect("the package of OpenAI manages endpoints by its own methods", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver()
        const { webhooks } = yield* openaiOf(who, { maxRetries: 0 })
        const types = yield* Effect.promise(() => webhooks.eventTypes.list())
        assert.includeMembers(types.data, ["video.completed", "image.failed", "balance.low"])
        const made = yield* Effect.promise(() =>
          webhooks.create({
            name: "films",
            url: `${receiver.url}/one`,
            event_types: ["video.completed"]
          })
        )
        assert.match(made.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
        assert.isFalse(made.signing_secret_hint === made.signing_secret)
        const second = yield* Effect.promise(() =>
          webhooks.create({ name: "b", url: receiver.url, event_types: ["video.failed"] })
        )
        const listed: Array<string> = []
        yield* Effect.promise(async () => {
          for await (const one of webhooks.list({ limit: 1 })) listed.push(one.id)
        })
        assert.deepStrictEqual(listed, [second.id, made.id])
        const updated = yield* Effect.promise(() =>
          webhooks.update(made.id, { name: "movies", url: `${receiver.url}/two` })
        )
        assert.deepInclude(updated, { name: "movies", event_types: ["video.completed"] })
        const same = yield* Effect.promise(() => webhooks.retrieve(made.id))
        assert.deepStrictEqual(same, updated)
        assert.notProperty(same, "signing_secret")

        const tested = yield* Effect.promise(() =>
          webhooks.test(made.id, { event_type: "video.completed" })
        )
        assert.deepStrictEqual(
          { ...tested },
          {
            object: "webhook_endpoint.test",
            webhook_endpoint_id: made.id,
            event_type: "video.completed",
            success: true,
            status_code: 200
          }
        )
        const sample = receiver.received[0] ?? assert.fail("no sample came")
        assert.strictEqual(sample.path, "/two")
        verified(made.signing_secret, sample)

        const rotated = yield* Effect.promise(() =>
          webhooks.rotateSecret(made.id, { keep_old_secret_active_for_24_hours: true })
        )
        assert.notStrictEqual(rotated.signing_secret, made.signing_secret)
        yield* Effect.promise(() => webhooks.test(made.id, { event_type: "video.completed" }))
        const both = receiver.received[1] ?? assert.fail("no second sample came")
        verified(made.signing_secret, both)
        verified(rotated.signing_secret, both)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE webhook_endpoints SET old_secret_until = now() WHERE id = ${made.id}`
        yield* Effect.promise(() => webhooks.test(made.id, { event_type: "video.completed" }))
        const dayLater = receiver.received[2] ?? assert.fail("no sample came a day later")
        verified(rotated.signing_secret, dayLater)
        assert.throws(() => verified(made.signing_secret, dayLater))

        const last = yield* Effect.promise(() => webhooks.rotateSecret(made.id))
        yield* Effect.promise(() => webhooks.test(made.id, { event_type: "video.completed" }))
        const newest = receiver.received[3] ?? assert.fail("no fourth sample came")
        verified(last.signing_secret, newest)
        assert.throws(() => verified(rotated.signing_secret, newest))

        const deleted = yield* Effect.promise(() => webhooks.delete(made.id))
        assert.deepStrictEqual(
          { ...deleted },
          { id: made.id, object: "webhook_endpoint.deleted", deleted: true }
        )
        const missing = yield* gateway.call(`/v1/webhook_endpoints/${made.id}`, { key: who.key })
        assert.strictEqual(missing.status, 404)
      })
    )

    it.effect("operators are told of theirs, and manage every organisation's", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const receiver = yield* makeReceiver()
        const made = yield* gateway.admin("/webhook_endpoints", {
          json: {
            name: "operators",
            url: `${receiver.url}/operators`,
            event_types: ["orphan.created", "channel.down", "channel.up"]
          }
        })
        assert.strictEqual(made.status, 200, made.text)
        const { id, signing_secret } = yield* bodyAs(EndpointBody, made)
        const lost = yield* images(who, { prompt: "x sim:lost" })
        const [told] = yield* receiver.awaited(
          1,
          ({ body }) => body.type === "orphan.created" && body.data.id === lost
        )
        if (told === undefined) throw new Error("no orphan was told")
        verified(signing_secret, told)
        assert.deepInclude(told.body.data, {
          organization_id: who.organizationId,
          channel: "ch-i"
        })
        yield* gateway.admin(`/webhook_endpoints/${id}`, { method: "DELETE" })

        const theirs = yield* gateway.admin("/webhook_endpoints", {
          json: {
            name: "theirs",
            url: receiver.url,
            event_types: ["image.completed"],
            organization_id: who.organizationId
          }
        })
        const { id: other } = yield* bodyAs(EndpointBody, theirs)
        const seen = yield* gateway.call(`/v1/webhook_endpoints/${other}`, { key: who.key })
        assert.strictEqual(seen.status, 200)
        const listed = yield* gateway.admin(
          `/webhook_endpoints?organization_id=${who.organizationId}`
        )
        assert.deepInclude(listed.body, { first_id: other, last_id: other, has_more: false })
      })
    )

    it.effect("nonsense is refused by the field that has it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const good = { name: "a", url: "https://example.com/", event_types: ["video.failed"] }
        const refusedBy = Effect.fnUntraced(function* (json: object) {
          const answer = yield* gateway.call("/v1/webhook_endpoints", { key: who.key, json })
          assert.strictEqual(answer.status, 400, answer.text)
          return (yield* errorOf(answer)).param
        })
        assert.strictEqual(yield* refusedBy({ ...good, url: "no url" }), "url")
        assert.strictEqual(yield* refusedBy({ ...good, url: "ftp://example.com/" }), "url")
        assert.strictEqual(yield* refusedBy({ ...good, event_types: [] }), "event_types")
        assert.strictEqual(
          yield* refusedBy({ ...good, event_types: ["batch.completed"] }),
          "event_types[0]"
        )
        assert.strictEqual(yield* refusedBy({ ...good, naem: "a" }), "naem")
        const { id } = yield* create(who, good.url, good.event_types)
        const both = yield* gateway.call(`/v1/webhook_endpoints/${id}/redeliver`, {
          key: who.key,
          json: {}
        })
        assert.strictEqual((yield* errorOf(both)).param, "delivery_id")
        for (const [json, param] of [
          [{ model: "paint-1", prompt: "x", callback_url: "https://example.com" }, "callback_url"],
          [{ model: "paint-1", prompt: "x", callback_url: 7 }, "callback_url"]
        ] as const) {
          const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json })
          assert.strictEqual((yield* errorOf(answer)).param, param)
        }
        const video = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "x", callback_url: "ftp://example.com" }
        })
        assert.strictEqual((yield* errorOf(video)).param, "callback_url")
        const narrow = yield* gateway.customer("1", { key: { scopes: ["images"] } })
        const closed = yield* gateway.call("/v1/webhook_endpoints", { key: narrow.key })
        assert.strictEqual((yield* errorOf(closed)).code, "permission_denied")
      })
    )
  })
}
