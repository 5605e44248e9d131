import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"

const ROUNDS = 12

layer(layerTestGateway("postgres", { ...quickSettings, leaseSeconds: 1 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a database whose connections break", (it) => {
  it.effect(
    "every job the vendor made is charged once and answered, whatever broke meanwhile",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const who = yield* gateway.customer("1000")
        const before = (yield* gateway.simulator.book).length

        const breakConnections = sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`.pipe(Effect.ignore)
        const image = { model: "paint-1", prompt: "x", size: "16x16" }
        const film = { model: "film-1", prompt: "a lighthouse" }
        const order = (index: number) =>
          index % 3 === 0
            ? gateway.call("/v1/videos/generations", { key: who.key, json: film })
            : gateway.call("/v1/images/generations", { key: who.key, json: image })

        const statuses: Array<number> = []
        for (let round = 0; round < ROUNDS; round++) {
          const [answers] = yield* Effect.all(
            [
              Effect.all(
                Array.from({ length: 15 }, (_, index) => order(index)),
                { concurrency: "unbounded" }
              ),
              Effect.repeat(breakConnections, { times: 4 })
            ],
            { concurrency: "unbounded" }
          )
          statuses.push(...answers.map((answer) => answer.status))
        }
        // A key that could not be looked up is a 503 before anything was held.
        assert.deepEqual(
          [...new Set(statuses)].filter((status) => status !== 200 && status !== 503),
          []
        )

        yield* gateway
          .balance(who)
          .pipe(
            Effect.delay("50 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("50 seconds")
          )
        const booked = (yield* gateway.simulator.book).slice(before)
        const jobs = booked.filter((entry) => entry.event === "accepted")
        const charges = yield* sql<{ modality: string; count: bigint }>`
        SELECT modality, count(*) FROM orders
         WHERE state = 'captured' AND organization_id = ${who.organizationId} GROUP BY modality ORDER BY modality`
        assert.deepEqual(
          charges.map(({ modality, count }) => [modality, Number(count)]),
          [
            ["image", jobs.filter((entry) => entry.kind === "image").length],
            ["video", jobs.filter((entry) => entry.kind === "video").length]
          ]
        )
        assert.strictEqual(statuses.filter((status) => status === 200).length, jobs.length)
        assert.deepEqual(yield* sql`SELECT * FROM orphans`, [])
        yield* gateway.verify
      })
  )
})
