/**
 * Three gateways on one database, with tasks that all of them ask about while their clients ask
 * too. One gateway stops with a vendor's answer in hand, for longer than its claims last, and wakes.
 */

import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { clusterCatalog, connect, good, openAccount, startGateway } from "../support/cluster.ts"
import { temporaryServerDatabase } from "../support/databases.ts"
import { call } from "../support/http.ts"

const JOBS = 120

const Created = Schema.Struct({ id: Schema.String })
const State = Schema.Struct({ task_status: Schema.String })
const Polls = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ upstream_id: Schema.String, polled_at: Schema.Array(Schema.Int) })
  )
})
const Tasks = Schema.Array(
  Schema.Struct({
    state: Schema.String,
    upstream_id: Schema.String,
    lease: Schema.BigInt,
    captures: Schema.BigInt
  })
)
const Count = Schema.Tuple([Schema.Struct({ count: Schema.BigInt })])
const Now = Schema.Tuple([Schema.Struct({ now: Schema.Date })])

it.live(
  "every task is settled once by three gateways, one of which stops past its lease and wakes",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const env = {
        DATABASE_URL: yield* temporaryServerDatabase,
        GATEWAY_ASK_INTERVAL_SECONDS: "0.5",
        GATEWAY_POLLER_SECONDS: "0.1",
        GATEWAY_LEASE_SECONDS: "1.5"
      }
      const sql = yield* connect(env.DATABASE_URL)
      const first = yield* startGateway(env)
      const account = yield* openAccount(first, clusterCatalog(simulator.url), "2000")
      const [second, third] = yield* Effect.all(
        [startGateway(env), startGateway({ ...env, STOP_AT: "video.verdict" })],
        { concurrency: "unbounded" }
      )
      const node = (index: number) => (index % 2 === 0 ? first : second)

      const ids = yield* Effect.forEach(
        Array.from({ length: JOBS }, (_, index) => index),
        (index) =>
          call(`${node(index).url}/v1/videos/generations`, {
            key: account.key,
            json: {
              model: index % 4 < 2 ? "film-1" : "clip-1",
              prompt: `a lighthouse sim:takes=${4 + (index % 4)}`
            }
          }).pipe(
            Effect.flatMap((answer) => good(Created, answer)),
            Effect.map(({ id }) => id)
          ),
        { concurrency: 16 }
      )

      const read = (index: number) =>
        call(`${node(index).url}/v1/videos/${ids[index]}`, { key: account.key }).pipe(
          Effect.flatMap((answer) => good(State, answer))
        )
      yield* Effect.forEach([...ids.keys()], read, { concurrency: 4, discard: true }).pipe(
        Effect.forever,
        Effect.forkChild
      )

      yield* third.process.waitForLine(/stops here/)
      const decodeNow = Schema.decodeUnknownEffect(Now)
      const [{ now }] = yield* Effect.flatMap(sql`SELECT now() AS now`, decodeNow)
      // Whatever the third had claimed is claimed by another gateway when nothing open is older.
      const claimedBefore = Effect.flatMap(
        sql`SELECT count(*) AS count FROM tasks WHERE state = 'processing' AND asked_at <= ${now}`,
        Schema.decodeUnknownEffect(Count)
      )
      yield* claimedBefore.pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: ([{ count }]) => count === 0n }),
        Effect.timeout("20 seconds")
      )
      yield* third.process.kill("SIGCONT")

      const funds = yield* account
        .funds(first)
        .pipe(
          Effect.delay("100 millis"),
          Effect.repeat({ until: ({ held }) => held === "0" }),
          Effect.timeout("60 seconds")
        )
      // 60 x 5.0094 by the vendor's tokens, and 60 x 3 by the second.
      assert.deepStrictEqual(funds, { ...funds, balance: "1519.436", held: "0" })

      yield* third.process.kill("SIGTERM")
      const [, stale] = yield* third.process.waitForLine(/stale claims: (\d+)/)
      assert.isAtLeast(Number(stale), 1)

      const tasks = yield* Effect.flatMap(
        sql`
          SELECT t.state, t.upstream_id, t.lease,
                 (SELECT count(*) FROM orders o
                   WHERE o.id = t.id AND o.state = 'captured') AS captures
            FROM tasks t`,
        Schema.decodeUnknownEffect(Tasks)
      )
      assert.lengthOf(tasks, JOBS)
      const polls = yield* good(Polls, yield* call(`${simulator.url}/_sim/polls`))
      const polled = new Map(
        polls.data.map(({ upstream_id, polled_at }) => [upstream_id, polled_at.length])
      )
      for (const task of tasks) {
        assert.strictEqual(task.state, "succeeded")
        assert.strictEqual(task.captures, 1n)
        assert.isAtMost(polled.get(task.upstream_id) ?? 0, Number(task.lease))
      }
      const book = yield* simulator.book
      for (const event of ["accepted", "succeeded"]) {
        assert.lengthOf(
          book.filter((entry) => entry.event === event),
          JOBS
        )
      }
      const verified = yield* first.admin("/ledger/verify")
      assert.strictEqual(verified.text, '{"ok":true,"violations":[]}')
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)
