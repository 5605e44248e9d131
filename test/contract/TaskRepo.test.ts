import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerStores } from "../../src/gateway.ts"
import { Access } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { defaultSettings, Settings } from "../../src/services/Settings.ts"
import { type ClaimedTask, TaskRepo } from "../../src/services/TaskRepo.ts"
import { layerDatabase } from "../support/databases.ts"

const secrets = { masterKey: Redacted.make(new Uint8Array(32).fill(7)), adminToken: null }
const settings = { ...defaultSettings, askIntervalSeconds: 0.001 }

const quote = {
  kind: "second_video",
  resolution: "720p",
  outputSeconds: 5,
  nanoPerSecond: "1",
  holdNano: "5"
}

let minted = 0

/** Tasks of a fresh organisation that run on the channel and are due at once; their ids. */
const dueTasks = Effect.fnUntraced(function* (channelId: string, count: number, ttlSeconds = 3600) {
  const access = yield* Access
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const organizationId = yield* access.createOrganization("Test")
  yield* ledger.deposit(organizationId, 1_000_000n, "first")
  const member = { name: "m", monthlyCapNano: null }
  const memberId = yield* access.createMember(organizationId, member)
  const ids: Array<string> = []
  for (let index = 0; index < count; index++) {
    const id = `vt_00000000-0000-7000-8000-${String(minted++).padStart(12, "0")}`
    yield* ledger.hold({
      organizationId,
      memberId,
      id,
      amountNano: 5n,
      ttlSeconds,
      quote,
      job: { channelId, protocol: "vp_d", upstreamModel: "u" },
      task: { keyId: "k", model: "m", listedProtocol: "vp_d", summary: {}, submitSeconds: 60 },
      key: null
    })
    yield* repo.accept(organizationId, id, `up-${id}`, 0)
    ids.push(id)
  }
  return { organizationId, ids }
})

const claimDue = (limit: number, perChannel: number, asked: ReadonlyArray<[string, number]> = []) =>
  Effect.flatMap(TaskRepo, (repo) => repo.claimDue({ limit, perChannel, asked: new Map(asked) }))

/** Claims the task as a reader does, once the ask interval is over. */
const claimAgain = (organizationId: string, id: string) =>
  Effect.flatMap(TaskRepo, (repo) =>
    repo
      .claim(organizationId, id)
      .pipe(
        Effect.repeat({ until: Option.isSome }),
        Effect.flatMap(Effect.fromOption),
        Effect.orDie
      )
  )

/** Claims what other tests left due, so that a claim's size is the test's own. */
const claimTheRest = claimDue(1000, 1000)

const byChannel = (tasks: ReadonlyArray<ClaimedTask>) =>
  Object.fromEntries(
    [...Map.groupBy(tasks, ({ channelId }) => channelId)].map(([id, { length }]) => [id, length])
  )

const Row = Schema.Tuple([
  Schema.Struct({
    lease: Schema.BigInt,
    next_poll_at: Schema.Date,
    deadline: Schema.Date,
    unknown_since: Schema.NullOr(Schema.Date)
  })
])

const rowOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    sql`SELECT lease, next_poll_at, deadline, unknown_since FROM tasks WHERE id = ${id}`
  )
  const [row] = yield* Effect.orDie(Schema.decodeUnknownEffect(Row)(rows))
  return row
})

for (const kind of ["embedded", "postgres"] as const) {
  const stores = layerStores(secrets).pipe(
    Layer.provideMerge(layerDatabase(kind)),
    Layer.provide(Layer.succeed(Settings, settings))
  )
  layer(stores, { excludeTestServices: true, timeout: "60 seconds" })(
    `claims of tasks (${kind})`,
    (it) => {
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
          assert.deepStrictEqual(byChannel(yield* claimDue(100, 64)), { crowded: 12 })
          assert.deepStrictEqual(yield* claimDue(100, 64), [])
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
          const again = yield* Effect.forEach(ids.slice(0, 3), (id) =>
            claimAgain(organizationId, id)
          )
          const taken = new Map(again.map((task) => [task.id, task] as const))
          const before = yield* Effect.forEach(old, ({ id }) => rowOf(id))
          const put = { nextPollSeconds: 500, known: false }
          const current = yield* Effect.forEach(old, (task) => repo.putBack(task, put), {
            concurrency: "unbounded"
          })
          for (const [index, { id }] of old.entries()) {
            const row = yield* rowOf(id)
            assert.strictEqual(current[index], !taken.has(id))
            if (taken.has(id)) assert.deepStrictEqual(row, before[index])
            else assert.isNotNull(row.unknown_since)
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
          yield* repo.putBack(task, { nextPollSeconds: 600, known: null })
          const row = yield* rowOf(ids[0] ?? "")
          assert.deepStrictEqual(row.next_poll_at, row.deadline)
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
            yield* repo.putBack(claimed, { nextPollSeconds: 100, known })
            since.push((yield* rowOf(id)).unknown_since)
          }
          const [first] = since
          assert.isNotNull(first)
          assert.deepStrictEqual(since, [first, first, first, null, null])
        })
      )

      it.effect("a paused channel is asked for nothing but tasks past their deadline", () =>
        Effect.gen(function* () {
          yield* claimTheRest
          const repo = yield* TaskRepo
          const { organizationId, ids } = yield* dueTasks("paused", 2)
          const late = yield* dueTasks("paused", 1, 0.001)
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
    }
  )
}
