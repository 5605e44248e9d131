import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import { bodyAs } from "../support/gateway.ts"
import {
  prepareCustomer,
  processEnvironment,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { type CallOptions, call, type HttpAnswer } from "../support/http.ts"
import { isRefused } from "../support/refused.ts"

/** Each restarts one of the two gateways. */
const ROUNDS = Number(process.env.ROLLING_ROUNDS ?? 4)
const CLIENTS = 12

/** A gateway behind the balancer, and whether the balancer sends it anything. */
interface Slot {
  gateway: GatewayNode
  ready: boolean
}

/** Asks each gateway for its readiness all the time, as a balancer does. */
const probe = (slots: ReadonlyArray<Slot>) =>
  Effect.forEach(slots, (slot) => {
    const { gateway } = slot
    return Effect.map(Effect.exit(call(`${gateway.url}/readyz`)), (exit) => {
      const well = exit._tag === "Success" && exit.value.status === 200
      // A probe of the gateway that was here before says nothing about this one.
      if (slot.gateway === gateway) slot.ready = well
    })
  }).pipe(Effect.delay("50 millis"), Effect.forever)

/**
 * Sends a request to a gateway that is ready. Only a refused connection is tried again: anything else
 * that is no answer is a request lost.
 */
const throughBalancer = Effect.fnUntraced(function* (
  slots: ReadonlyArray<Slot>,
  path: string,
  options: CallOptions
) {
  for (;;) {
    const ready = slots.filter((slot) => slot.ready)
    const slot = ready[Math.floor(Math.random() * ready.length)]
    if (slot !== undefined) {
      const exit = yield* Effect.exit(call(`${slot.gateway.url}${path}`, options))
      if (exit._tag === "Success") return exit.value
      if (!isRefused(exit)) return yield* Effect.failCause(exit.cause)
    }
    yield* Effect.sleep("5 millis")
  }
})

const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })

it.live(
  "two gateways restarted in turn under load lose no request and no unit of money",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const database = yield* processEnvironment("postgres")
      const env = { ...database, GATEWAY_DRAIN_SECONDS: "1" }
      const start = startGateway(env, shippedEntry)
      const first = yield* start
      const { key, organizationPath } = yield* prepareCustomer(first, "100000")
      const slots: ReadonlyArray<Slot> = [
        { gateway: first, ready: true },
        { gateway: yield* start, ready: true }
      ]
      yield* Effect.forkChild(probe(slots))

      const answered = { images: 0, videos: 0, ends: 0, balances: 0 }
      const whole = (answer: HttpAnswer) =>
        Effect.sync(() => {
          assert.strictEqual(answer.status, 200, answer.text)
          assert.isDefined(answer.body, answer.text)
          return answer
        })

      let stopping = false
      const client = Effect.fnUntraced(function* (index: number) {
        // Half of the clients keep their connections, the others open one for each request.
        const headers = index % 2 === 0 ? {} : { connection: "close" }
        const send = (path: string, options: CallOptions = {}) =>
          Effect.flatMap(throughBalancer(slots, path, { key, headers, ...options }), whole)
        while (!stopping) {
          if (index % 3 === 0) {
            yield* send("/v1/images/generations", {
              json: { model: "paint-1", prompt: "x", size: "16x16" }
            })
            answered.images++
          } else if (index % 3 === 1) {
            const created = yield* send("/v1/videos/generations", {
              json: { model: "film-1", prompt: "x sim:slow=20" }
            })
            const { id } = yield* bodyAs(Task, created)
            answered.videos++
            let task = { id, task_status: "processing" }
            while (task.task_status === "processing") {
              task = yield* bodyAs(Task, yield* send(`/v1/videos/${id}?wait=10`))
            }
            assert.strictEqual(task.task_status, "succeeded")
            answered.ends++
          } else {
            yield* send("/v1/balance")
            answered.balances++
          }
        }
      })
      const load = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: CLIENTS }, (_, index) => index),
          client,
          {
            concurrency: "unbounded",
            discard: true
          }
        )
      )

      const rolling = Effect.gen(function* () {
        for (let round = 0; round < ROUNDS; round++) {
          const slot = slots[round % slots.length] ?? assert.fail()
          const before = answered.images
          yield* slot.gateway.process.kill("SIGTERM")
          const [took, end] = yield* Effect.timed(slot.gateway.process.end)
          assert.deepStrictEqual(end, { code: 0, signal: null }, slot.gateway.process.stderr())
          assert.isBelow(Duration.toSeconds(took), 30)
          slot.ready = false
          slot.gateway = yield* start
          yield* Effect.sync(
            () => slots.every(({ ready }) => ready) && answered.images > before
          ).pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (well) => well }),
            Effect.timeout("30 seconds")
          )
        }
        stopping = true
      })
      // A client that loses a request ends the test with its reason.
      yield* Effect.raceFirst(rolling, Effect.andThen(Fiber.join(load), Effect.never))
      yield* Fiber.join(load)

      const last = slots[0] ?? assert.fail()
      yield* settledBalance(last.gateway, organizationPath)
      const jobs = (yield* simulator.book).filter((entry) => entry.event === "accepted")
      const jobsOf = (kind: string) => jobs.filter((job) => job.kind === kind).length
      assert.deepStrictEqual(
        [answered.images, answered.videos],
        [jobsOf("image"), jobsOf("video")],
        "every job of a vendor was answered"
      )
      const charged = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT * FROM orphans`, [])
        return yield* sql<{ modality: string; count: number }>`
          SELECT modality, count(*)::int AS count FROM orders WHERE state = 'captured'
           GROUP BY modality ORDER BY 1`
      }).pipe(
        Effect.provide(
          layerPostgres({ url: Redacted.make(database.DATABASE_URL ?? ""), maxConnections: 1 })
        )
      )
      assert.deepStrictEqual(charged, [
        { modality: "image", count: answered.images },
        { modality: "video", count: answered.ends }
      ])
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000 + ROUNDS * 30_000
)
