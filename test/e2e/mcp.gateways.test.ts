/** A video task of the Model Context Protocol outlives the gateway that took it. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { clusterCatalog, openAccount, startGateway } from "../support/cluster.ts"
import { temporaryServerDatabase } from "../support/databases.ts"
import { askMcp } from "../support/mcp.ts"

const Task = Schema.Struct({
  taskId: Schema.String,
  status: Schema.String,
  result: Schema.optionalKey(
    Schema.Struct({
      structuredContent: Schema.Struct({
        id: Schema.String,
        task_status: Schema.String,
        charge: Schema.String
      })
    })
  )
})

it.live(
  "a video task is read and ends at another gateway when the one that took it was killed",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const env = {
        DATABASE_URL: yield* temporaryServerDatabase,
        GATEWAY_ASK_INTERVAL_SECONDS: "0.05",
        GATEWAY_POLLER_SECONDS: "0.05",
        GATEWAY_LEASE_SECONDS: "1"
      }
      const first = yield* startGateway(env)
      const account = yield* openAccount(first, clusterCatalog(simulator.url), "20")
      const second = yield* startGateway(env)
      const { key } = account
      const ask = (url: string, method: string, params: Record<string, unknown>) =>
        askMcp({ url, key }, method, params, { tasks: true }).pipe(
          Effect.flatMap(({ result }) => Effect.orDie(Schema.decodeUnknownEffect(Task)(result)))
        )
      const order = {
        name: "order_video",
        arguments: {
          model: "clip-1",
          prompt: "a lighthouse sim:slow=10",
          max_cost: "3",
          call_id: "one"
        }
      }
      const { taskId, status } = yield* ask(first.url, "tools/call", order)
      assert.strictEqual(status, "working")
      yield* first.process.kill("SIGKILL")
      yield* first.process.end

      const again = yield* ask(second.url, "tools/call", order)
      assert.strictEqual(again.taskId, taskId)
      const ended = yield* Effect.repeat(
        Effect.delay(ask(second.url, "tasks/get", { taskId }), "50 millis"),
        { until: (task) => task.status !== "working" }
      )
      assert.strictEqual(ended.status, "completed")
      assert.deepStrictEqual(ended.result?.structuredContent, {
        id: taskId,
        task_status: "succeeded",
        charge: "3"
      })
      const { balance, held } = yield* account.funds(second)
      assert.deepStrictEqual({ balance, held }, { balance: "17", held: "0" })
      assert.strictEqual(
        (yield* second.admin("/ledger/verify")).text,
        '{"ok":true,"violations":[]}'
      )
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)
