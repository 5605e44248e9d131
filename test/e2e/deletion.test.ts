/** Deleting a task forgets what was made and said of it, and nothing of the books. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, moveTo } from "../support/orders.ts"
import { makeReceiver, withStatus } from "../support/receiver.ts"

const settings = { ...quickSettings, webhookAllowPrivate: true }

const remove = (who: Customer, path: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(path, { method: "DELETE", key: who.key }))

const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

const Made = Schema.Struct({ id: Schema.String })
const MadeKey = Schema.Struct({ key: Schema.String })

const Timeline = Schema.Struct({
  deleted_at: Schema.NullOr(Schema.String),
  upstream_calls_total: Schema.Int,
  error: Schema.NullOr(Schema.Struct({ message: Schema.String }))
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, settings), { excludeTestServices: true, timeout: "60 seconds" })(
    `deleted tasks (${kind})`,
    (it) => {
      it.effect("a video is not found any more, and its charge stays", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const kept = yield* createVideo(who, { model: "film-1" })
          const id = yield* createVideo(who, { model: "film-1" })
          for (const each of [kept, id]) yield* finishVideo(who, each)
          const before = yield* gateway.balance(who)
          const usage = yield* gateway.call("/v1/usage", { key: who.key })

          const deleted = yield* remove(who, `/v1/videos/${id}`)
          assert.strictEqual(deleted.status, 200, deleted.text)
          assert.deepStrictEqual(deleted.body, { id, object: "video.deleted", deleted: true })
          for (const rest of ["", "?wait=5", "/events", "/content"]) {
            const answer = yield* gateway.call(`/v1/videos/${id}${rest}`, { key: who.key })
            assert.strictEqual(answer.status, 404, rest)
            assert.strictEqual((yield* errorOf(answer)).code, "task_not_found")
          }
          assert.strictEqual((yield* remove(who, `/v1/videos/${id}`)).status, 404)
          const listed = yield* gateway.call("/v1/videos", { key: who.key })
          assert.deepStrictEqual(
            (yield* bodyAs(Listed, listed)).data.map((task) => task.id),
            [kept]
          )

          assert.deepStrictEqual(yield* gateway.balance(who), before)
          const after = yield* gateway.call("/v1/usage", { key: who.key })
          assert.deepStrictEqual(after.body, usage.body)
          const { body: timeline } = yield* gateway.admin(`/tasks/${id}`)
          const told = Schema.decodeUnknownSync(Timeline)(timeline)
          assert.isNotNull(told.deleted_at)
          assert.strictEqual(told.upstream_calls_total, 0)
          yield* gateway.verify
        })
      )

      it.effect("nothing that a vendor said of it stays, nor an address", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const sql = yield* SqlClient.SqlClient
          const who = yield* gateway.customer("100")
          const vendor = yield* brokenVendor(() => ({
            status: 400,
            body: { error: { message: "no picture of a zebra" } }
          }))
          yield* moveTo(vendor.url)
          const ordered = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            headers: { prefer: "respond-async", "idempotency-key": "once" },
            json: { model: "paint-1", prompt: "a zebra" }
          })
          const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), ordered)
          const read = yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
          assert.include(read.text, "zebra")
          yield* moveTo(null)
          assert.strictEqual((yield* remove(who, `/v1/images/${id}`)).status, 200)

          const rows = yield* sql`
            SELECT t::text FROM tasks t WHERE t.id = ${id}
            UNION ALL SELECT k::text FROM idempotency_keys k WHERE k.order_id = ${id}
            UNION ALL SELECT c::text FROM upstream_calls c WHERE c.job_id = ${id}
            UNION ALL SELECT o::text FROM orders o WHERE o.id = ${id}`
          assert.isAtLeast(rows.length, 3)
          assert.notInclude(JSON.stringify(rows), "zebra")
          for (const change of ["hold = hold + 1", "failure = NULL", "refusals = '[{}]'"]) {
            yield* Effect.flip(sql.unsafe(`UPDATE orders SET ${change} WHERE id = '${id}'`))
          }
          // A repeat of the order is still one, and orders nothing.
          const again = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            headers: { prefer: "respond-async", "idempotency-key": "once" },
            json: { model: "paint-1", prompt: "a zebra" }
          })
          assert.deepInclude(again.body, { id })
          assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        })
      )

      it.effect("a colleague's task is read and not deleted, but by an operator", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const made = yield* gateway.admin(`/organizations/${who.organizationId}/members`, {
            json: { name: "colleague" }
          })
          const { id: memberId } = yield* bodyAs(Made, made)
          const second = yield* gateway.admin(`/members/${who.memberId}/keys`, {
            json: { name: "k" }
          })
          const keyed = yield* gateway.admin(`/members/${memberId}/keys`, { json: { name: "k" } })
          const { key } = yield* bodyAs(MadeKey, keyed)
          const colleague = { ...who, memberId, key }
          const [id, other] = [
            yield* createVideo(who, { model: "film-1" }),
            yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=100000" })
          ]
          yield* finishVideo(who, id)
          for (const path of [`/v1/videos/${id}`, `/v1/videos/${other}`]) {
            const refused = yield* remove(colleague, path)
            assert.strictEqual(refused.status, 403, refused.text)
            assert.strictEqual((yield* errorOf(refused)).code, "permission_denied")
            assert.strictEqual((yield* gateway.call(path, { key })).status, 200)
          }
          const stranger = yield* gateway.customer("1")
          assert.strictEqual((yield* remove(stranger, `/v1/videos/${id}`)).status, 404)
          const running = yield* gateway.admin(`/tasks/${other}`, { method: "DELETE" })
          assert.strictEqual((yield* errorOf(running)).code, "task_processing")
          for (const none of ["vt_nobody", "image_nobody"]) {
            const absent = yield* gateway.admin(`/tasks/${none}`, { method: "DELETE" })
            assert.strictEqual((yield* errorOf(absent)).code, "task_not_found")
          }
          const deleted = yield* gateway.admin(`/tasks/${id}`, { method: "DELETE" })
          assert.deepStrictEqual(deleted.body, { id, object: "video.deleted", deleted: true })
          assert.strictEqual(
            (yield* gateway.call(`/v1/videos/${id}`, { key: who.key })).status,
            404
          )
          // Any key of the member's own will do.
          const third = yield* createVideo(who, { model: "film-1" })
          yield* finishVideo(who, third)
          const ours = { ...who, key: (yield* bodyAs(MadeKey, second)).key }
          assert.strictEqual((yield* remove(ours, `/v1/videos/${third}`)).status, 200)
          yield* gateway.verify
        })
      )

      it.effect("a running video is not deleted, and nothing of it changes", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=3" })
          const refused = yield* remove(who, `/v1/videos/${id}`)
          assert.strictEqual(refused.status, 409, refused.text)
          assert.strictEqual((yield* errorOf(refused)).code, "task_processing")
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        })
      )

      it.effect("its end is told by its id alone, where that is told after", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const sql = yield* SqlClient.SqlClient
          const who = yield* gateway.customer("100")
          const receiver = yield* makeReceiver(withStatus(503))
          yield* gateway.call("/v1/webhook_endpoints", {
            key: who.key,
            json: { name: "x", url: receiver.url, event_types: ["video.completed"] }
          })
          const id = yield* createVideo(who, { model: "film-1" })
          yield* finishVideo(who, id)
          yield* receiver.awaited(1)
          yield* remove(who, `/v1/videos/${id}`)
          receiver.tell(withStatus(200))
          // Only while the message waits: one that was delivered has no next attempt.
          yield* sql`UPDATE webhook_messages SET next_attempt_at = now()
                      WHERE task_id = ${id} AND state = 'pending'`.pipe(
            Effect.delay("20 millis"),
            Effect.forever,
            Effect.raceFirst(receiver.awaited(2))
          )
          const last = (yield* receiver.awaited(2)).at(-1)
          assert.deepInclude(last?.body, {
            type: "video.completed",
            data: { id }
          })
        })
      )
    }
  )
}
