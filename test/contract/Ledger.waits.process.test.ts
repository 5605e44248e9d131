/** A close that waits for rows must change what they have become, not what they were. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { jobId, layerStoresOn, organization, usageOf } from "../support/ledger.ts"
import { upstream } from "../support/tasks.ts"

const layerShared = Layer.unwrap(
  Effect.map(temporaryServerDatabase, (url) => layerStoresOn(layerDatabaseAt(url)))
)

layer(layerShared, { excludeTestServices: true, timeout: "60 seconds" })(
  "a close that has to wait",
  (it) => {
    for (const changed of ["orders", "tasks", "member_months", "pools"]) {
      it.effect(`settles a row of ${changed} that was changed meanwhile`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const tasks = yield* TaskRepo
          const { organizationId, hold, close } = yield* organization(100n)
          const order = (id: string) =>
            hold(60n, {
              id,
              task: {
                listedProtocol: "vp_a",
                summary: {},
                submitSeconds: 60
              }
            })
          const request = order(jobId("vt"))
          yield* ledger.hold(request)
          yield* tasks.accept(organizationId, request.id, upstream("up_1"), 1)
          const capture = ledger.capture({
            ...close(request.id),
            task: {
              from: "processing",
              state: "succeeded",
              videoUrl: "http://vendor.test/v.mp4",
              completionTokens: null
            },
            chargeNano: 50n,
            usage: usageOf(50n)
          })
          /** Whether somebody waits for the transaction this is asked in. */
          const isWaitedFor = sql`
            SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`.pipe(
            Effect.map((rows) => rows.length > 0)
          )
          const capturing = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`UPDATE ${sql.literal(changed)} SET organization_id = organization_id
                          WHERE organization_id = ${organizationId}`
              const fiber = yield* Effect.forkDetach(capture)
              yield* isWaitedFor.pipe(
                Effect.delay("5 millis"),
                Effect.repeat({ until: (waiting) => waiting })
              )
              return fiber
            })
          )
          assert.deepInclude(yield* Fiber.join(capturing), { won: true, capturedNano: 50n })
          assert.deepEqual(
            yield* sql`
              SELECT o.state AS hold, t.state AS task FROM orders o
                JOIN tasks t ON t.organization_id = o.organization_id AND t.id = o.id
               WHERE o.organization_id = ${organizationId}`,
            [{ hold: "captured", task: "succeeded" }]
          )
          assert.deepEqual(yield* ledger.balance(organizationId), {
            balanceNano: 50n,
            heldNano: 0n
          })
          assert.deepEqual(yield* ledger.verify, [])
        })
      )
    }
  }
)
