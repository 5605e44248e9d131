import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Settings } from "../../src/runtime/Settings.ts"
import type { VideoTaskRef } from "../../src/services/ProtocolAdapter.ts"
import {
  type Customer,
  Ledger,
  layerGatewayTesting,
  ProtocolAdapter,
  ScriptedVendors,
  TaskRepo,
  TestingGateway,
  type VideoAdapter,
  vendor
} from "../../src/testing/doubles.ts"

/** What the store was asked for. */
const asked = { finds: 0, claims: 0 }

const layerCountedTasks = Layer.effect(
  TaskRepo,
  Effect.map(TaskRepo, (tasks) =>
    TaskRepo.of({
      ...tasks,
      find: (organizationId, id) =>
        Effect.suspend(() => {
          asked.finds++
          return tasks.find(organizationId, id)
        }),
      claim: (organizationId, id) =>
        Effect.suspend(() => {
          asked.claims++
          return tasks.claim(organizationId, id)
        })
    })
  )
)

/** What vendors were asked. */
const questions: Array<VideoTaskRef> = []

const layerCountedQuestions = Layer.effect(
  ProtocolAdapter,
  Effect.map(ProtocolAdapter, (adapters) => ({
    ...adapters,
    video: new Map(
      [...adapters.video].map(([protocol, adapter]): [string, VideoAdapter] => [
        protocol,
        {
          ...adapter,
          poll: (account, task) =>
            Effect.suspend(() => {
              questions.push(task)
              return adapter.poll(account, task)
            })
        }
      ])
    )
  }))
)

const Accepted = Schema.Struct({ id: Schema.String })

const order = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* TestingGateway
  const answer = yield* gateway.call("/v1/videos/generations", {
    key: who.key,
    json: { model: "film-1", prompt: "a lighthouse" }
  })
  return (yield* Effect.orDie(Schema.decodeUnknownEffect(Accepted)(answer.body))).id
})

const read = (who: Customer, id: string, query = "") =>
  Effect.flatMap(TestingGateway, (gateway) =>
    gateway.call(`/v1/videos/${id}${query}`, { key: who.key })
  )

/** What the store was asked for while the effect ran. */
const counted = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = { ...asked }
  yield* effect
  return { finds: asked.finds - before.finds, claims: asked.claims - before.claims }
})

const layerGateway = (settings: Partial<Settings> = {}) =>
  layerGatewayTesting({
    settings,
    vendors: { videos: vendor.waits() },
    replacing: layerCountedTasks
  })

layer(layerGateway())("reading a task", (it) => {
  it.effect("asks the store once, and no more once the task has finished", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const [owner, stranger] = [yield* gateway.customer(), yield* gateway.customer()]
      const id = yield* order(owner)
      assert.deepStrictEqual(yield* counted(read(owner, id)), { finds: 1, claims: 0 })
      yield* vendors.finish()
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* counted(read(owner, id)), { finds: 1, claims: 0 })
      const first = yield* read(owner, id)
      assert.deepNestedInclude(first.body, { task_status: "succeeded" })
      const again = yield* counted(
        Effect.forEach(["", "?wait=60", ""], (query) =>
          Effect.map(read(owner, id, query), ({ body }) => assert.deepStrictEqual(body, first.body))
        )
      )
      assert.deepStrictEqual(again, { finds: 0, claims: 0 })
      const [foreign, unknown] = [yield* read(stranger, id), yield* read(stranger, "vt_none")]
      assert.deepStrictEqual([foreign.status, unknown.status], [404, 404])
      assert.strictEqual(
        JSON.stringify(foreign.body).replace(id, "vt_none"),
        JSON.stringify(unknown.body)
      )
    })
  )
})

layer(layerGatewayTesting({ vendors: { videos: vendor.refuses() }, replacing: layerCountedTasks }))(
  "a task its vendor refused",
  (it) => {
    it.effect("is not found, and is not kept for those who read it again", () =>
      Effect.gen(function* () {
        const gateway = yield* TestingGateway
        const who = yield* gateway.customer()
        yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "a lighthouse" }
        })
        const page = { after: null, limit: 10 }
        const { data } = yield* (yield* Ledger).journal(who.organizationId, page)
        const id = data.find(({ kind }) => kind === "release")?.holdId ?? ""
        const again = read(who, id).pipe(
          Effect.tap(({ status }) => Effect.sync(() => assert.strictEqual(status, 404)))
        )
        assert.match(id, /^vt_/)
        assert.deepStrictEqual(yield* counted(again), { finds: 1, claims: 0 })
        assert.deepStrictEqual(yield* counted(again), { finds: 1, claims: 0 })
      })
    )
  }
)

layer(layerGateway({ askIntervalSeconds: 2, pollerSeconds: 3600 }))("a running task", (it) => {
  it.effect("is claimed by a reader once in an ask interval, however often it is read", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const id = yield* order(who)
      yield* TestClock.adjust("1999 millis")
      const reads = Effect.forEach(Array.from({ length: 5 }), () => read(who, id))
      assert.strictEqual((yield* counted(reads)).claims, 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* counted(reads)).claims, 1)
    })
  )
})

/** The poller asks exactly every two seconds, and a waiting reader looks at other moments. */
const everyTwoSeconds = { askIntervalSeconds: 2, maxAskIntervalSeconds: 2, pollerSeconds: 2 }

layer(layerGateway(everyTwoSeconds))("a reader that waits", (it) => {
  it.effect("is woken by the end that the poller writes", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const who = yield* gateway.customer()
      const id = yield* order(who)
      yield* TestClock.adjust("400 millis")
      const waiting = yield* Effect.forkChild(read(who, id, "?wait=60"))
      yield* TestClock.adjust("1100 millis")
      yield* vendors.finish()
      const { claims } = yield* counted(TestClock.adjust("500 millis"))
      assert.strictEqual(claims, 0)
      // Time stands still: nothing but the end itself can wake it.
      assert.deepNestedInclude((yield* Fiber.join(waiting)).body, { task_status: "succeeded" })
    })
  )
})

const layerStuckWrites = Layer.effect(
  TaskRepo,
  Effect.map(TaskRepo, (tasks) => TaskRepo.of({ ...tasks, putBack: () => Effect.never }))
)

layer(
  layerGatewayTesting({
    settings: { pollsPerChannel: 1 },
    vendors: { videos: vendor.waits() },
    replacing: Layer.merge(layerStuckWrites, layerCountedQuestions)
  })
)("a vendor that has answered", (it) => {
  it.effect("is asked the next question before the answer is written down", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const ids = yield* Effect.forEach([1, 2, 3], () => order(who))
      yield* TestClock.adjust("10 seconds")
      assert.sameMembers(
        questions.map(({ upstreamId }) => upstreamId),
        ids.map((_, index) => `job-${index + 1}`)
      )
    })
  )
})

/** The database can be swept and cannot be asked for due tasks. */
const outage = { lasts: false }

const layerSometimesAway = Layer.effect(
  TaskRepo,
  Effect.map(TaskRepo, (tasks) =>
    TaskRepo.of({
      ...tasks,
      claimDue: (options) =>
        outage.lasts ? Effect.die(new Error("out of reach")) : tasks.claimDue(options)
    })
  )
)

layer(
  layerGatewayTesting({
    settings: { taskDeadlineSeconds: 600, lastQuestionSeconds: 30 },
    vendors: { videos: vendor.waits() },
    replacing: layerSometimesAway
  })
)("a deadline", (it) => {
  const balanceOf = ({ organizationId }: Customer) =>
    Effect.flatMap(Ledger, (ledger) => ledger.balance(organizationId))

  it.effect("that passes while nobody can ask leaves time for the last question", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const who = yield* gateway.customer()
      const id = yield* order(who)
      outage.lasts = true
      yield* TestClock.adjust("20 minutes")
      assert.isAbove(Number((yield* balanceOf(who)).heldNano), 0)
      yield* vendors.finish()
      outage.lasts = false
      yield* TestClock.adjust("5 seconds")
      assert.deepNestedInclude((yield* read(who, id)).body, { task_status: "succeeded" })
    })
  )
})
