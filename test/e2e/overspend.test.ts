/** A pool, and budgets, that have room for a fifth of what two gateways are asked for at once. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { clusterCatalog, good, openAccount, startGateway } from "../support/cluster.ts"
import { sharedKinds, temporaryAddresses } from "../support/databases.ts"
import { call } from "../support/http.ts"

/** `OVERSPEND_ROUNDS=20` is the long form. */
const ROUNDS = Number(process.env.OVERSPEND_ROUNDS ?? 2)
const Id = Schema.Struct({ id: Schema.String })
const Key = Schema.Struct({ key: Schema.String })
const Keys = Schema.Struct({ data: Schema.Array(Id) })
const Uses = Schema.Struct({ data: Schema.Array(Schema.Struct({ held: Schema.String })) })
const Refused = Schema.Struct({ error: Schema.Struct({ budget: Schema.String }) })
const AFFORDABLE = 100
const ORDERS = 500

/** Starts two gateways on one database; on a cluster the second is at a worker. */
const startBoth = Effect.fnUntraced(function* (kind: (typeof sharedKinds)[number]) {
  const [one, other] = yield* temporaryAddresses(kind)
  return yield* Effect.all(
    [startGateway({ DATABASE_URL: one }), startGateway({ DATABASE_URL: other })],
    { concurrency: "unbounded" }
  )
})

for (const kind of sharedKinds) {
  it.live(
    `${ORDERS} orders at once through two gateways, of which ${AFFORDABLE} can be paid: no vendor is asked for more (${kind})`,
    () =>
      Effect.gen(function* () {
        const simulator = yield* Simulator
        const gateways = yield* startBoth(kind)
        for (let round = 0; round < ROUNDS; round++) {
          const before = (yield* simulator.book).length
          // 5 seconds of clip-1 are 3.
          const account = yield* openAccount(gateways[0], clusterCatalog(simulator.url), "300")
          // A member for each gateway, so that nothing but the pool holds them apart.
          const member = yield* good(
            Id,
            yield* gateways[0].admin(`/organizations/${account.organizationId}/members`, {
              json: { name: "other" }
            })
          )
          const otherKey = yield* good(
            Key,
            yield* gateways[0].admin(`/members/${member.id}/keys`, { json: { name: "other" } })
          )
          const answers = yield* Effect.forEach(
            Array.from({ length: ORDERS }, (_, index) =>
              index % 2 === 0
                ? { url: gateways[0].url, key: account.key }
                : { url: gateways[1].url, key: otherKey.key }
            ),
            ({ url, key }) =>
              call(`${url}/v1/videos/generations`, {
                key,
                json: { model: "clip-1", prompt: "a lighthouse sim:takes=3600" }
              }),
            { concurrency: "unbounded" }
          )
          const count = (status: number) =>
            answers.filter((answer) => answer.status === status).length
          assert.deepEqual([count(200), count(402)], [AFFORDABLE, ORDERS - AFFORDABLE])
          assert.strictEqual((yield* simulator.book).length - before, AFFORDABLE)
          assert.deepInclude(yield* account.funds(gateways[1]), { balance: "300", held: "300" })
        }
        const verified = yield* gateways[1].admin("/ledger/verify")
        assert.strictEqual(verified.text, '{"ok":true,"violations":[]}')
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    120_000
  )

  it.live(
    `${ORDERS} orders at once through two gateways by a key with three budgets, of which ${AFFORDABLE} fit (${kind})`,
    () =>
      Effect.gen(function* () {
        const simulator = yield* Simulator
        const gateways = yield* startBoth(kind)
        const account = yield* openAccount(gateways[0], clusterCatalog(simulator.url), "100000")
        const path = `/organizations/${account.organizationId}/budgets`
        const keys = yield* good(
          Keys,
          yield* gateways[0].admin(`/keys?organization_id=${account.organizationId}`)
        )
        const subject_id = keys.data[0]?.id ?? ""
        // The month's is the one that is used up first.
        const made: Array<string> = []
        for (const [period, amount] of [
          ["day", "330"],
          ["month", "302"],
          ["total", "600"]
        ]) {
          const json = { scope: "key", subject_id, period, amount }
          made.push((yield* good(Id, yield* gateways[0].admin(path, { json }))).id)
        }
        const answers = yield* Effect.forEach(
          Array.from({ length: ORDERS }, (_, index) => gateways[index % 2] ?? gateways[0]),
          ({ url }) =>
            call(`${url}/v1/videos/generations`, {
              key: account.key,
              json: { model: "clip-1", prompt: "a lighthouse sim:takes=3600" }
            }),
          { concurrency: "unbounded" }
        )
        const refusals = answers.filter(({ status }) => status === 429)
        assert.lengthOf(
          answers.filter(({ status }) => status === 200),
          AFFORDABLE
        )
        assert.lengthOf(refusals, ORDERS - AFFORDABLE)
        const by = yield* Effect.forEach(refusals, (answer) =>
          Effect.map(good(Refused, { ...answer, status: 200 }), ({ error }) => error.budget)
        )
        assert.deepStrictEqual([...new Set(by)], [made[1]])
        assert.lengthOf(yield* simulator.book, AFFORDABLE)
        assert.deepInclude(yield* account.funds(gateways[1]), { held: "300" })
        const { data } = yield* good(Uses, yield* gateways[1].admin(path))
        assert.deepStrictEqual(
          data.map(({ held }) => held),
          ["300", "300", "300"]
        )
        const verified = yield* gateways[1].admin("/ledger/verify")
        assert.strictEqual(verified.text, '{"ok":true,"violations":[]}')
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    120_000
  )
}
