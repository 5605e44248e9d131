/** Customers who order images and videos without a pause, and what came of it on both sides. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { bodyAs } from "./gateway.ts"
import type { CallOptions, HttpAnswer } from "./http.ts"

const Task = Schema.Struct({ id: Schema.String, task_status: Schema.String })

/**
 * Starts `clients` of them: images, videos that are waited for, and balances, in turn. A video's vendor
 * is asked `questions` times until it has made it. Anything but a whole 200 ends `lost` with its reason.
 */
export const startLoad = Effect.fnUntraced(function* (
  clients: number,
  ask: (path: string, options: CallOptions) => Effect.Effect<HttpAnswer>,
  questions = 3
) {
  const answered = { images: 0, videos: 0, ends: 0, balances: 0 }
  let stopping = false
  const client = Effect.fnUntraced(function* (index: number) {
    // Half of the clients keep their connections, the others open one for each request.
    const headers = index % 2 === 0 ? {} : { connection: "close" }
    const send = Effect.fnUntraced(function* (path: string, options: CallOptions = {}) {
      const answer = yield* ask(path, { headers, ...options })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isDefined(answer.body, answer.text)
      return answer
    })
    while (!stopping) {
      if (index % 3 === 0) {
        yield* send("/v1/images/generations", {
          json: { model: "paint-1", prompt: "x", size: "16x16" }
        })
        answered.images++
      } else if (index % 3 === 1) {
        const created = yield* send("/v1/videos/generations", {
          json: { model: "film-1", prompt: `x sim:slow=${questions}` }
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
  const running = yield* Effect.forkChild(
    Effect.forEach(
      Array.from({ length: clients }, (_, index) => index),
      client,
      { concurrency: "unbounded", discard: true }
    )
  )
  return {
    answered,
    /** Never ends well: a client that loses a request ends it with its reason. */
    lost: Effect.andThen(Fiber.join(running), Effect.never),
    /** Waits until so many more images and videos have come to their end. */
    more: Effect.fnUntraced(function* (count: number) {
      const { images, ends } = answered
      yield* Effect.sync(
        () => answered.images >= images + count && answered.ends >= ends + count
      ).pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (well) => well }),
        Effect.timeout("60 seconds")
      )
    }),
    /** Lets each client end what it has begun. */
    stop: Effect.andThen(
      Effect.sync(() => {
        stopping = true
      }),
      Fiber.join(running)
    )
  }
})

type Answered = Effect.Success<ReturnType<typeof startLoad>>["answered"]

/** The database's charges and the vendor's book have what was answered, once each, and no doubts. */
export const assertEqualBooks = Effect.fnUntraced(function* (
  databaseUrl: string,
  { images, videos, ends }: Answered
) {
  const simulator = yield* Simulator
  const jobs = (yield* simulator.book).filter((entry) => entry.event === "accepted")
  const jobsOf = (kind: string) => jobs.filter((job) => job.kind === kind).length
  assert.deepStrictEqual(
    [images, videos],
    [jobsOf("image"), jobsOf("video")],
    "every job of a vendor was answered"
  )
  const charged = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT * FROM orphans`, [])
    return yield* sql<{ modality: string; count: number }>`
      SELECT modality, count(*)::int AS count FROM orders WHERE state = 'captured'
       GROUP BY modality ORDER BY 1`
  }).pipe(Effect.provide(layerPostgres({ url: Redacted.make(databaseUrl), maxConnections: 1 })))
  assert.deepStrictEqual(charged, [
    { modality: "image", count: images },
    { modality: "video", count: ends }
  ])
})
