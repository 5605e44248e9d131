/**
 * Measures the completion lag: the time from the vendor's completion of a task to the gateway's
 * record of it, with few and with many open tasks. Both runs take the same time to order and the
 * same time to end, so that their tasks have the same age and are polled at the same interval.
 */
import { Clock, Console, Effect, Schema } from "effect"
import { quantile, sorted } from "../measure/stats.ts"
import { rowOf, type Window, windowOf } from "../measure/window.ts"
import { awake, type Subject } from "../subjects/subject.ts"
import type { Vendor } from "../subjects/vendorControl.ts"
import { BenchFailed, type World } from "../subjects/world.ts"
import { createVideo } from "./cases.ts"

const FEW = 10
const ORDERS_AT_A_TIME = 32
const A_DAY = 24 * 3600 * 1000
/** The pause between the last order and the end of the first task. */
const REST = "5 seconds"
const END_OVER_MILLIS = 10_000

const Finished = Schema.Array(
  Schema.Struct({ upstream_id: Schema.String, finished_at: Schema.Date })
)

/**
 * Places orders evenly over a time, or as fast as possible if the time is null. Returns the time
 * taken.
 */
const order = Effect.fnUntraced(function* (
  subject: Subject,
  count: number,
  overMillis: number | null
) {
  const start = yield* Clock.currentTimeMillis
  const indexes = Array.from({ length: count }, (_, index) => index)
  yield* Effect.forEach(
    indexes,
    Effect.fnUntraced(function* (index) {
      if (overMillis !== null) {
        const due = start + (overMillis * index) / count
        yield* Effect.sleep(Math.max(0, due - (yield* Clock.currentTimeMillis)))
      }
      yield* createVideo(subject)
    }),
    { concurrency: ORDERS_AT_A_TIME, discard: true }
  )
  return (yield* Clock.currentTimeMillis) - start
})

const run = Effect.fnUntraced(function* (
  subject: Subject,
  vendor: Vendor,
  count: number,
  overMillis: number | null
) {
  const { books } = subject
  if (books === null) return yield* Effect.die(new Error("only our gateway has tasks of its own"))
  yield* vendor.forget
  yield* vendor.takes(A_DAY)
  const before = yield* books.charges
  const took = yield* order(subject, count, overMillis)
  yield* Effect.sleep(REST)
  yield* vendor.finish(END_OVER_MILLIS)
  yield* Effect.sleep(END_OVER_MILLIS)
  yield* books.settled
  const [done, finished, after] = [
    yield* vendor.done,
    yield* books.sql`
      SELECT upstream_id, finished_at FROM tasks
       WHERE state = 'succeeded' ORDER BY created_at DESC LIMIT ${count}`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Finished)),
      Effect.orDie
    ),
    yield* books.charges
  ]
  const lags = sorted(
    finished.flatMap(({ upstream_id, finished_at }) => {
      const at = done.get(upstream_id)
      return at === undefined ? [] : [finished_at.getTime() - at]
    })
  )
  if (lags.length !== count || after - before !== count) {
    return yield* new BenchFailed({
      message: `lag: of ${count} tasks ${lags.length} ended and ${after - before} were charged`
    })
  }
  return { window: windowOf({ p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) }), took }
})

/** Two rows: few open tasks, and many. */
export const runLag = Effect.fnUntraced(function* (
  subject: Subject,
  { options: { rounds, openTasks }, vendor }: World
) {
  const many: Array<Window> = []
  const few: Array<Window> = []
  for (let round = 0; round < rounds; round++) {
    const crowd = yield* awake(subject, run(subject, vendor, openTasks, null))
    many.push(crowd.window)
    few.push((yield* awake(subject, run(subject, vendor, FEW, crowd.took))).window)
  }
  yield* Console.error("lag done")
  return [
    rowOf("lag", `${subject.name} few open`, few),
    rowOf("lag", `${subject.name} many open`, many)
  ]
})
