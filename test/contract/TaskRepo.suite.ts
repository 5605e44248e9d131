/** What every store of tasks must do, whatever it keeps them in. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, type Layer, Option, Result } from "effect"
import type { Access } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskHistory } from "../../src/services/TaskHistory.ts"
import { TaskRepo, type VendorsJob } from "../../src/services/TaskRepo.ts"
import { usageOf } from "../support/ledger.ts"
import {
  byChannel,
  claimAgain,
  claimDue,
  claimTheRest,
  dueTasks,
  quote,
  submittedTasks,
  upstream
} from "../support/tasks.ts"

/** How long an order waits for a place, which is far longer than its vendor takes. */
const WAIT_SECONDS = 0.2

/** When the task is asked for next, its deadline, and since when its vendor does not know it. */
const timesOf = Effect.fnUntraced(function* (id: string) {
  const { task } = yield* Effect.flatMap(TaskHistory, (history) => history.find(id))
  assert.isNotNull(task)
  const { nextPollAt, deadline, unknownSince } = task
  return { nextPollAt, deadline, unknownSince }
})

/** With the settings of `layerEager`. */
export const taskRepoSuite = (
  name: string,
  stores: Layer.Layer<TaskRepo | TaskHistory | Ledger | Access, unknown>
): void => {
  layer(stores, { excludeTestServices: true, timeout: "60 seconds" })(name, (it) => {
    it.effect("a channel gives no more tasks than it has room, and channels take turns", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        yield* dueTasks("crowded", 20)
        yield* dueTasks("quiet", 3)
        assert.deepStrictEqual(byChannel(yield* claimDue(4, 64)), { crowded: 2, quiet: 2 })
        assert.deepStrictEqual(byChannel(yield* claimDue(100, 8, [["crowded", 2]])), {
          crowded: 6,
          quiet: 1
        })
        assert.deepStrictEqual(byChannel(yield* claimDue(100, 8, [["crowded", 8]])), {})
        assert.deepStrictEqual(byChannel(yield* claimDue(100, 8, [["crowded", 9]])), {})
        const ahead = yield* claimDue(100, 8, [["crowded", -2]])
        assert.deepStrictEqual(byChannel(ahead), { crowded: 10 })
        assert.deepStrictEqual(byChannel(yield* claimDue(100, 64)), { crowded: 2 })
        assert.deepStrictEqual(yield* claimDue(100, 64), [])
      })
    )

    it.effect(
      "a task that is given to another channel is asked for there, and found there when lost",
      () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const repo = yield* TaskRepo
          const { organizationId, ids } = yield* submittedTasks("left", 2)
          const [id = "", lost = ""] = ids
          const job = { channelId: "taken to", protocol: "vp_e", upstreamModel: "other" }
          const refusal = { reason: "rate_limited" as const, status: 429 }
          const encodedCost = { ...quote, nanoPerSecond: "2", holdNano: "10" }
          const reassign = (holdId: string) =>
            ledger.reassign({ organizationId, holdId, job, cost: encodedCost, refusal })
          // The first answer may have been lost on its way.
          for (const holdId of [id, id, lost]) assert.isTrue(yield* reassign(holdId))
          yield* repo.accept(organizationId, id, upstream("up-1"), 0)
          const claimed = yield* claimAgain(organizationId, id)
          assert.deepInclude(claimed, job)
          assert.strictEqual(claimed.keyName, "default")
          assert.strictEqual(claimed.cost?.holdNano, 10n)
          const history = yield* Effect.flatMap(TaskHistory, (history) => history.find(id))
          assert.deepStrictEqual(history.job, job)
          assert.deepStrictEqual(
            history.refusals.map(({ at: _, ...refused }) => refused),
            [{ channelId: "left", protocol: "vp_d", upstreamModel: "u", ...refusal }]
          )

          yield* ledger.release({
            organizationId,
            holdId: lost,
            by: "sweep",
            task: { from: "submitting", state: "rejected", errorCode: "c", errorMessage: "m" },
            orphan: { upstreamId: null, reason: "gateway_crash" },
            answer: null,
            forgetKey: false
          })
          const { orphan } = yield* Effect.flatMap(TaskHistory, (history) => history.find(lost))
          assert.deepStrictEqual(orphan?.job, job)
          assert.isFalse(yield* reassign(lost))
          assert.isFalse(yield* reassign("vt_00000000-0000-7000-8000-0000deadbeef"))
          assert.deepStrictEqual(yield* ledger.verify, [])
        })
    )

    it.effect("the age of a task counts from its acceptance, without its wait for a place", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* submittedTasks("full", 1, {
          isWaiting: true,
          summary: { seconds: 5, billedResolution: "720p" }
        })
        const [id = ""] = ids
        yield* repo
          .find(organizationId, id)
          .pipe(Effect.repeat({ until: ({ ageSeconds }) => ageSeconds > WAIT_SECONDS }))
        assert.isTrue(yield* repo.startWaiting(organizationId, id))
        const startMillis = Date.now()
        yield* repo.accept(organizationId, id, upstream("up-waited"), 0)
        const ages = [
          (yield* repo.find(organizationId, id)).ageSeconds,
          (yield* claimAgain(organizationId, id)).ageSeconds
        ]
        const { won } = yield* ledger.capture({
          organizationId,
          holdId: id,
          by: "poll",
          chargeNano: 5n,
          costNano: null,
          usage: usageOf(5n),
          task: {
            from: "processing",
            state: "succeeded",
            videoUrl: "https://a.test/waited.mp4",
            completionTokens: null
          },
          answer: null
        })
        assert.isTrue(won)
        const completion = (yield* repo.recentCompletions(1000)).at(-1)
        const longest = (Date.now() - startMillis) / 1000 + WAIT_SECONDS / 10
        for (const seconds of [...ages, completion?.tookSeconds ?? -1]) {
          assert.isAtLeast(seconds, 0)
          assert.isBelow(seconds, longest)
        }
      })
    )

    it.effect("the longest due task of a channel goes first", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const { ids } = yield* dueTasks("in order", 5)
        const first = yield* claimDue(2, 64)
        assert.sameMembers(
          first.map(({ id }) => id),
          ids.slice(0, 2)
        )
      })
    )

    it.effect("of many claims at once none takes a task another one has", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        for (const channel of ["one", "two", "three"]) yield* dueTasks(channel, 40)
        const claims = yield* Effect.all(
          Array.from({ length: 12 }, () => claimDue(20, 64)),
          { concurrency: "unbounded" }
        )
        const rest = yield* claimTheRest
        const all = [...claims.flat(), ...rest].map(({ id }) => id)
        assert.lengthOf(all, 120)
        assert.strictEqual(new Set(all).size, 120)
      })
    )

    it.effect("a put-back of a stale claim changes nothing, also among others", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("stale", 6)
        const old = yield* claimDue(100, 64)
        assert.lengthOf(old, 6)
        const again = yield* Effect.forEach(ids.slice(0, 3), (id) => claimAgain(organizationId, id))
        const taken = new Map(again.map((task) => [task.id, task] as const))
        const before = yield* Effect.forEach(old, ({ id }) => timesOf(id))
        const put = { nextPollSeconds: 500, isKnown: false }
        const current = yield* Effect.forEach(old, (task) => repo.putBack(task, put), {
          concurrency: "unbounded"
        })
        for (const [index, { id }] of old.entries()) {
          const row = yield* timesOf(id)
          assert.strictEqual(current[index], !taken.has(id))
          if (taken.has(id)) assert.deepStrictEqual(row, before[index])
          else assert.isNotNull(row.unknownSince)
        }
        for (const task of taken.values()) assert.isTrue(yield* repo.putBack(task, put))
      })
    )

    it.effect("a task is put back no later than its deadline", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        const { ids } = yield* dueTasks("late", 1, 60)
        const [task] = yield* claimDue(100, 64)
        assert.isDefined(task)
        yield* repo.putBack(task, { nextPollSeconds: 600, isKnown: null })
        const row = yield* timesOf(ids[0] ?? "")
        assert.deepStrictEqual(row.nextPollAt, row.deadline)
      })
    )

    it.effect("running tasks are overdue from their deadline on, the first deadlines first", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const later = yield* dueTasks("overdue", 2, -8000)
        const first = yield* dueTasks("overdue", 2, -9000)
        yield* submittedTasks("overdue", 1, { ttlSeconds: -9500 })
        yield* dueTasks("overdue", 1)
        const overdue = (seconds: number, limit: number) =>
          Effect.map(repo.overdue(seconds, limit), (tasks) => tasks.map(({ id }) => id))
        assert.deepStrictEqual(yield* overdue(9600, 10), [])
        assert.sameMembers(yield* overdue(8500, 10), first.ids)
        assert.sameMembers(yield* overdue(7500, 10), [...first.ids, ...later.ids])
        assert.sameMembers(yield* overdue(7500, 2), first.ids)
        const [task] = yield* repo.overdue(7500, 1)
        assert.deepStrictEqual(task, {
          organizationId: first.organizationId,
          id: task?.id,
          upstreamId: `up-${task?.id}`
        })
        yield* claimTheRest
      })
    )

    it.effect("a task nobody asked for is put back as it was last asked", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("unasked", 1)
        const [id = ""] = ids
        for (const [polledSecondsAgo, atLeast, below] of [
          [1000, 1000, 2000],
          [0, 0, 1000]
        ] as const) {
          const claimed = yield* claimAgain(organizationId, id)
          yield* repo.putBack(claimed, {
            nextPollSeconds: 0,
            isKnown: null,
            polledSecondsAgo: polledSecondsAgo
          })
          const { sincePollSeconds } = yield* repo.find(organizationId, id)
          assert.isAtLeast(sincePollSeconds ?? -1, atLeast)
          assert.isBelow(sincePollSeconds ?? -1, below)
        }
      })
    )

    it.effect("an answer that knows the task ends its time of grace, and none leaves it", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("unknown", 1)
        const [id = ""] = ids
        const since: Array<Date | null> = []
        for (const known of [false, null, false, true, null] as const) {
          const claimed = yield* claimAgain(organizationId, id)
          yield* repo.putBack(claimed, { nextPollSeconds: 100, isKnown: known })
          since.push((yield* timesOf(id)).unknownSince)
        }
        const [first] = since
        assert.isNotNull(first)
        assert.deepStrictEqual(since, [first, first, first, null, null])
      })
    )

    it.effect("of many readers at once each gets the task it may see, or none", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const mine = yield* dueTasks("read", 30)
        const others = yield* dueTasks("read too", 30)
        const read = ({ organizationId }: typeof mine, id: string) =>
          Effect.match(repo.find(organizationId, id), {
            onSuccess: (task) => `${task.organizationId} ${task.id}`,
            onFailure: ({ _tag, message }) => `${_tag} ${message.replace(id, "it")}`
          })
        const unknown = yield* read(mine, "vt_00000000-0000-7000-8000-ffffffffffff")
        const all = [...mine.ids, ...others.ids]
        const [seen, seenByOthers] = yield* Effect.all(
          [
            Effect.forEach(all, (id) => read(mine, id), { concurrency: "unbounded" }),
            Effect.forEach(all, (id) => read(others, id), { concurrency: "unbounded" })
          ],
          { concurrency: "unbounded" }
        )
        const none = mine.ids.map(() => unknown)
        const own = ({ organizationId, ids }: typeof mine) =>
          ids.map((id) => `${organizationId} ${id}`)
        assert.deepStrictEqual(seen, [...own(mine), ...none])
        assert.deepStrictEqual(seenByOthers, [...none, ...own(others)])
      })
    )

    it.effect("a reader learns how long ago the task was accepted or asked for", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("told", 1)
        const [id = ""] = ids
        const since = Effect.map(
          repo.find(organizationId, id),
          ({ sincePollSeconds }) => sincePollSeconds ?? 0
        )
        const waited = yield* Effect.repeat(since, { until: (seconds) => seconds > 0.05 })
        yield* claimAgain(organizationId, id)
        assert.isBelow(yield* since, waited)
      })
    )

    it.effect("of many acceptances at once each is answered for its own task", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const ledger = yield* Ledger
        const { organizationId, ids } = yield* submittedTasks("accepting", 20)
        const givenUp = ids.slice(0, 3)
        for (const id of givenUp) {
          yield* ledger.release({
            organizationId,
            holdId: id,
            by: "sweep",
            task: { from: "submitting", state: "rejected", errorCode: "x", errorMessage: "x" },
            orphan: null,
            answer: null,
            forgetKey: false
          })
        }
        const accept = (name: string) =>
          Effect.forEach(
            // In another order than that of the ids.
            [...ids, ...ids].toReversed(),
            (id) => repo.accept(organizationId, id, upstream(`${name}-${id}`), 3600),
            { concurrency: "unbounded" }
          )
        const accepted = [...ids, ...ids].toReversed().map((id) => !givenUp.includes(id))
        assert.deepStrictEqual(yield* accept("up"), accepted)
        assert.deepStrictEqual(yield* accept("up"), accepted)
        assert.notInclude(yield* accept("another"), true)
        for (const id of ids) {
          const { state } = yield* repo.find(organizationId, id)
          assert.strictEqual(state, givenUp.includes(id) ? "rejected" : "processing")
        }
        const nobody = repo.accept(
          organizationId,
          "vt_00000000-0000-7000-8000-ffffffffffff",
          upstream("u"),
          1
        )
        assert.strictEqual((yield* Effect.exit(nobody))._tag, "Failure")
      })
    )

    describe("a vendor's job is one order's", () => {
      /** Orders of fresh organisations, each told the job; whether it has it. */
      const toldJob = Effect.fnUntraced(function* (
        job: VendorsJob,
        orders: number,
        concurrency: "unbounded" | 1
      ) {
        const repo = yield* TaskRepo
        const submitted = yield* Effect.forEach(Array.from({ length: orders }), () =>
          submittedTasks(job.channelId, 1)
        )
        return yield* Effect.forEach(
          submitted,
          ({ organizationId, ids: [id = ""] }) =>
            Effect.map(
              Effect.result(repo.accept(organizationId, id, { ...upstream(""), ...job }, 3600)),
              (result) => ({ organizationId, id, has: Result.isSuccess(result) && result.success })
            ),
          { concurrency }
        )
      })
      let jobs = 0
      const freshJob = (): VendorsJob => ({
        channelId: "jobs",
        origin: "http://vendor.test",
        upstreamId: `job-${jobs++}`
      })

      it.effect.each([1, "unbounded"] as const)(
        "of orders of several organisations that are told it, one has it (concurrency %s)",
        (concurrency) =>
          Effect.gen(function* () {
            const repo = yield* TaskRepo
            const told = yield* toldJob(freshJob(), 20, concurrency)
            const owners = told.filter(({ has }) => has)
            assert.lengthOf(owners, 1)
            for (const { organizationId, id, has } of told) {
              const { state } = yield* repo.find(organizationId, id)
              assert.strictEqual(state, has ? "processing" : "submitting")
            }
          })
      )

      it.effect(
        "a repeat of its acceptance changes nothing, and after its end it stays taken",
        () =>
          Effect.gen(function* () {
            const repo = yield* TaskRepo
            const ledger = yield* Ledger
            const job = freshJob()
            const [owner] = yield* toldJob(job, 1, 1)
            assert.isTrue(owner?.has)
            const { organizationId = "", id: holdId = "" } = owner ?? {}
            const again = { ...upstream(""), ...job }
            assert.isTrue(yield* repo.accept(organizationId, holdId, again, 3600))
            yield* ledger.release({
              organizationId,
              holdId,
              by: "sweep",
              orphan: null,
              answer: null,
              forgetKey: false,
              task: { from: "processing", state: "failed", errorCode: "x", errorMessage: "x" }
            })
            assert.deepStrictEqual(
              (yield* toldJob(job, 2, 1)).map(({ has }) => has),
              [false, false]
            )
          })
      )

      it.effect(
        "one that is waited for is claimed the same way, by the order itself as often as it likes",
        () =>
          Effect.gen(function* () {
            const repo = yield* TaskRepo
            const job = freshJob()
            const claims = yield* Effect.forEach(
              ["im_1", "im_2", "im_1", "im_2"],
              (id) => Effect.isSuccess(repo.claimJob(id, job)),
              { concurrency: "unbounded" }
            )
            assert.includeDeepMembers(
              [
                [true, false, true, false],
                [false, true, false, true]
              ],
              [claims]
            )
            assert.deepStrictEqual(
              (yield* toldJob(job, 1, 1)).map(({ has }) => has),
              [false]
            )
          })
      )

      it.effect("another channel, another origin and another spelling are other jobs", () =>
        Effect.gen(function* () {
          const job = freshJob()
          const others: ReadonlyArray<Partial<VendorsJob>> = [
            {},
            { channelId: "other" },
            { origin: "https://vendor.test" },
            { origin: "http://vendor.test:81" },
            { upstreamId: job.upstreamId.toUpperCase() },
            { upstreamId: `${job.upstreamId} ` }
          ]
          for (const other of others) {
            const [told] = yield* toldJob({ ...job, ...other }, 1, 1)
            assert.isTrue(told?.has, JSON.stringify(other))
          }
        })
      )
    })

    it.effect("of many cancels of a task at once one is sent, and none of an ended task", () =>
      Effect.gen(function* () {
        const repo = yield* TaskRepo
        const ledger = yield* Ledger
        const { organizationId, ids } = yield* dueTasks("cancels", 1)
        const [id = ""] = ids
        const starts = yield* Effect.all(
          Array.from({ length: 8 }, () => repo.startCancel(organizationId, id)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          starts.filter((isSent) => isSent),
          [true]
        )
        yield* ledger.release({
          organizationId,
          holdId: id,
          by: "poll",
          task: { from: "processing", state: "failed", errorCode: "cancelled", errorMessage: "" },
          orphan: null,
          answer: null,
          forgetKey: false
        })
        assert.isFalse(yield* repo.startCancel(organizationId, id))
        assert.isFalse(yield* repo.startCancel(organizationId, "vt_none"))
      })
    )

    it.effect(
      "an image's job is cancelled by one request at a time, until the task has ended",
      () =>
        Effect.gen(function* () {
          const repo = yield* TaskRepo
          const ledger = yield* Ledger
          const { organizationId, ids } = yield* submittedTasks("image jobs", 1)
          const [id = ""] = ids
          const endUncalled = ledger.release({
            organizationId,
            holdId: id,
            by: "poll",
            task: {
              from: "submitting",
              state: "failed",
              errorCode: "cancelled",
              errorMessage: "",
              lease: 0n
            },
            orphan: null,
            answer: null,
            forgetKey: false
          })
          assert.isTrue(yield* repo.startCall(organizationId, id))
          assert.isFalse((yield* endUncalled).won)
          const claim = repo.claimJobToCancel(organizationId, id)
          assert.isTrue(Option.isNone(yield* claim))
          assert.isFalse(yield* repo.startCancel(organizationId, id))
          const { origin: _, ...job } = upstream("first")
          yield* repo.recordJob(organizationId, id, job)
          yield* repo.recordJob(organizationId, id, { ...job, upstreamId: "second" })
          assert.deepInclude(yield* repo.find(organizationId, id), {
            state: "submitting",
            accountVersion: job.accountVersion
          })
          const claimed = Option.getOrThrow(yield* claim)
          assert.deepInclude(claimed, { id, channelId: "image jobs", ...job })
          const [left] = (yield* repo.abandoned("all")).filter((task) => task.id === id)
          assert.strictEqual(left?.upstreamId, job.upstreamId)

          // Another channel takes the order, whose vendor is not called yet.
          const other = { channelId: "taken", protocol: "vp_e", upstreamModel: "other" }
          const refusal = { reason: "rate_limited" as const, status: 429 }
          const move = { organizationId, holdId: id, job: other, cost: null, refusal }
          assert.isTrue(yield* ledger.reassign(move))
          assert.isTrue((yield* endUncalled).won)
          assert.isFalse(yield* repo.startCall(organizationId, id))
          assert.isTrue(Option.isNone(yield* claim))
        })
    )

    it.effect("a paused channel is asked for nothing but tasks past their deadline", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        const { organizationId, ids } = yield* dueTasks("paused", 2)
        const late = yield* dueTasks("paused", 1, 0.001)
        yield* repo
          .find(late.organizationId, late.ids[0] ?? "")
          .pipe(Effect.repeat({ until: ({ ageSeconds }) => ageSeconds > 0.001 }))
        yield* dueTasks("awake", 1)
        yield* repo.pause("paused", 100)
        yield* repo.pause("paused", 0.001)
        const claimed = yield* claimDue(100, 64)
        assert.deepStrictEqual(byChannel(claimed), { paused: 1, awake: 1 })
        assert.includeMembers(
          claimed.map(({ id }) => id),
          late.ids
        )
        assert.isTrue(Option.isNone(yield* repo.claim(organizationId, ids[0] ?? "")))
        const again = yield* claimAgain(late.organizationId, late.ids[0] ?? "")
        assert.isTrue(again.pastDeadline)
      })
    )

    it.effect("a pause ends on its own", () =>
      Effect.gen(function* () {
        yield* claimTheRest
        const repo = yield* TaskRepo
        yield* dueTasks("dozing", 1)
        yield* repo.pause("dozing", 0.05)
        const claimed = yield* claimDue(100, 64).pipe(
          Effect.repeat({ until: (tasks) => tasks.length > 0 }),
          Effect.timeout("10 seconds")
        )
        assert.deepStrictEqual(byChannel(claimed), { dozing: 1 })
      })
    )
  })
}
