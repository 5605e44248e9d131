/** What every store of tasks must do for those who read their own. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../src/services/Ledger.ts"
import { type TaskFilter, TaskRepo } from "../../src/services/TaskRepo.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

export const taskListsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect(
    "images end as a task that was never asked for, with what their client is answered",
    () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const repo = yield* TaskRepo
        const { organizationId, hold } = yield* organization(100n)
        const id = jobId("im")
        const task = {
          listedProtocol: "ip_a",
          summary: { images: 1 },
          submitSeconds: 60
        }
        yield* ledger.hold(hold(1n, { id, task }))
        assert.deepInclude(yield* repo.find(organizationId, id), {
          state: "submitting",
          finished: false,
          result: null,
          kind: null
        })
        const result = { created: 7, data: [{ url: "https://a.test/\u0000ü" }] }
        const { won } = yield* ledger.capture({
          organizationId,
          holdId: id,
          by: "image",
          chargeNano: 1n,
          costNano: null,
          usage: usageOf(1n),
          task: { from: "submitting", state: "succeeded", result },
          answer: null
        })
        assert.isTrue(won)
        assert.deepInclude(yield* repo.find(organizationId, id), {
          state: "succeeded",
          finished: true,
          result,
          videoUrl: null
        })
        assert.deepStrictEqual(yield* repo.recentCompletions(1), [])
        assert.deepStrictEqual(yield* ledger.verify, [])
      })
  )

  it.effect("a member's own are listed newest first, in pages, by state, model and time", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const repo = yield* TaskRepo
      const { organizationId, memberIds, hold } = yield* organization(100n, 2)
      const [memberId = "", other = ""] = memberIds
      const task = { listedProtocol: "vp_d", summary: {}, submitSeconds: 60 }
      const ordered = (kind: "vt" | "im", model: string, by = memberId) => {
        const id = jobId(kind)
        return Effect.as(ledger.hold(hold(5n, { id, memberId: by, model, quote, task })), id)
      }
      const [first, second, third] = [
        yield* ordered("vt", "a"),
        yield* ordered("vt", "b"),
        yield* ordered("vt", "a")
      ]
      yield* ordered("vt", "a", other)
      yield* ordered("im", "paint")
      yield* repo.accept(organizationId, second, upstream("up"), 3600)
      const worded = jobId("vt")
      const summary = { ratio: "9:16", size: "720x1280" }
      const words = { ...task, summary, dialect: "openai" } as const
      yield* ledger.hold(hold(5n, { id: worded, memberId: other, quote, task: words }))
      const said = { dialect: "openai", finishedAt: null, ...summary } as const
      assert.deepInclude(yield* repo.find(organizationId, worded), said)
      const unsaid = { dialect: "own", ratio: null, size: null } as const
      assert.deepInclude(yield* repo.find(organizationId, first), unsaid)

      const listed = (
        filter: Partial<TaskFilter> = {},
        page: { readonly after?: string; readonly limit?: number } = {}
      ) =>
        Effect.map(
          repo.list(
            { organizationId, memberId },
            {
              kind: "video",
              states: ["submitting", "processing"],
              model: null,
              createdAfter: null,
              order: "desc",
              ...filter
            },
            { after: null, limit: 10, ...page }
          ),
          ({ data, hasMore }) => [...data.map(({ id }) => id), hasMore]
        )
      assert.deepStrictEqual(yield* listed(), [third, second, first, false])
      assert.deepStrictEqual(yield* listed({}, { limit: 2 }), [third, second, true])
      assert.deepStrictEqual(yield* listed({}, { after: second }), [first, false])
      const oldest = { order: "asc" } as const
      assert.deepStrictEqual(yield* listed(oldest), [first, second, third, false])
      assert.deepStrictEqual(yield* listed(oldest, { limit: 2 }), [first, second, true])
      assert.deepStrictEqual(yield* listed(oldest, { after: second }), [third, false])
      assert.deepStrictEqual(yield* listed({ model: "a" }), [third, first, false])
      assert.deepStrictEqual(yield* listed({ states: ["processing"] }), [second, false])
      assert.deepStrictEqual(yield* listed({ createdAfter: new Date(0) }), [
        third,
        second,
        first,
        false
      ])
      const later = new Date(Date.now() + 3_600_000)
      assert.deepStrictEqual(yield* listed({ createdAfter: later }), [false])
      assert.lengthOf(yield* listed({ kind: "image" }), 2)
      for (const after of ["none", jobId("vt")]) {
        const refused = yield* Effect.flip(listed({}, { after }))
        assert.strictEqual(refused.param, "after")
      }
    })
  )
}
