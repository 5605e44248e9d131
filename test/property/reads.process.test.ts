/**
 * Clients that read in any manner: whatever they ask for and however they take it, nothing of them
 * counts when they are gone, no place is lost, and another organisation's orders are made meanwhile.
 * PROPERTY_CASES sets how many mixes of clients, PROPERTY_SEED repeats a run.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { seedOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway, quickSettings, testCatalog } from "../support/gateway.ts"
import { serving } from "../support/httpServer.ts"
import { orderImages } from "../support/orders.ts"
import { diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 6)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)
/** Clients of one mix, at most. */
const MAX_CLIENTS = 12
const LONGEST_MILLIS = 24 * 3_600_000
const MEBIBYTE = 1024 * 1024

const settings = {
  ...quickSettings,
  keyRequestsPerMinute: 0,
  listsInFlight: 2,
  organizationLists: 1,
  answerBudgetBytes: 24 * MEBIBYTE,
  answerStallSeconds: 0.4
}

/** An image that no buffer of a connection takes whole. */
const image = Buffer.from(
  `{"created":17,"data":[{"b64_json":"${"iVBORw0KGgo=".repeat((12 * MEBIBYTE) / 12)}"}]}`
)

const manners = ["fast", "slow", "stalled", "pipelining", "leaving"] as const
const wishes = [
  "image",
  "usage",
  "usage as CSV",
  "orders",
  "one order",
  "contract",
  "nothing"
] as const

interface Client {
  readonly manner: (typeof manners)[number]
  readonly wish: (typeof wishes)[number]
}

/** The forms by which tenants were kept from their orders come first, then any. */
const named: ReadonlyArray<ReadonlyArray<Client>> = [
  Array.from({ length: 6 }, () => ({ manner: "stalled", wish: "image" })),
  Array.from({ length: MAX_CLIENTS }, () => ({ manner: "pipelining", wish: "usage" })),
  Array.from({ length: MAX_CLIENTS }, () => ({ manner: "fast", wish: "usage" })),
  Array.from({ length: 6 }, () => ({ manner: "leaving", wish: "image" })),
  Array.from({ length: 6 }, () => ({ manner: "stalled", wish: "contract" }))
]

const drawMix = (seed: number): ReadonlyArray<Client> => {
  const dice = diceOf(seed)
  return Array.from({ length: 1 + dice.roll(MAX_CLIENTS) }, () => ({
    manner: dice.pick(manners),
    wish: dice.pick(wishes)
  }))
}

const requestOf = (wish: Client["wish"], key: string): string => {
  const head = (method: string, path: string, ...more: ReadonlyArray<string>) =>
    [
      `${method} ${path} HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${key}`,
      ...more,
      "",
      ""
    ].join("\r\n")
  switch (wish) {
    case "image": {
      const body = '{"model":"paint-1","prompt":"x","response_format":"b64_json"}'
      const about = ["content-type: application/json", `content-length: ${body.length}`]
      return head("POST", "/v1/images/generations", ...about) + body
    }
    case "usage":
      return head("GET", "/v1/usage?limit=100")
    case "usage as CSV":
      return head("GET", "/v1/usage?limit=100", "accept: text/csv")
    case "orders":
      return head("GET", "/v1/orders?limit=100")
    case "one order":
      return head("GET", "/v1/orders/img_00000000-0000-7000-8000-000000000000")
    case "contract":
      return "GET /openapi.json HTTP/1.1\r\nhost: gateway\r\n\r\n"
    case "nothing":
      return head("GET", "/v1/nothing")
  }
}

/** How long a slow client waits before it takes the next bytes. */
const SLOW_MILLIS = 1
/** Requests that a client sends without waiting for their answers. */
const PIPELINED = 40

/** Sends what the client asks for, and reads as it does. */
const play = (url: string, { manner, wish }: Client, key: string) =>
  Effect.promise(async () => {
    const { hostname, port } = new URL(url)
    const socket: Socket = connect(Number(port), hostname)
    await once(socket, "connect")
    socket.on("error", () => undefined)
    const request = requestOf(wish, key)
    const closing = request.replace("\r\n", "\r\nconnection: close\r\n")
    switch (manner) {
      case "fast":
        socket.resume().write(closing)
        break
      case "slow":
        socket.on("data", () => {
          socket.pause()
          setTimeout(() => socket.resume(), SLOW_MILLIS)
        })
        socket.write(closing)
        break
      case "stalled":
        socket.pause().write(closing)
        break
      case "pipelining":
        socket.pause().write(request.repeat(PIPELINED - 1) + closing)
        break
      case "leaving":
        socket.write(request)
        setTimeout(() => socket.destroy(), 1)
    }
    return socket
  })

layer(layerTestGateway("postgres", settings), {
  excludeTestServices: true,
  timeout: LONGEST_MILLIS
})(`readers of any manner, seed ${SEED}`, (it) => {
  it.effect(
    "leave nothing behind, and nobody else is refused",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* serving((request, response) => {
          const pieces: Array<Buffer> = []
          request
            .on("data", (piece: Buffer) => pieces.push(piece))
            .on("end", () => {
              const isLarge = Buffer.concat(pieces).includes("b64_json")
              response
                .writeHead(200, { "content-type": "application/json" })
                .end(isLarge ? image : '{"created":17,"data":[{"url":"https://media.test/1.png"}]}')
            })
        })
        const catalog = testCatalog(gateway.simulator.url)
        const channels = catalog.channels.map((channel) =>
          channel.id === "ch-i" ? { ...channel, base_url: vendor } : channel
        )
        yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
        const reader = yield* gateway.customer("1000000")
        const other = yield* gateway.customer("1000000")
        yield* Effect.forEach(Array.from({ length: 20 }), () =>
          orderImages(reader, { model: "paint-1" })
        )
        const untilNothingCounts = Effect.sleep("5 millis").pipe(
          Effect.repeat({
            until: () => gateway.answers.bytes() === 0 && gateway.answers.waiting() === 0
          }),
          Effect.timeout("60 seconds")
        )
        const mixes = Array.from({ length: CASES }, (_, index) => ({
          seed: SEED + index,
          clients: named[index] ?? drawMix(SEED + index)
        }))
        for (const { seed, clients } of mixes) {
          const about = `PROPERTY_SEED=${seed} PROPERTY_CASES=1: ${JSON.stringify(clients)}`
          const sockets = yield* Effect.forEach(
            clients,
            (client) => play(gateway.url, client, reader.key),
            { concurrency: "unbounded" }
          )
          const order = yield* orderImages(other, { model: "paint-1" })
          assert.strictEqual(order.status, 200, `${order.text} ${about}`)
          // Whoever takes nothing is cut, before any of them leaves.
          yield* untilNothingCounts
          for (const socket of sockets) socket.destroy()
          const list = yield* gateway.call("/v1/usage?limit=1", { key: reader.key })
          assert.strictEqual(list.status, 200, `${list.text} ${about}`)
          yield* untilNothingCounts
        }
        yield* gateway
          .balance(reader)
          .pipe(Effect.repeat({ until: ({ held }) => held === "0" }), Effect.timeout("60 seconds"))
        yield* gateway.verify
      }).pipe(Effect.scoped),
    LONGEST_MILLIS
  )
})
