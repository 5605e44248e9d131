/**
 * Measures how list requests of one organisation slow down the orders of another: many concurrent
 * readers with one key read a list continuously, while another organisation orders images one after
 * the other. Prints the median time of an order without and with the readers, and their ratio, for
 * each database and each list. Exits with 1 when an order fails or the ratio exceeds the limit.
 *
 *   npm run reads -- --readers 800 --seconds 10 --max-ratio 5 --database both --path
 * "/v1/usage?limit=100"
 */
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import { good } from "../test/support/cluster.ts"
import type { Customer } from "../test/support/operator.ts"
import { startVendor } from "./bench/subjects/vendorControl.ts"
import { type Database, databasesNamed, startMeasured } from "./measuredGateway.ts"

const { values } = parseArgs({
  options: {
    readers: { type: "string", default: "800" },
    seconds: { type: "string", default: "10" },
    "max-ratio": { type: "string", default: "5" },
    database: { type: "string", default: "both" },
    path: { type: "string", multiple: true, default: ["/v1/usage?limit=100"] }
  }
})
const readers = Number(values.readers)
const seconds = Number(values.seconds)
const maxRatio = Number(values["max-ratio"])

/** The number of charges in the reader's lists. */
const CHARGES = 300

interface Reading {
  readonly url: string
  readonly key: string
}
interface Counts {
  readonly read: number
  readonly refused: number
}

/** Reads in a separate thread, so that the readers' own work does not delay the measured orders. */
const readForever = async ({ url, key }: Reading): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` }
  let [read, refused, isOver] = [0, 0, false]
  parentPort?.once("message", () => {
    isOver = true
  })
  const reader = async () => {
    while (!isOver) {
      const response = await fetch(url, { headers })
      await response.arrayBuffer()
      if (response.status === 200) read++
      else refused++
    }
  }
  await Promise.all(Array.from({ length: readers }, reader))
  parentPort?.postMessage({ read, refused } satisfies Counts)
}

/** Runs the measured work while the readers read. */
const besideReaders = <A>(reading: Reading, work: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: reading,
      argv: process.argv.slice(2)
    })
    const counts = new Promise<Counts>((resolve, reject) => {
      worker.once("message", resolve).once("error", reject)
    })
    yield* Effect.sleep("1 second")
    const result = yield* work
    worker.postMessage("stop")
    return { result, counts: yield* Effect.promise(() => counts) }
  })

const medianOf = (times: ReadonlyArray<number>): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

const measure = Effect.fnUntraced(function* (kind: Database) {
  const vendor = yield* startVendor
  const measured = yield* startMeasured(kind, `${vendor.url}/v1`)
  const reader = yield* measured.operator.customer("1000")
  const other = yield* measured.operator.customer("100000")
  const order = (who: Customer) =>
    Effect.flatMap(
      measured.order(who.key, { prompt: "x", metadata: { project: "lighthouse" } }),
      (answer) => good(Schema.Unknown, answer)
    )
  yield* Effect.forEach(Array.from({ length: CHARGES }), () => order(reader), { concurrency: 8 })

  /** The times of orders that are placed one after the other, in milliseconds. */
  const orders = Effect.gen(function* () {
    const times: Array<number> = []
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      const began = performance.now()
      yield* order(other)
      times.push(performance.now() - began)
      yield* Effect.sleep("5 millis")
    }
    return times
  })
  yield* orders
  const ratios: Array<number> = []
  for (const path of values.path) {
    const quiet = medianOf(yield* orders)
    const beside = yield* besideReaders(
      { url: `${measured.gateway.url}${path}`, key: reader.key },
      orders
    )
    const busy = medianOf(beside.result)
    ratios.push(busy / quiet)
    yield* Console.log(
      `${kind} ${path}: an order takes ${quiet.toFixed(1)} ms when it is quiet and ${busy.toFixed(1)} ms beside ` +
        `${readers} readers, ${(busy / quiet).toFixed(1)} times as long; ${beside.counts.read} lists were read ` +
        `and ${beside.counts.refused} refused meanwhile`
    )
  }
  return ratios
}, Effect.scoped)

if (isMainThread) {
  const program = Effect.gen(function* () {
    const ratios = yield* Effect.forEach(databasesNamed(values.database), measure)
    if (ratios.flat().some((ratio) => !(ratio <= maxRatio))) {
      yield* Console.error(`an order may take ${maxRatio} times as long at most`)
      process.exitCode = 1
    }
  })
  NodeRuntime.runMain(program)
} else await readForever(workerData)
