/**
 * A minute of orders on which the vendor answers 500: one organisation sends twelve of them and two a
 * second after, and another one orders twice a second beside it, from a gateway as it is shipped, with its
 * own settings. Ends with 1 when an order of the other one was not made.
 *
 *   npm run poisoned -- --seconds 60 --database embedded
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Fiber, Schema } from "effect"
import type { CatalogWrite } from "../src/domain/catalog/CatalogDocument.ts"
import { ChannelView } from "../src/features/catalog/ChannelsApi.ts"
import { ADMIN_TOKEN, good, startGateway } from "../test/support/cluster.ts"
import { call } from "../test/support/http.ts"
import { type Customer, makeOperator } from "../test/support/operator.ts"
import { startPostgres } from "../test/support/postgresServer.ts"
import { startProcess } from "../test/support/processes.ts"
import { gatewayEntry } from "./bench/subjects/ours.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    database: { type: "string", default: "both" }
  }
})
const seconds = Number(values.seconds)
const databases = ["embedded", "postgres"] as const
type Database = (typeof databases)[number]

const FIRST = 12
const EACH_SECOND = 2
const POISON = "sim:refuse=500"
/** How long the gateway may take to notice what the first orders came to. */
const NOTICED_SECONDS = 3

const catalogOn = (vendorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [{ id: "ch", name: "A", base_url: `${vendorUrl}/ip_a/v1`, api_key: "vendor-key-aaaa" }],
  models: [
    {
      id: "paint-1",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: "0.2" }
    }
  ],
  mounts: [{ model: "paint-1", channel: "ch", upstream_model: "vendor-paint-1" }]
})

const Channels = Schema.Struct({ data: Schema.Array(ChannelView) })

const databaseOf = (kind: Database) =>
  kind === "postgres"
    ? Effect.map(
        Effect.acquireRelease(
          Effect.promise(() => startPostgres()),
          (server) => Effect.promise(() => server.stop())
        ),
        ({ url }) => ({ DATABASE_URL: url })
      )
    : Effect.map(
        Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "poisoned-"))),
          (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
        ),
        (directory) => ({ DATA_DIR: directory })
      )

const measure = Effect.fnUntraced(function* (kind: Database) {
  const vendor = yield* startProcess({
    entry: fileURLToPath(new URL("../src/simulator/simulatorMain.ts", import.meta.url)),
    env: { GATEWAY_SIMULATOR_PORT: "0" }
  })
  const [, vendorUrl = ""] = yield* vendor.waitForLine(/listens on (http:\S+)/)
  const database: Readonly<Record<string, string>> = yield* databaseOf(kind)
  const gateway = yield* startGateway({ ...database, NODE_NO_WARNINGS: "1" }, gatewayEntry)
  const operator = makeOperator((path, sent) => call(`${gateway.url}${path}`, sent), ADMIN_TOKEN)
  yield* Effect.flatMap(
    operator.admin("/catalog", { method: "PUT", json: catalogOn(vendorUrl) }),
    (answer) => good(Schema.Unknown, answer)
  )
  const [bad, other] = [yield* operator.customer("1000000"), yield* operator.customer("1000000")]

  const counts = { good: new Map<number, number>(), bad: new Map<number, number>() }
  const order = (whose: keyof typeof counts, who: Customer, prompt: string) =>
    Effect.map(
      call(`${gateway.url}/v1/images/generations`, {
        key: who.key,
        json: { model: "paint-1", prompt }
      }),
      ({ status }) => {
        counts[whose].set(status, (counts[whose].get(status) ?? 0) + 1)
      }
    )
  const steadily = (one: Effect.Effect<void>) =>
    Effect.forEach(Array.from({ length: seconds * EACH_SECOND }), () =>
      Effect.tap(Effect.forkChild(one), Effect.sleep(`${1000 / EACH_SECOND} millis`))
    )

  const badOrder = order("bad", bad, POISON)
  const begun = Date.now()
  yield* Effect.all(
    Array.from({ length: FIRST }, () => badOrder),
    { concurrency: FIRST }
  )
  const fibers = yield* Effect.all([steadily(badOrder), steadily(order("good", other, "x"))], {
    concurrency: 2
  })
  for (const fiber of fibers.flat()) yield* Fiber.join(fiber)
  const took = (Date.now() - begun) / 1000

  const { data } = yield* Effect.flatMap(operator.admin("/channels"), (answer) =>
    good(Channels, answer)
  )
  const [channel] = data
  const told = (of: ReadonlyMap<number, number>) =>
    [...of].map(([status, count]) => `${count} x ${status}`).join(", ")
  yield* Console.log(
    `${kind}, ${took.toFixed(0)} s: the good organisation got ${told(counts.good)}; ` +
      `the other ${told(counts.bad)}; the channel is ${channel?.state}, ` +
      `models at rest: ${channel?.model_rests.length}, ` +
      `organisations slowed: ${channel?.slowed_organizations.length}`
  )
  const made = counts.good.get(200) ?? 0
  const sentToVendor = counts.bad.get(502) ?? 0
  const isSlowed = sentToVendor <= FIRST + NOTICED_SECONDS * EACH_SECOND + Math.log2(seconds)
  if (made !== seconds * EACH_SECOND || !isSlowed) process.exitCode = 1
}, Effect.scoped)

NodeRuntime.runMain(
  Effect.forEach(
    databases.filter((kind) => values.database === "both" || values.database === kind),
    measure,
    { discard: true }
  )
)
