/**
 * Many large answers that nobody reads, at a gateway of its own: what it keeps of them is bounded, and
 * their clients are cut and charged. ANSWERS, ANSWER_MEBIBYTES, ANSWER_BUDGET_MEBIBYTES and STALL_SECONDS
 * set the sizes; 100, 16, 384 and 30 are the full form.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { ADMIN_TOKEN, startGateway } from "../support/cluster.ts"
import { testCatalog } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, settledBalance } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { serving } from "../support/httpServer.ts"
import { peakMebibytes } from "../support/processMemory.ts"

const ANSWERS = Number(process.env.ANSWERS ?? 24)
const ANSWER_MEBIBYTES = Number(process.env.ANSWER_MEBIBYTES ?? 16)
const BUDGET_MEBIBYTES = Number(process.env.ANSWER_BUDGET_MEBIBYTES ?? 64)
const STALL_SECONDS = Number(process.env.STALL_SECONDS ?? 1)
const MEBIBYTE = 1024 * 1024
/** What the garbage collector may leave lying around: of the budget, and beside it. */
const LEFT_OVER = 1.25
const SLACK_MEBIBYTES = 240

const image = Buffer.from(
  `{"created":17,"data":[{"b64_json":"${"iVBORw0KGgo=".repeat((ANSWER_MEBIBYTES * MEBIBYTE) / 12)}"}]}`
)

/** Image orders that were answered, of the metrics. */
const imageRequests = (metrics: string): number =>
  [...metrics.matchAll(/^gateway_http_requests_total\{.*"\/v1\/images\/generations".*\} (\d+)$/gm)]
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0)

/** Orders an image on a connection of its own, of which nothing is read. */
const orderUnread = (url: string, key: string, name: string) =>
  Effect.promise(async () => {
    const { hostname, port } = new URL(url)
    const socket: Socket = connect(Number(port), hostname).pause()
    await once(socket, "connect")
    const body = JSON.stringify({ model: "paint-1", prompt: "x", response_format: "b64_json" })
    socket.on("error", () => undefined)
    socket.write(
      `POST /v1/images/generations HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r\n` +
        `idempotency-key: ${name}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    )
    return socket
  })

/** All that is left to read of a connection that was cut. */
const rest = (socket: Socket) =>
  Effect.promise(async () => {
    let length = 0
    socket.on("data", (bytes) => {
      length += bytes.length
    })
    const closed = once(socket, "close")
    socket.resume()
    await closed
    return length
  })

it.live(
  "answers that nobody reads are cut and charged, and take no more memory than there is for them",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const vendor = yield* serving((request, response) => {
        request.resume().on("end", () => {
          response.writeHead(200, {
            "content-type": "application/json",
            "content-length": image.length
          })
          response.end(image)
        })
      })
      const gateway = yield* startGateway({
        ...(yield* processEnvironment("postgres")),
        GATEWAY_ANSWER_BUDGET_BYTES: `${BUDGET_MEBIBYTES * MEBIBYTE}`,
        GATEWAY_ANSWER_STALL_SECONDS: `${STALL_SECONDS}`
      })
      const catalog = testCatalog(simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-i" ? { ...channel, base_url: vendor } : channel
      )
      const customers = yield* Effect.forEach([1, 2], () =>
        prepareCustomer(gateway, "1000", { ...catalog, channels })
      )
      const other = yield* prepareCustomer(gateway, "1000", { ...catalog, channels })
      const before = peakMebibytes(gateway.process.pid)
      const sockets = yield* Effect.forEach(
        Array.from({ length: ANSWERS }).keys(),
        (index) => orderUnread(gateway.url, customers[index % 2]?.key ?? "", `unread-${index}`),
        { concurrency: "unbounded" }
      )
      // Somebody else's order is made meanwhile.
      const served = yield* call(`${gateway.url}/v1/images/generations`, {
        key: other.key,
        json: { model: "paint-1", prompt: "x" }
      })
      assert.strictEqual(served.status, 200, served.text.slice(0, 500))
      const began = performance.now()
      yield* Effect.sleep("50 millis").pipe(
        Effect.andThen(call(`${gateway.url}/metrics`, { key: ADMIN_TOKEN })),
        Effect.repeat({
          until: ({ text }) =>
            imageRequests(text) === ANSWERS + 1 && /^gateway_answer_bytes 0$/m.test(text)
        }),
        Effect.timeout("200 seconds")
      )
      const took = performance.now() - began
      const peak = peakMebibytes(gateway.process.pid)
      yield* Effect.logInfo(
        `${ANSWERS} unread answers of ${ANSWER_MEBIBYTES} MiB with room for ${BUDGET_MEBIBYTES} MiB: ` +
          `${Math.round(before)} MiB before, ${Math.round(peak)} MiB at the peak, ` +
          `the last was cut after ${(took / 1000).toFixed(1)} s`
      )
      assert.isBelow(peak - before, LEFT_OVER * BUDGET_MEBIBYTES + SLACK_MEBIBYTES)
      // Whoever is cut has not got the whole, and has paid for it.
      const lengths = yield* Effect.forEach(sockets, rest, { concurrency: "unbounded" })
      const cut = lengths.filter((length) => length > 2000)
      assert.isAtLeast(cut.length, 1)
      for (const length of cut) assert.isBelow(length, image.length)
      const balances = yield* Effect.forEach(customers, ({ organizationPath }) =>
        settledBalance(gateway, organizationPath)
      )
      const spent = balances.reduce((sum, balance) => sum + 1000 - Number(balance), 0)
      assert.closeTo(spent, cut.length * 0.2, 1e-6)
      // There is room again for whoever had too many.
      const [first] = customers
      const again = yield* call(`${gateway.url}/v1/images/generations`, {
        key: first?.key ?? "",
        json: { model: "paint-1", prompt: "x" }
      })
      assert.strictEqual(again.status, 200, again.text.slice(0, 500))
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  300_000
)
