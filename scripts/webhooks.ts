/**
 * Measures how faulty webhook receivers delay healthy ones: each organisation has one endpoint, and
 * half of the endpoints hang, respond slowly, fail, redirect or send 10 MB in every other window,
 * and behave well in between. Prints the time from an event to its receiver, for the healthy half
 * only. Exits with 1 when the ratio of the p99 with faulty receivers to the p99 without them
 * exceeds the limit.
 *
 *   npm run webhooks -- --rounds 3 --seconds 20 --per-second 40 --max-ratio 2
 */
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Fiber, Schema } from "effect"
import { call } from "../test/support/http.ts"
import { serving } from "../test/support/httpServer.ts"
import { bodyAs } from "../test/support/operator.ts"
import { median, quantile, sorted } from "./bench/measure/stats.ts"
import { startImageGateway } from "./imageGateway.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "20" },
    "per-second": { type: "string", default: "40" },
    "max-ratio": { type: "string", default: "2" }
  }
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const perSecond = Number(values["per-second"])
const maxRatio = Number(values["max-ratio"])

const drops = (response: ServerResponse) => {
  response.writeHead(200, { "content-length": "1000000" })
  const timer = setInterval(() => response.write("x"), 100)
  response.on("close", () => clearInterval(timer))
}

/** The faults of receivers, by the first part of their path. */
const manners = new Map<string, (response: ServerResponse) => void>([
  ["hang", () => undefined],
  ["drops", drops],
  ["fail", (response) => response.writeHead(500).end()],
  ["redirect", (response) => response.writeHead(302, { location: "/good" }).end()],
  ["large", (response) => response.writeHead(200).end(Buffer.alloc(10_000_000))]
])
const BAD_OF_EACH = 2
const kinds = [...manners.keys()].flatMap((kind) => Array<string>(BAD_OF_EACH).fill(kind))

const Told = Schema.fromJsonString(Schema.Struct({ timestamp: Schema.String }))
const decodeTold = Schema.decodeUnknownSync(Told)
const Endpoint = Schema.Struct({ id: Schema.String })

const program = Effect.gen(function* () {
  const gateway = yield* startImageGateway({ GATEWAY_WEBHOOK_ALLOW_PRIVATE: "1" }, (_, response) =>
    response.end()
  )
  let areBad = false
  let delays: Array<number> = []
  const receiver = yield* serving((request, response) => {
    const chunks: Array<Uint8Array> = []
    request.on("data", (chunk: Uint8Array) => void chunks.push(chunk))
    request.on("end", () => {
      const [, kind = ""] = (request.url ?? "").split("/")
      if (kind === "good") {
        const { timestamp } = decodeTold(Buffer.concat(chunks).toString("utf8"))
        delays.push(Date.now() - Date.parse(timestamp))
      }
      const manner = manners.get(kind)
      if (areBad && manner !== undefined) manner(response)
      else response.end()
    })
  })

  const endpoints = `${gateway.url}/v1/webhook_endpoints`
  const listening = Effect.fnUntraced(function* (kind: string) {
    const { key } = yield* gateway.customer("1000000")
    const url = `${receiver}/${kind}/${randomUUID()}`
    const json = { name: kind, url, event_types: ["image.completed"] }
    const { id } = yield* bodyAs(Endpoint, yield* call(endpoints, { key, json }))
    return { key, leave: call(`${endpoints}/${id}`, { key, method: "DELETE" }) }
  })
  const good = yield* Effect.forEach(kinds, () => listening("good"))

  /**
   * Orders at a constant rate from both halves, and returns the delays of the healthy half in
   * milliseconds.
   */
  const window = Effect.fnUntraced(function* (bad: boolean) {
    areBad = bad
    delays = []
    const others = yield* Effect.forEach(kinds, listening)
    const turns = good.flatMap((one, nth) => [one, others[nth] ?? one])
    const count = seconds * perSecond
    const orders: Array<Fiber.Fiber<string, Schema.SchemaError>> = []
    for (let nth = 0; nth < count; nth++) {
      const { key = "" } = turns[nth % turns.length] ?? {}
      orders.push(yield* Effect.forkChild(gateway.order(key)))
      yield* Effect.sleep(1000 / perSecond)
    }
    yield* Fiber.joinAll(orders)
    yield* Effect.sync(() => delays.length >= count / 2).pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (all) => all })
    )
    yield* Effect.forEach(others, ({ leave }) => leave)
    return quantile(sorted(delays), 0.99)
  })

  yield* window(false)
  const beside = { well: [] as number[], bad: [] as number[] }
  for (let round = 1; round <= rounds; round++) {
    beside.well.push(yield* window(false))
    beside.bad.push(yield* window(true))
    yield* Console.log(
      `round ${round}: p99 ${beside.well.at(-1)} ms beside receivers that behave, ` +
        `${beside.bad.at(-1)} ms beside bad ones`
    )
  }
  const [well, bad] = [median(beside.well), median(beside.bad)]
  yield* Console.log(`medians: ${well} and ${bad} ms, ${(bad / well).toFixed(2)} times`)
  if (bad > well * maxRatio) {
    yield* Effect.sync(() => {
      process.exitCode = 1
    })
  }
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
