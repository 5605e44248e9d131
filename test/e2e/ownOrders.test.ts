/** A member's own orders over HTTP: all kinds of them, as they stand, and nobody else's. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TimelineView } from "../../src/features/history/HistoryApi.ts"
import { OwnOrderView } from "../../src/http/api/orderViews.ts"
import { list } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import {
  colleagueOf,
  createVideo,
  errorOf,
  finishVideo,
  orderImages,
  orderVideo
} from "../support/orders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

const Orders = Schema.Struct({ ...list(OwnOrderView).fields, next: Schema.NullOr(Schema.String) })
const Failed = Schema.Struct({
  attempts: TimelineView.fields.attempts,
  error: Schema.Struct({ code: Schema.String, message: Schema.String })
})

const listed = Effect.fnUntraced(function* (who: Customer, query = "") {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/orders?${query}`, { key: who.key })
  return yield* bodyAs(Orders, answer)
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`own orders (${kind})`, (it) => {
    it.effect(
      "a failed one says why: a sentence to its member, the vendor's words to operators",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const orders = [
            ["refused", 400, orderImages(who, { model: "paint-1", prompt: "x sim:refuse=400" })],
            ["refused", 400, orderVideo(who, { model: "film-1", prompt: "x sim:refuse=400" })],
            ["credentials_refused", 401, ask(who, talk("x sim:refuse=401"))],
            [
              "credentials_refused",
              401,
              orderImages(who, { model: "paint-1", prompt: "x sim:refuse=401" })
            ]
          ] as const
          for (const [reason, status, order] of orders) {
            const told = yield* errorOf(yield* order)
            const { data } = yield* listed(who, "limit=1")
            const [own] = data
            const timeline = yield* gateway.admin(`/tasks/${own?.id}`)
            const { attempts, error } = yield* bodyAs(Failed, timeline)
            const [attempt] = attempts
            assert.deepInclude(attempt, { reason, status }, timeline.text)
            assert.deepStrictEqual(error, {
              code: "upstream_error",
              message: attempt?.message ?? ""
            })
            assert.notMatch(error.message, /^(The vendor |$)/)
            const sentence =
              reason === "refused" ? `The vendor refused the order: ${error.message}` : told.message
            assert.deepInclude(own, {
              state: "failed",
              error: { code: "upstream_error", message: sentence },
              error_code: "upstream_error",
              error_message: sentence
            })
            if (status === 401) assert.notInclude(JSON.stringify(own), error.message)
          }
          const done = yield* orderImages(who, { model: "paint-1" })
          assert.strictEqual(done.status, 200)
          const [own] = (yield* listed(who, "limit=1")).data
          assert.deepInclude(own, { error: null, error_code: null, error_message: null })
          const { attempts } = yield* bodyAs(
            Schema.Struct({ attempts: Failed.fields.attempts }),
            yield* gateway.admin(`/tasks/${own?.id}`)
          )
          assert.deepInclude(attempts[0], { reason: null, status: null, message: null })
        })
    )

    it.effect("are told of every kind, newest first, with their receipts and failures", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const colleague = yield* colleagueOf(who)
        const tag = { metadata: { team: "red" } }
        const done = yield* createVideo(who, { model: "film-1", ...tag })
        yield* finishVideo(who, done)
        const failed = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
        const { error } = yield* finishVideo(who, failed)
        const running = yield* createVideo(who, { model: "clip-1", prompt: "x sim:takes=3600" })
        yield* orderImages(colleague, { model: "paint-1", ...tag })
        yield* orderImages(who, { model: "paint-1", n: 2, ...tag })
        yield* ask(who, talk("a lighthouse"))
        const { data, has_more, next } = yield* listed(who)
        const [text, images] = data
        assert.deepStrictEqual(
          data.map(({ kind, state, is_task }) => [kind, state, is_task]),
          [
            ["text", "succeeded", false],
            ["image", "succeeded", false],
            ["video", "processing", true],
            ["video", "failed", true],
            ["video", "succeeded", true]
          ]
        )
        assert.deepStrictEqual([has_more, next], [false, null])
        const found = (id: string) => data.find((order) => order.id === id)
        assert.deepInclude(images, {
          object: "order",
          model: "paint-1",
          modality: "image",
          hold: "0.4",
          charge: "0.4",
          metadata: { team: "red" },
          accepted_at: null,
          usage_id: `us_${images?.id}`
        })
        assert.deepInclude(found(failed), {
          charge: "0",
          hold: "4.968",
          usage_id: null,
          deleted_at: null,
          error_code: error?.code ?? "",
          error_message: error?.message ?? ""
        })
        assert.deepInclude(found(running), { closed_at: null, charge: "0", usage_id: null })
        assert.isNotNull(found(running)?.accepted_at)
        for (const order of data) {
          const one = yield* gateway.call(`/v1/orders/${order.id}`, { key: who.key })
          assert.deepStrictEqual(yield* bodyAs(OwnOrderView, one), order)
          // Whom it was made by is the operator's to know.
          assert.notMatch(one.text, /ch-[adit]|vendor|upstream|cost|mem_|org_/)
          if (order.usage_id === null) continue
          const receipt = yield* gateway.call(`/v1/usage/${order.usage_id}`, { key: who.key })
          assert.deepNestedInclude(receipt.body, { charge: order.charge })
        }

        const idsOf = (query: string) =>
          Effect.map(listed(who, query), (page) => page.data.map(({ id }) => id))
        const [images1 = "", text1 = ""] = [images?.id, text?.id]
        for (const [query, expected] of [
          ["model=film-1", [failed, done]],
          ["modality=chat", [text1]],
          ["state=processing", [running]],
          ["state=failed", [failed]],
          ["tag=team%3Dred", [images1, done]],
          ["tag=team%3Dred&modality=video", [done]],
          ["from=2026-01-01", data.map(({ id }) => id)],
          ["to=2026-01-01", []]
        ] as const) {
          assert.deepStrictEqual(yield* idsOf(query), expected, query)
        }
        const first = yield* listed(who, "limit=2")
        const second = yield* listed(who, `limit=3&after=${first.next}`)
        assert.deepStrictEqual([...first.data, ...second.data], data)

        yield* gateway.call(`/v1/videos/${done}`, { key: who.key, method: "DELETE" })
        const gone = yield* gateway.call(`/v1/orders/${done}`, { key: who.key })
        const deleted = yield* bodyAs(OwnOrderView, gone)
        assert.isNotNull(deleted.deleted_at)
        assert.strictEqual(deleted.charge, found(done)?.charge)
      })
    )

    it.effect("are nobody else's, be it of the same organisation", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const colleague = yield* colleagueOf(who)
        const stranger = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1" })
        const unknown = `vt_${"0".repeat(8)}-0000-7000-8000-${"0".repeat(12)}`
        for (const other of [colleague, stranger]) {
          assert.deepStrictEqual((yield* listed(other)).data, [])
          for (const each of [id, unknown, "nobody"]) {
            const answer = yield* gateway.call(`/v1/orders/${each}`, { key: other.key })
            assert.strictEqual(answer.status, 404)
            assert.deepInclude(yield* errorOf(answer), {
              code: "not_found",
              message: "No such order"
            })
          }
          const after = yield* gateway.call(`/v1/orders?after=${id}`, { key: other.key })
          assert.strictEqual((yield* errorOf(after)).param, "after")
        }
        for (const [query, param] of [
          ["from=soon", "from"],
          ["from=2027-02-01&to=2027-01-01", "to"],
          ["state=done", "state"],
          ["modality=film", "modality"],
          ["tag=team", "tag"]
        ] as const) {
          const answer = yield* gateway.call(`/v1/orders?${query}`, { key: who.key })
          assert.strictEqual(answer.status, 400, query)
          assert.strictEqual((yield* errorOf(answer)).param, param)
        }
      })
    )
  })
}
