/** Images that are ordered now and read later. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { databaseText } from "../support/databaseText.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { createVideo, errorOf, finishVideo, moveTo } from "../support/orders.ts"
import { newestHold, timelineOf } from "../support/timelines.ts"

type Json = Readonly<Record<string, unknown>>

const order = (who: Customer, json: Json = {}, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/images/generations", {
      key: who.key,
      headers: { prefer: "respond-async", ...headers },
      json: { model: "paint-1", prompt: "a lighthouse", ...json }
    })
  )

const Accepted = Schema.Struct({ id: Schema.String, task_status: Schema.Literal("processing") })

const Ended = Schema.Struct({
  id: Schema.String,
  task_status: Schema.Literals(["succeeded", "failed"]),
  created: Schema.optionalKey(Schema.Number),
  data: Schema.optionalKey(Schema.Array(Schema.Struct({ url: Schema.String }))),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})

const Listed = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      model: Schema.String,
      created_at: Schema.String,
      data: Schema.optionalKey(Schema.Array(Schema.Unknown)),
      error: Schema.optionalKey(Schema.Struct({ code: Schema.String }))
    })
  ),
  has_more: Schema.Boolean,
  first_id: Schema.NullOr(Schema.String),
  last_id: Schema.NullOr(Schema.String)
})

const accepted = Effect.fnUntraced(function* (who: Customer, json?: Json) {
  const answer = yield* order(who, json)
  assert.strictEqual(answer.status, 202, answer.text)
  return (yield* bodyAs(Accepted, answer)).id
})

const read = (who: Customer, id: string, query = "") =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(`/v1/images/${id}${query}`, { key: who.key }))

const ended = Effect.fnUntraced(function* (who: Customer, id: string) {
  const answer = yield* read(who, id, "?wait=30")
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Ended, answer)
})

const Orphans = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const orphanIds = Effect.gen(function* () {
  const gateway = yield* Gateway
  const { data } = yield* bodyAs(Orphans, yield* gateway.admin("/orphans?limit=100"))
  return data.map(({ id }) => id)
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `images that are read later (${kind})`,
    (it) => {
      it.effect("are accepted at once, made, charged once and read as often as wanted", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const answer = yield* order(who, { n: 2 })
          assert.strictEqual(answer.status, 202, answer.text)
          const { id } = yield* bodyAs(Accepted, answer)
          assert.strictEqual(answer.headers.get("preference-applied"), "respond-async")
          assert.strictEqual(answer.headers.get("location"), `/v1/images/${id}`)
          assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
          const made = yield* ended(who, id)
          assert.deepInclude(made, { id, task_status: "succeeded" })
          assert.lengthOf(made.data ?? [], 2)
          assert.isNumber(made.created)
          assert.deepStrictEqual(yield* ended(who, id), made)
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.6", held: "0" })

          const Usage = Schema.Struct({
            data: Schema.Array(Schema.Struct({ task_id: Schema.NullOr(Schema.String) }))
          })
          const usage = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
          assert.deepStrictEqual(usage.data, [{ task_id: id }])
          const timeline = yield* timelineOf(id)
          assert.deepInclude(timeline, { kind: "image", model: "paint-1" })
          yield* gateway.verify
        })
      )

      it.effect("are processing until then, also as events", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const vendor = yield* heldVendor
          yield* moveTo(vendor.url)
          const id = yield* accepted(who)
          yield* vendor.asked
          const now = yield* read(who, id)
          assert.deepStrictEqual(now.body, { id, task_status: "processing" })
          assert.isNotNull(now.headers.get("retry-after"))
          assert.deepInclude(yield* gateway.balance(who), { held: "0.2" })
          const cancel = yield* gateway.call(`/v1/images/${id}/cancel`, {
            method: "POST",
            key: who.key
          })
          const message =
            "The vendor makes it in one call, which cannot be cancelled, so the task goes on"
          const cancellation = { status: "refused", message }
          assert.deepStrictEqual(cancel.body, { id, task_status: "processing", cancellation })
          const following = yield* Effect.forkChild(
            gateway.call(`/v1/images/${id}/events`, { key: who.key })
          )
          const waiting = yield* Effect.forkChild(ended(who, id))
          yield* vendor.letGo
          assert.match(
            (yield* Fiber.join(following)).text,
            /event: image\.(?:processing[\s\S]+event: image\.)?succeeded/
          )
          assert.strictEqual((yield* Fiber.join(waiting)).task_status, "succeeded")
          yield* moveTo(null)
          assert.strictEqual((yield* ended(who, id)).task_status, "succeeded")
        })
      )

      it.effect("fail with the vendor's words, and cost nothing", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          for (const [prompt, isOrphan] of [
            ["sim:refuse=400", false],
            ["sim:refuse=500", true],
            ["sim:lost", true]
          ] as const) {
            const id = yield* accepted(who, { prompt })
            const failed = yield* ended(who, id)
            assert.strictEqual(failed.task_status, "failed")
            assert.strictEqual(failed.error?.code, "upstream_error")
            assert.isAbove(failed.error?.message.length ?? 0, 5)
            assert.strictEqual((yield* orphanIds).includes(id), isOrphan, prompt)
          }
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
          yield* gateway.verify
        })
      )

      it.effect("in base64 are refused before anything is held", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const refused = yield* order(who, { response_format: "b64_json" })
          assert.strictEqual(refused.status, 400, refused.text)
          assert.deepInclude(yield* errorOf(refused), {
            code: "invalid_request",
            param: "response_format"
          })
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
        })
      )

      it.effect("that come in base64 all the same are charged, and the operator hears", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const vendor = yield* brokenVendor({
            body: JSON.stringify({ created: 1, data: [{ b64_json: "aGVsbG8gd29ybGQ=" }] })
          })
          yield* moveTo(vendor.url)
          const id = yield* accepted(who)
          const failed = yield* ended(who, id)
          assert.include(failed.error?.message, "base64")
          assert.include(failed.error?.message, "is charged 0.2 CNY")
          assert.include(yield* orphanIds, id)
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.8", held: "0" })
          yield* gateway.verify
          yield* moveTo(null)
        })
      )

      it.effect("are kept as addresses, without the vendor's words", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const url = "https://media.test/one.png"
          const entries = [{ url, revised_prompt: "a secret" }, { error: { message: "a secret" } }]
          const vendor = yield* brokenVendor({
            body: { created: 1, data: entries, usage: { images: 1 }, note: "a secret" }
          })
          yield* moveTo(vendor.url)
          const id = yield* accepted(who)
          yield* ended(who, id)
          assert.deepStrictEqual((yield* read(who, id)).body, {
            id,
            task_status: "succeeded",
            created: 1,
            data: [{ url }],
            usage: { images: 1 }
          })
          assert.notInclude(yield* databaseText, "a secret")
          yield* moveTo(null)
        })
      )

      it.effect("are one order under one key", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const headers = { "idempotency-key": "once" }
          const first = yield* order(who, {}, headers)
          const again = yield* order(who, {}, headers)
          assert.strictEqual(again.status, 202, again.text)
          assert.deepStrictEqual(again.body, first.body)
          assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
          const { id } = yield* bodyAs(Accepted, first)
          yield* ended(who, id)
          assert.deepStrictEqual((yield* order(who, {}, headers)).body, first.body)
          const whole = yield* order(who, {}, { ...headers, prefer: "wait=5" })
          assert.strictEqual(whole.status, 422, whole.text)
          assert.strictEqual((yield* gateway.balance(who)).balance, "0.8")
        })
      )

      it.effect("are one order under one key, also where the vendor fails", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const headers = { "idempotency-key": "once" }
          const first = yield* order(who, { prompt: "a lighthouse sim:rate" }, headers)
          const { id } = yield* bodyAs(Accepted, first)
          yield* ended(who, id)
          const again = yield* order(who, { prompt: "a lighthouse sim:rate" }, headers)
          assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
          assert.deepStrictEqual(again.body, first.body)
        })
      )

      it.effect("are refused like any order, before a task is there", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const poor = yield* gateway.customer("0.1")
          const refused = yield* order(poor)
          assert.strictEqual(refused.status, 402, refused.text)
          assert.strictEqual((yield* order(poor, { model: "film-1" })).status, 400)
          assert.strictEqual((yield* order(poor, { model: "none" })).status, 404)
        })
      )

      it.effect("are listed, as videos are", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const listed = (path: string) =>
            Effect.flatMap(gateway.call(path, { key: who.key }), (answer) => bodyAs(Listed, answer))
          assert.deepStrictEqual(yield* listed("/v1/images"), {
            object: "list",
            data: [],
            has_more: false,
            first_id: null,
            last_id: null
          })
          const made = yield* accepted(who)
          yield* ended(who, made)
          const lost = yield* accepted(who, { prompt: "sim:refuse=400" })
          yield* ended(who, lost)
          const film = yield* createVideo(who, { model: "film-1" })
          yield* finishVideo(who, film)

          const images = yield* listed("/v1/images")
          assert.deepInclude(images, { first_id: lost, last_id: made, has_more: false })
          assert.deepInclude(images.data[1], { id: made, model: "paint-1" })
          assert.strictEqual(images.data[1]?.data?.length, 1)
          assert.strictEqual(images.data[0]?.error?.code, "upstream_error")
          const page = yield* listed("/v1/images?limit=1")
          assert.deepInclude(page, { first_id: lost, last_id: lost, has_more: true })
          const next = yield* listed(`/v1/images?limit=1&after=${lost}`)
          assert.deepInclude(next, { first_id: made, has_more: false })
          assert.strictEqual((yield* listed("/v1/images?status=failed")).first_id, lost)
          assert.strictEqual((yield* listed("/v1/images?status=succeeded")).first_id, made)
          assert.isNull((yield* listed("/v1/images?model=other")).first_id)
          const since = images.data[1]?.created_at ?? ""
          assert.strictEqual((yield* listed(`/v1/images?created_after=${since}`)).last_id, lost)
          const videos = yield* listed("/v1/videos?status=succeeded&model=film-1")
          assert.deepStrictEqual(
            videos.data.map(({ id }) => id),
            [film]
          )
          const other = yield* gateway.customer("1")
          const theirs = yield* gateway.call("/v1/videos", { key: other.key })
          assert.deepNestedInclude(theirs.body, { data: [] })
          for (const [query, param] of [
            ["status=done", "status"],
            ["limit=0", "limit"],
            ["created_after=yesterday", "created_after"],
            ["after=vt_1", "after"],
            [`after=${film}`, "after"]
          ]) {
            const refused = yield* gateway.call(`/v1/images?${query}`, { key: who.key })
            assert.strictEqual(refused.status, 400, refused.text)
            assert.strictEqual((yield* errorOf(refused)).param, param)
          }
        })
      )

      it.effect("are found by their organisation alone, and as images alone", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const [who, other] = [yield* gateway.customer("10"), yield* gateway.customer("1")]
          const id = yield* accepted(who)
          yield* ended(who, id)
          assert.strictEqual((yield* read(other, id)).status, 404)
          const asVideo = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
          assert.strictEqual(asVideo.status, 404)
          const film = yield* createVideo(who, { model: "film-1" })
          assert.strictEqual((yield* read(who, film)).status, 404)
          const whole = yield* order(who, {}, { prefer: "" })
          assert.strictEqual(whole.status, 200)
          assert.strictEqual((yield* read(who, yield* newestHold(who.organizationId))).status, 404)
        })
      )
    }
  )
}
