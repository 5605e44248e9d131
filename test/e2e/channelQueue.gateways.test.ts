/**
 * Two gateways before a channel with few places. Three organisations order more than it takes, and
 * one gateway is killed.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { clusterCatalog, good, openAccount, startGateway } from "../support/cluster.ts"
import { temporaryServerDatabase } from "../support/databases.ts"
import { call } from "../support/http.ts"

const MAX_TASKS = 5
const ORDERS = Number(process.env.QUEUE_ORDERS ?? 60)
/** Orders that are answered before a gateway is killed. */
const BEFORE_KILL = Math.floor(ORDERS / 2)

const catalogFor = (simulatorUrl: string) => {
  const catalog = clusterCatalog(simulatorUrl)
  return {
    ...catalog,
    channels: catalog.channels.map((channel) => ({ ...channel, max_tasks: MAX_TASKS }))
  }
}

const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })
const Timeline = Schema.Struct({ upstream_id: Schema.NullOr(Schema.String) })

it.live(
  "orders beyond a channel's places wait in order over two gateways, also when one is killed",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const env = {
        DATABASE_URL: yield* temporaryServerDatabase,
        GATEWAY_ASK_INTERVAL_SECONDS: "0.05",
        GATEWAY_POLLER_SECONDS: "0.05",
        GATEWAY_LEASE_SECONDS: "1",
        GATEWAY_SUBMIT_DEADLINE_SECONDS: "2"
      }
      const first = yield* startGateway(env)
      const catalog = catalogFor(simulator.url)
      const accounts = yield* Effect.forEach([1, 2, 3], () => openAccount(first, catalog, "2000"))
      const second = yield* startGateway(env)

      const place = (index: number) => {
        const account = accounts[index % accounts.length]
        const gateway = index % 2 === 0 || index >= BEFORE_KILL ? first : second
        return call(`${gateway.url}/v1/videos/generations`, {
          key: account?.key ?? "",
          json: { model: "clip-1", prompt: `a lighthouse ${index} sim:slow=3`, max_wait: 600 }
        }).pipe(
          Effect.flatMap((answer) => good(Task, answer)),
          Effect.map(({ id }) => ({ id, account }))
        )
      }
      const indices = Array.from({ length: ORDERS }, (_, index) => index)
      const placed = yield* Effect.forEach(indices.slice(0, BEFORE_KILL), place, { concurrency: 4 })
      yield* second.process.kill("SIGKILL")
      const later = yield* Effect.forEach(indices.slice(BEFORE_KILL), place, { concurrency: 4 })
      const orders = [...placed, ...later]

      const ends = yield* Effect.forEach(
        orders,
        ({ id, account }) =>
          call(`${first.url}/v1/videos/${id}?wait=60`, { key: account?.key ?? "" }).pipe(
            Effect.flatMap((answer) => good(Task, answer))
          ),
        { concurrency: 16 }
      )
      assert.lengthOf(ends, ORDERS)
      const failures = ends.filter(({ task_status: status }) => status === "failed")
      assert.isTrue(ends.every(({ task_status: status }) => status !== "processing"))
      // The killed gateway can have had no more submits on their way than the channel has places.
      assert.isAtMost(failures.length, MAX_TASKS)

      const book = yield* simulator.book
      const endedJobs = new Set(
        book.flatMap((entry) => (entry.event === "accepted" ? [] : [entry.upstream_id]))
      )
      // A job that the killed gateway had submitted without writing it down is asked for by nobody.
      const ofTasks = book.filter(({ upstream_id }) => endedJobs.has(upstream_id))
      let open = 0
      for (const { event } of ofTasks) {
        open += event === "accepted" ? 1 : -1
        assert.isAtMost(open, MAX_TASKS)
      }
      const jobIds = ofTasks.flatMap(({ event, upstream_id }) =>
        event === "accepted" ? [upstream_id] : []
      )
      assert.lengthOf(jobIds, ORDERS - failures.length)

      for (const account of accounts) {
        const ids = orders.filter((order) => order.account === account).map(({ id }) => id)
        const places = yield* Effect.forEach(ids.toSorted(), (id) =>
          first.admin(`/tasks/${id}`).pipe(
            Effect.flatMap((answer) => good(Timeline, answer)),
            Effect.map(({ upstream_id }) => jobIds.indexOf(upstream_id ?? ""))
          )
        )
        const indexes = places.filter((index) => index >= 0)
        // Submits that are on their way at a time may overtake each other. The orders that the killed
        // gateway had claimed are overtaken until their claims end.
        const laterOnes = indexes.filter((index, n) =>
          indexes.slice(n + 1).some((later) => later < index - MAX_TASKS)
        )
        assert.isAtMost(laterOnes.length, MAX_TASKS)
        const { held } = yield* account.funds(first)
        assert.strictEqual(held, "0")
      }
      assert.strictEqual((yield* first.admin("/ledger/verify")).text, '{"ok":true,"violations":[]}')
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  240_000
)
