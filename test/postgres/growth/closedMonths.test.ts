/** What leaves the database of months that are sealed, while others order, and what the books say then. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowOf } from "../../../src/postgres/client/rows.ts"
import { bodyAs, Gateway, layerTestGateway } from "../../support/gateway.ts"
import { createVideo, finishVideo, orderImages } from "../../support/orders.ts"

const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const Dropped = Schema.Struct({ dropped: Schema.Int })

for (const kind of ["embedded", "postgres"] as const) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `closed months (${kind})`,
    (it) => {
      it.effect("lose their tasks and no entry, while others order", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const sql = yield* SqlClient.SqlClient
          const drop = (organizationId: string) =>
            Effect.map(
              rowOf(Dropped)(sql`SELECT drop_closed_tasks(${organizationId}, 2) AS dropped`),
              ({ dropped }) => dropped
            )
          const [who, other] = yield* Effect.all([gateway.customer("100"), gateway.customer("100")])
          for (const prompt of ["a", "b", "x sim:fail"]) {
            const id = yield* createVideo(who, { model: "film-1", prompt, metadata: { a: "b" } })
            yield* finishVideo(who, id)
          }
          const running = yield* createVideo(who, { model: "clip-1", prompt: "x sim:takes=3600" })
          yield* orderImages(who, { model: "paint-1" })
          // Nothing goes before the month is sealed.
          assert.strictEqual(yield* drop(who.organizationId), 0)
          yield* Effect.orDie(sql`
            INSERT INTO sealed_months (organization_id, month, begins, ends, opening, closing, entries,
                                       sha256)
            SELECT organization_id, date_trunc('month', now()), date_trunc('month', now()),
                   date_trunc('month', now()) + interval '1 month', 0, balance, 0, ''
              FROM pools WHERE organization_id = ${who.organizationId}`)
          const books = Effect.gen(function* () {
            const told = []
            for (const path of ["/v1/usage", "/v1/balance"]) {
              told.push((yield* gateway.call(path, { key: who.key })).body)
            }
            const at = `/organizations/${who.organizationId}`
            return [...told, (yield* gateway.admin(`${at}/ledger`)).body]
          })
          const before = yield* books
          const load = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: 12 }, (_, n) => n),
              Effect.fnUntraced(function* (n) {
                if (n % 2 === 0) yield* orderImages(other, { model: "paint-1" })
                else yield* finishVideo(other, yield* createVideo(other, { model: "film-1" }))
              }),
              { concurrency: 4, discard: true }
            )
          )
          const counts = [yield* drop(who.organizationId), yield* drop(who.organizationId)]
          assert.deepStrictEqual([...counts, yield* drop(who.organizationId)], [2, 1, 0])
          yield* Fiber.join(load)
          assert.strictEqual(yield* drop(other.organizationId), 0)
          const listed = yield* gateway.call("/v1/videos", { key: who.key })
          const { data } = yield* bodyAs(Listed, listed)
          assert.deepStrictEqual(
            data.map(({ id }) => id),
            [running]
          )
          assert.deepStrictEqual(yield* books, before)
          yield* gateway.verify
        })
      )
    }
  )
}
