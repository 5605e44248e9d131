/** What a test can bring about only by changing a task's row. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { layerLedgerOn } from "../support/ledger.ts"
import {
  claimAgain,
  claimDue,
  claimTheRest,
  dueTasks,
  layerEager,
  submittedTasks,
  upstream
} from "../support/tasks.ts"

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
          assert.isAtLeast(task?.sincePollSeconds ?? 0, 100)
        }
        assert.isBelow((yield* claimAgain(organizationId, id)).sincePollSeconds, 100)
      })
    )
  })
}

/** Statements on the database so far, of every session of it. */
const statementsBy = (counter: { count: number }) =>
  Layer.effect(
    Tracer.Tracer,
    Effect.map(Tracer.Tracer, (tracer) => ({
      ...tracer,
      span: (options: Parameters<Tracer.Tracer["span"]>[0]) => {
        if (options.kind === "client") counter.count++
        return tracer.span(options)
      }
    }))
  )

const statements = { count: 0 }

layer(Layer.provide(layerLedgerOn("postgres"), [layerEager, statementsBy(statements)]), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("what comes together", (it) => {
  it.effect("is read, and accepted, by a few statements", () =>
    Effect.gen(function* () {
      const repo = yield* TaskRepo
      const { organizationId, ids } = yield* submittedTasks("together", 100)
      const counted = Effect.fnUntraced(function* (
        each: (id: string) => Effect.Effect<unknown, unknown>
      ) {
        const before = statements.count
        yield* Effect.forEach(ids, each, { concurrency: "unbounded", discard: true })
        return statements.count - before
      })
      const accepts = yield* counted((id) =>
        repo.accept(organizationId, id, upstream(`up-${id}`), 0)
      )
      const finds = yield* counted((id) => repo.find(organizationId, id))
      for (const count of [accepts, finds]) {
        assert.isAtLeast(count, 1)
        assert.isAtMost(count, 10)
      }
    })
  )
})
