/** What a test can bring about only by changing a task's row. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { layerLedgerOn } from "../support/ledger.ts"
import { claimAgain, claimDue, claimTheRest, dueTasks, layerEager } from "../support/tasks.ts"

for (const kind of ["embedded", "postgres"] as const) {
  layer(Layer.provide(layerLedgerOn(kind), layerEager), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`rows of tasks (${kind})`, (it) => {
    it.effect("a claim tells how long ago the task was asked for before", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const sql = yield* SqlClient.SqlClient
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("asked", 2)
        yield* sql`UPDATE tasks SET asked_at = now() - interval '100 seconds'
                      WHERE organization_id = ${organizationId}`
        const [id = ""] = ids
        const read = yield* repo.claim(organizationId, id)
        const [polled] = yield* claimDue(100, 64)
        for (const task of [Option.getOrUndefined(read), polled]) {
          assert.isAtLeast(task?.sinceAskedSeconds ?? 0, 100)
        }
        assert.isBelow((yield* claimAgain(organizationId, id)).sinceAskedSeconds, 100)
      })
    )
  })
}
