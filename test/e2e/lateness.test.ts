/** Deadlines that pass: what is due is given back soon, and being late is no fault of the books. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  firstAudit,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { scrapeUntil } from "../support/metrics.ts"
import { createVideo, orderImages } from "../support/orders.ts"

const SOUND = '{"ok":true,"violations":[]}'

const TASKS = 300

layer(
  layerTestGateway("postgres", {
    ...quickSettings,
    taskDeadlineSeconds: 1,
    lastQuestionSeconds: 0.2,
    pollsPerChannel: 4,
    auditSeconds: 0.2
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("tasks at a vendor that has fallen silent", (it) => {
  it.effect("are all given back without its last answer, and nobody is stopped", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const sql = yield* SqlClient.SqlClient
      let jobs = 0
      const vendor = yield* brokenVendor(({ method }) =>
        method === "POST" ? { body: { id: `job-${++jobs}` } } : "hang"
      )
      const catalog = testCatalog(gateway.simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-a" ? { ...channel, base_url: vendor.url } : channel
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
      const who = yield* gateway.customer("10000")
      yield* Effect.all(
        Array.from({ length: TASKS }, () => createVideo(who, { model: "film-1" })),
        { concurrency: 50 }
      )
      yield* Effect.andThen(gateway.verify, gateway.balance(who)).pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: ({ held }) => held === "0" }),
        Effect.timeout("40 seconds")
      )
      assert.strictEqual((yield* gateway.balance(who)).balance, "10000")
      const orphans = yield* sql`
        SELECT 1 FROM orphans WHERE reason = 'deadline_exceeded' AND upstream_id IS NOT NULL`
      assert.lengthOf(orphans, TASKS)
      assert.deepEqual(yield* sql`SELECT 1 FROM pools WHERE stopped_at IS NOT NULL`, [])
      assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
    })
  )
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(
    layerTestGateway(kind, {
      ...quickSettings,
      // Nothing is swept here.
      pollerSeconds: 3600,
      auditSeconds: 0.2,
      healthSeconds: 0.05,
      totalsSeconds: 0.05
    }),
    { excludeTestServices: true, timeout: "60 seconds" }
  )(`holds that are given back late (${kind})`, (it) => {
    it.effect("are told to the operator, and stop nobody", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const who = yield* gateway.customer("100")
        yield* firstAudit
        const prompt = "a lighthouse sim:duration=3600"
        yield* createVideo(who, { model: "film-1", prompt })
        const submitting = yield* createVideo(who, { model: "film-1", prompt })
        yield* sql`
          UPDATE orders SET expires_at = now() - interval '2 minutes'
           WHERE state = 'open' AND id <> ${submitting}`
        yield* sql`
          UPDATE tasks SET state = 'submitting', upstream_id = NULL, next_poll_at = NULL,
                           submit_deadline = now() - interval '3 minutes'
           WHERE id = ${submitting}`
        const since = yield* auditedAt
        const metrics = yield* scrapeUntil((seen) => seen.value("gateway_late_holds") === 2)
        assert.isAtLeast(metrics.value("gateway_oldest_late_hold_seconds") ?? 0, 180)
        assert.strictEqual((yield* gateway.admin("/ledger/verify")).text, SOUND)
        const ready = yield* gateway.call("/readyz")
        assert.strictEqual(ready.status, 200)
        assert.include(ready.text, '"status":"degraded"')
        assert.include(ready.text, "2 holds are open after their deadline")
        // Two audits begun after the deadlines look at them.
        for (const before of [since, since + 1]) {
          yield* auditedAt.pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (now) => now > before }),
            Effect.timeout("20 seconds")
          )
        }
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      })
    )
  })
}

const auditedAt = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ audited_at: Date }>`SELECT audited_at FROM ledger_audit_state`,
    ([row]) => row?.audited_at.getTime() ?? 0
  )
)
