/** Files leave the archive with the tasks of their owners, and when their time is over. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  archiving,
  bucket,
  bytes,
  imageWith,
  inState,
  load,
  picture
} from "../../support/archives.ts"
import { type Customer, Gateway, layerTestGateway } from "../../support/gateway.ts"
import { moveTo } from "../../support/orders.ts"

/** When nothing of the task's results is in the archive any more. */
const whenRemoved = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT 1 FROM archives WHERE task_id = ${id}`.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (rows) => rows.length === 0 })
    )
  })

/** An archived image; answers its id, its path and an address of the bucket. */
const keptImage = Effect.fnUntraced(function* (who: Customer) {
  const { id, path } = yield* imageWith(who, "", () => picture(bytes))
  yield* inState(id, "kept")
  const sent = yield* load(who, path, {}, { redirect: "manual" })
  return { id, path, address: sent.headers.get("location") ?? "" }
})

const statusOf = (address: string) =>
  Effect.promise(async () => {
    const response = await fetch(address)
    await response.body?.cancel()
    return response.status
  })

layer(
  layerTestGateway("embedded", { ...archiving, archiveRedirect: true, archiveDays: 7 }, { bucket }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the archive behind an address of the bucket", (it) => {
  it.effect("loses the files of a task that its owner deletes", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { id, path, address } = yield* keptImage(who)
      const other = yield* keptImage(who)
      assert.strictEqual(yield* statusOf(address), 200)
      const deleted = yield* gateway.call(`/v1/images/${id}`, { method: "DELETE", key: who.key })
      assert.deepStrictEqual(deleted.body, { id, object: "image.deleted", deleted: true })
      assert.strictEqual((yield* load(who, path, {}, { redirect: "manual" })).status, 404)
      yield* whenRemoved(id)
      assert.strictEqual(yield* statusOf(address), 404)
      assert.strictEqual(yield* statusOf(other.address), 200)
      yield* moveTo(null)
    })
  )

  it.effect("also where a copy was on its way", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const who = yield* gateway.customer("10")
      const { id } = yield* imageWith(who, "", () => ({ status: 503 }))
      yield* sql`SELECT 1 FROM archives WHERE task_id = ${id} AND tries > 0`.pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (rows) => rows.length > 0 })
      )
      yield* gateway.call(`/v1/images/${id}`, { method: "DELETE", key: who.key })
      // A copy that has not heard of it may end until its claim is over.
      const [row] = yield* sql`
        SELECT state, next_try_at > now() + interval '50 seconds' AS later
          FROM archives WHERE task_id = ${id}`
      assert.deepStrictEqual(row, { state: "removing", later: true })
      yield* sql`UPDATE archives SET next_try_at = now() WHERE task_id = ${id}`
      yield* whenRemoved(id)
      yield* moveTo(null)
    })
  )

  it.effect("keeps files for as many days as it is told", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      const who = yield* gateway.customer("10")
      const { id, address } = yield* keptImage(who)
      const other = yield* keptImage(who)
      const age = (task: string, hours: number) =>
        sql`UPDATE archives SET ended_at = now() - make_interval(hours => ${hours})
             WHERE task_id = ${task}`
      yield* age(other.id, 7 * 24 - 1)
      yield* age(id, 7 * 24 + 1)
      yield* whenRemoved(id)
      assert.strictEqual(yield* statusOf(address), 404)
      assert.strictEqual(yield* statusOf(other.address), 200)
      const read = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
      assert.deepInclude(read.body, { task_status: "succeeded" })
      yield* moveTo(null)
    })
  )

  it.effect("sends clients there", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const { id, path } = yield* imageWith(who, "", () => picture(bytes))
      yield* inState(id, "kept")
      const sent = yield* load(who, path, {}, { redirect: "manual" })
      assert.strictEqual(sent.status, 302)
      assert.strictEqual(sent.headers.get("cache-control"), "no-store")
      const address = sent.headers.get("location") ?? ""
      assert.match(address, /X-Amz-Expires=300/)
      const part = yield* Effect.promise(async () => {
        const response = await fetch(address, { headers: { range: "bytes=5-9" } })
        return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
      })
      assert.deepStrictEqual(part, { status: 206, bytes: bytes.slice(5, 10) })
      yield* moveTo(null)
    })
  )
})
