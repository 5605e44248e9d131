/** The operators' lists of orders and tasks over HTTP: what they tell, how they are asked. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { formatNano, parseNano } from "../../src/domain/money/Money.ts"
import { TaskEntryView } from "../../src/features/usage/OrderListsApi.ts"
import { OrderView } from "../../src/http/api/orderViews.ts"
import { list } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"

const Totals = Schema.Struct({
  count: Schema.Int,
  processing: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int,
  held: Schema.String,
  charge: Schema.String,
  returned: Schema.String
})
const Orders = Schema.Struct({
  ...list(OrderView).fields,
  next: Schema.NullOr(Schema.String),
  totals: Schema.optionalKey(Totals)
})
const Tasks = Schema.Struct({ ...Orders.fields, data: Schema.Array(TaskEntryView) })

const listed = Effect.fnUntraced(function* (query: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(Orders, yield* gateway.admin(`/orders?${query}`))
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `lists of orders (${kind})`,
    (it) => {
      it.effect("tell each order as it stands in the books, and totals that equal them", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const own = `organization_id=${who.organizationId}`
          const video = yield* createVideo(who, { model: "film-1", metadata: { team: "red" } })
          yield* finishVideo(who, video)
          yield* orderImages(who, { model: "paint-1", n: 3, metadata: { team: "blue" } })
          const { data, has_more, next, totals } = yield* listed(`${own}&totals=true`)
          const [images, film] = data
          assert.lengthOf(data, 2)
          assert.deepStrictEqual([has_more, next], [false, null])
          assert.deepInclude(images, {
            object: "order",
            kind: "image",
            organization_id: who.organizationId,
            member_id: who.memberId,
            model: "paint-1",
            modality: "image",
            state: "succeeded",
            hold: "0.6",
            charge: "0.6",
            returned: "0",
            is_task: false,
            metadata: { team: "blue" }
          })
          assert.deepInclude(film, { id: video, kind: "video", state: "succeeded", is_task: true })
          const { balance, held } = yield* gateway.balance(who)
          assert.deepInclude(totals, { count: 2, processing: 0, succeeded: 2, failed: 0, held })
          const nanoOf = (decimal = "0") => Effect.fromResult(parseNano(decimal))
          const spent = (yield* nanoOf("100")) - (yield* nanoOf(balance))
          assert.strictEqual(totals?.charge, formatNano(spent))
          assert.notProperty(yield* listed(own), "totals")

          const found = yield* bodyAs(
            Tasks,
            yield* gateway.admin(`/tasks?upstream_id=${film?.upstream_id}&${own}`)
          )
          assert.deepStrictEqual(
            found.data.map(({ id, object, task_state }) => [id, object, task_state]),
            [[video, "task", "succeeded"]]
          )
          const red = yield* listed(`${own}&tag=team%3Dred&totals=true`)
          assert.deepStrictEqual([red.data.map(({ id }) => id), red.totals?.count], [[video], 1])
          const first = yield* listed(`${own}&limit=1`)
          assert.isTrue(first.has_more)
          const second = yield* listed(`${own}&limit=1&after=${first.next}`)
          assert.deepStrictEqual(second.data, data.slice(1))
        })
      )

      it.effect("refuse what they cannot answer, by the name of the parameter", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          for (const [path, param] of [
            ["/orders?from=soon", "from"],
            ["/orders?to=2027-02-30", "to"],
            ["/orders?from=2027-02-01&to=2027-01-01", "to"],
            ["/orders?state=done", "state"],
            ["/orders?modality=film", "modality"],
            ["/orders?tag=team", "tag"],
            ["/orders?after=nobody", "after"],
            ["/orders?totals=yes", "totals"],
            ["/orders?totals=true&from=2026-01-01T12:30:00Z", "from"],
            ["/orders?totals=true&upstream_id=x", "upstream_id"],
            ["/orders?totals=true&price_list=pl_x", "from"],
            ["/orders?totals=true&price_list=pl_x&from=2026-01-01&to=2026-02-01", "from"],
            ["/tasks?task_state=done", "task_state"],
            ["/tasks?totals=true", "modality"],
            ["/tasks?totals=true&modality=video&task_state=failed", "task_state"],
            ["/audit?from=soon", "from"],
            ["/organizations?state=gone", "state"],
            ["/keys?name=", "name"]
          ] as const) {
            const answer = yield* gateway.admin(path)
            assert.strictEqual(answer.status, 400, `${path}: ${answer.text}`)
            assert.strictEqual((yield* errorOf(answer)).param, param, path)
          }
          const tooLong = "/orders?totals=true&price_list=pl_x&from=2026-01-01&to=2026-02-01"
          assert.include(
            (yield* gateway.admin(tooLong)).text,
            "from: Expected 2026-01-02 or later with a price_list"
          )
          for (const path of [
            "/tasks?totals=true&modality=video&from=2026-01-01&to=2026-12-31",
            "/tasks?totals=true&state=processing",
            "/orders?totals=true&from=2026-01-01",
            "/orders?totals=true&price_list=pl_x&from=2026-01-01&to=2026-01-31"
          ]) {
            assert.strictEqual((yield* gateway.admin(path)).status, 200, path)
          }
        })
      )

      it.effect("the other lists have totals and names as well", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("7")
          const at = `/organizations/${who.organizationId}`
          yield* gateway.admin(at, { method: "PATCH", json: { name: "Zebra Film" } })
          const adjustment = { kind: "credit", amount: "2", reason: "x", reference: "y" }
          yield* gateway.admin(`${at}/adjustments`, { json: adjustment })
          const totalsOf = (path: string) =>
            Effect.flatMap(gateway.admin(path), (answer) =>
              Effect.map(
                bodyAs(Schema.Struct({ totals: Schema.Unknown }), answer),
                ({ totals }) => totals
              )
            )
          const currency = "CNY"
          assert.deepStrictEqual(yield* totalsOf("/organizations?name=zebra&totals=true"), {
            count: 1,
            balance: "9",
            held: "0",
            available: "9",
            currency
          })
          const own = `organization_id=${who.organizationId}&totals=true`
          assert.deepStrictEqual(yield* totalsOf(`/members?${own}`), {
            count: 1,
            month: { used: "0", held: "0" },
            currency
          })
          assert.deepStrictEqual(yield* totalsOf(`/keys?${own}&state=valid`), { count: 1 })
          assert.deepStrictEqual(yield* totalsOf(`${at}/deposits?totals=true`), {
            count: 1,
            amount: "7",
            currency
          })
          assert.deepStrictEqual(yield* totalsOf(`${at}/adjustments?totals=true`), [
            { kind: "credit", count: 1, amount: "2", currency }
          ])
        })
      )
    }
  )
}
