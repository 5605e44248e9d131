/**
 * Tests isolation from poisoned orders, to which the vendor answers 500: for a minute, one
 * organisation sends twelve such orders and then two a second, while another organisation places
 * two normal orders a second. The gateway runs as it is shipped, with default settings. Exits with
 * 1 when an order of the other organisation failed.
 *
 *   npm run poisoned -- --seconds 60 --database embedded
 */
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Fiber, Schema } from "effect"
import { ChannelView } from "../src/features/catalog/ChannelsApi.ts"
import { good } from "../test/support/cluster.ts"
import type { Customer } from "../test/support/operator.ts"
import { startProcess } from "../test/support/processes.ts"
import { type Database, databasesNamed, startMeasured } from "./measuredGateway.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    database: { type: "string", default: "both" }
  }
})
const seconds = Number(values.seconds)

const FIRST = 12
const EACH_SECOND = 2
const POISON = "sim:refuse=500"
/** The maximum time in which the gateway must react to the first failed orders. */
const NOTICED_SECONDS = 3

const Channels = Schema.Struct({ data: Schema.Array(ChannelView) })

const measure = Effect.fnUntraced(function* (kind: Database) {
  const vendor = yield* startProcess({
    entry: fileURLToPath(new URL("../src/simulator/simulatorMain.ts", import.meta.url)),
    env: { GATEWAY_SIMULATOR_PORT: "0" }
  })
  const [, vendorUrl = ""] = yield* vendor.waitForLine(/listens on (http:\S+)/)
  const { operator, order } = yield* startMeasured(kind, `${vendorUrl}/ip_a/v1`)
  const [bad, other] = [yield* operator.customer("1000000"), yield* operator.customer("1000000")]

  const counts = { good: new Map<number, number>(), bad: new Map<number, number>() }
  const countOrder = (whose: keyof typeof counts, who: Customer, prompt: string) =>
    Effect.map(order(who.key, { prompt }), ({ status }) => {
      counts[whose].set(status, (counts[whose].get(status) ?? 0) + 1)
    })
  const repeat = (one: Effect.Effect<void>) =>
    Effect.forEach(Array.from({ length: seconds * EACH_SECOND }), () =>
      Effect.tap(Effect.forkChild(one), Effect.sleep(`${1000 / EACH_SECOND} millis`))
    )

  const badOrder = countOrder("bad", bad, POISON)
  const startedAt = Date.now()
  yield* Effect.all(
    Array.from({ length: FIRST }, () => badOrder),
    { concurrency: FIRST }
  )
  const fibers = yield* Effect.all([repeat(badOrder), repeat(countOrder("good", other, "x"))], {
    concurrency: 2
  })
  for (const fiber of fibers.flat()) yield* Fiber.join(fiber)
  const durationSeconds = (Date.now() - startedAt) / 1000

  const { data } = yield* Effect.flatMap(operator.admin("/channels"), (answer) =>
    good(Channels, answer)
  )
  const [channel] = data
  const countsIn = (of: ReadonlyMap<number, number>) =>
    [...of].map(([status, count]) => `${count} x ${status}`).join(", ")
  yield* Console.log(
    `${kind}, ${durationSeconds.toFixed(0)} s: the good organisation got ${countsIn(counts.good)}; ` +
      `the other ${countsIn(counts.bad)}; the channel is ${channel?.state}, ` +
      `models at rest: ${channel?.model_rests.length}, ` +
      `organisations slowed: ${channel?.slowed_organizations.length}`
  )
  const madeCount = counts.good.get(200) ?? 0
  const sentToVendor = counts.bad.get(502) ?? 0
  const isSlowed = sentToVendor <= FIRST + NOTICED_SECONDS * EACH_SECOND + Math.log2(seconds)
  if (madeCount !== seconds * EACH_SECOND || !isSlowed) process.exitCode = 1
}, Effect.scoped)

NodeRuntime.runMain(Effect.forEach(databasesNamed(values.database), measure, { discard: true }))
