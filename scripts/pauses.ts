/**
 * Measures the longest pauses of a gateway's event loop: sends large and malformed bodies of every
 * kind one after the other, with and without an `Idempotency-Key`, while another organisation
 * orders images. Exits with 1 when a pause or a piece of work exceeded its limit, a body had an
 * unexpected result, or an image was not made. On a busy machine, pauses are longer than the work
 * in them.
 *
 *   npm run pauses -- --max-millis 250 --max-work-millis 100 --mebibytes 63
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Fiber, Schema } from "effect"
import type { CatalogWrite } from "../src/domain/catalog/CatalogDocument.ts"
import { ADMIN_TOKEN, good, startGateway } from "../test/support/cluster.ts"
import { call } from "../test/support/http.ts"
import { type LargeBody, largeBodies } from "../test/support/largeBodies.ts"
import { makeOperator } from "../test/support/operator.ts"
import { startPostgres } from "../test/support/postgresServer.ts"
import type { TestProcess } from "../test/support/processes.ts"
import { gatewayEntry } from "./bench/subjects/ours.ts"
import { startVendor } from "./bench/subjects/vendorControl.ts"

const { values } = parseArgs({
  options: {
    "max-millis": { type: "string", default: "250" },
    "max-work-millis": { type: "string", default: "100" },
    mebibytes: { type: "string", default: "63" }
  }
})
const maxMillis = Number(values["max-millis"])
const maxWorkMillis = Number(values["max-work-millis"])
const mebibytes = Number(values.mebibytes)

/**
 * A script in the gateway that reports, since its last report, the longest time between two turns
 * of the event loop and the longest CPU time of a turn.
 */
const probe = `
let asked = 0, last = performance.now(), lastWork = process.threadCpuUsage(), still = 0, work = 0
const turn = () => {
  const now = performance.now(), done = process.threadCpuUsage(lastWork)
  still = Math.max(still, now - last)
  work = Math.max(work, (done.user + done.system) / 1000)
  last = now
  lastWork = process.threadCpuUsage()
}
setInterval(turn, 2).unref()
process.on("SIGUSR2", () => {
  turn()
  console.log("pause " + ++asked + ": " + Math.round(still) + " " + Math.round(work))
  still = work = 0
})`

const catalogOn = (vendorUrl: string): typeof CatalogWrite.Encoded => {
  const tokens = { kind: "tokens", per_million_input: "2", per_million_output: "8" } as const
  const film = {
    kind: "token_video",
    per_million_tokens: { base: { without_video: "46" } }
  } as const
  const models: (typeof CatalogWrite.Encoded)["models"] = [
    {
      id: "paint-1",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: "0.2" }
    },
    { id: "talk-1", modality: "chat", protocol: "openai", prices: tokens },
    {
      id: "vector-1",
      modality: "embedding",
      protocol: "openai",
      prices: { kind: "tokens", per_million_input: "2" }
    },
    { id: "film-1", modality: "video", protocol: "vp_a", prices: film }
  ]
  const channel = (id: string, path: string) => ({
    id,
    name: id,
    base_url: `${vendorUrl}${path}`,
    api_key: "vendor-key"
  })
  return {
    channels: [channel("standard", "/v1"), channel("tasks", "")],
    models,
    mounts: models.map(({ id, modality }) => ({
      model: id,
      channel: modality === "video" ? "tasks" : "standard",
      upstream_model: `vendor-${id}`
    }))
  }
}

const endOf = (status: number, text: string): LargeBody["refused"] | "otherwise" => {
  if (status === 200 || text.includes('"upstream_error"')) return null
  if (!text.includes('"invalid_request"')) return "otherwise"
  return text.includes("The body may have at most") ? "by its bytes" : "as a body"
}

/** The longest pause of the gateway's event loop since the previous reading. */
const makePauses = ({ kill, waitForLine }: TestProcess) => {
  let count = 0
  return Effect.gen(function* () {
    count++
    yield* kill("SIGUSR2")
    const [, still, work] = yield* waitForLine(new RegExp(`^pause ${count}: (\\d+) (\\d+)$`))
    return { millis: Number(still), work: Number(work) }
  })
}

/** Orders images one after the other until it is stopped. */
const countMeanwhile = Effect.fnUntraced(function* <E, R>(
  image: Effect.Effect<{ readonly status: number }, E, R>
) {
  let count = 0
  const failures: Array<string> = []
  const fiber = yield* Effect.forkChild(
    Effect.forever(
      Effect.map(image, ({ status }) => {
        count++
        if (status !== 200) failures.push(`an image was answered ${status}`)
      })
    )
  )
  return { count: () => count, failures, stop: Fiber.interrupt(fiber) }
})

const program = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres()),
    (server) => Effect.promise(() => server.stop())
  )
  const vendor = yield* startVendor
  const gateway = yield* startGateway(
    { DATABASE_URL: server.url, NODE_NO_WARNINGS: "1" },
    gatewayEntry,
    [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(probe)}`]
  )
  const operator = makeOperator((path, sent) => call(`${gateway.url}${path}`, sent), ADMIN_TOKEN)
  yield* Effect.flatMap(
    operator.admin("/catalog", { method: "PUT", json: catalogOn(vendor.url) }),
    (answer) => good(Schema.Unknown, answer)
  )
  const [sender, other] = [
    yield* operator.customer("50000000"),
    yield* operator.customer("50000000")
  ]
  const image = call(`${gateway.url}/v1/images/generations`, {
    key: other.key,
    json: { model: "paint-1", prompt: "x" }
  })

  // The first requests are not measured, because the gateway compiles code and fills caches during
  // them.
  for (let round = 0; round < 200; round++) yield* image

  const takePause = makePauses(gateway.process)
  const longest = { still: 0, work: 0 }
  const failures: Array<string> = []
  const cases = largeBodies(mebibytes).flatMap((body) =>
    (body.path === "/v1/quotes" ? [false] : [false, true]).map((hasKey) => ({ body, hasKey }))
  )
  for (const [index, { body, hasKey }] of cases.entries()) {
    yield* takePause
    const others = yield* countMeanwhile(image)
    const key = `${body.what} ${index}`.replaceAll(" ", "-")
    const { status, text } = yield* call(`${gateway.url}${body.path}`, {
      key: sender.key,
      body: body.make(),
      headers: hasKey ? { "idempotency-key": key } : {}
    })
    const { millis, work } = yield* takePause
    yield* others.stop
    longest.still = Math.max(longest.still, millis)
    longest.work = Math.max(longest.work, work)
    failures.push(...others.failures)
    const end = endOf(status, text)
    if (end !== body.refused) failures.push(`${body.what}: ${status} ${text.slice(0, 200)}`)
    yield* Console.log(
      [
        `${millis} ms`.padStart(8),
        `${work} ms at work`.padStart(16),
        `${others.count()} images`.padStart(12),
        `${body.path} ${body.what} ${hasKey ? "with a key" : ""}`.trimEnd(),
        end === null ? "taken" : `refused ${end}`
      ].join("  ")
    )
  }
  yield* Console.log(
    `The longest pause was ${longest.still} ms of ${maxMillis} ms that are allowed, ` +
      `the longest work of one turn ${longest.work} ms of ${maxWorkMillis} ms.`
  )
  for (const failure of failures) yield* Console.error(failure)
  if (longest.still > maxMillis || longest.work > maxWorkMillis) process.exitCode = 1
  if (failures.length > 0) process.exitCode = 1
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
