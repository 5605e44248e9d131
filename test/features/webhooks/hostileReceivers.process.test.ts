/** Receivers that fail, hang, drip, redirect, lie about their address or never stop answering. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../../support/gateway.ts"
import { makeReceiver, withStatus } from "../../support/receiver.ts"

const settings = {
  ...quickSettings,
  webhookAllowPrivate: true,
  webhookRetrySeconds: [0.01, 0.01]
}

const Id = Schema.Struct({ id: Schema.String })

const endpoint = Effect.fnUntraced(function* (who: Customer, url: string) {
  const gateway = yield* Gateway
  const made = yield* gateway.call("/v1/webhook_endpoints", {
    key: who.key,
    json: { name: "hostile", url, event_types: ["image.completed"] }
  })
  return (yield* bodyAs(Id, made)).id
})

const images = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-1", prompt: "x" }
  })
  return (yield* bodyAs(Id, answer)).id
})

const Log = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      status: Schema.String,
      attempts: Schema.Array(
        Schema.Struct({
          status: Schema.NullOr(Schema.Int),
          answer: Schema.NullOr(Schema.String),
          error: Schema.NullOr(Schema.String)
        })
      )
    })
  )
})

/** The only message of the endpoint, when it is in that state. */
const logged = Effect.fnUntraced(function* (who: Customer, id: string, state: string) {
  const gateway = yield* Gateway
  const read = gateway.call(`/v1/webhook_endpoints/${id}/deliveries?status=${state}`, {
    key: who.key
  })
  const { data } = yield* Effect.flatMap(read, (answer) => bodyAs(Log, answer)).pipe(
    Effect.delay("10 millis"),
    Effect.repeat({ until: ({ data }) => data.length > 0 })
  )
  const [first] = data
  return first === undefined ? yield* Effect.die(new Error("nothing is logged")) : first
})

/** Takes connections, and does with them what it is told. */
const rawServer = (
  talk: (write: (text: string) => void, onEnd: (end: () => void) => void) => void
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.once("data", () =>
          talk(
            (text) => void socket.write(text),
            (end) => socket.on("close", end)
          )
        )
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      return { server, url: `http://127.0.0.1:${address.port}` }
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

layer(layerTestGateway("postgres", { ...settings, webhookTimeoutSeconds: 0.2 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a hostile receiver", (it) => {
  it.effect("that hangs is left after its time", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const { url } = yield* rawServer(() => undefined)
      const id = yield* endpoint(who, url)
      yield* images(who)
      const { attempts } = yield* logged(who, id, "failed")
      assert.deepStrictEqual(
        attempts,
        Array(3).fill({ status: null, answer: null, error: "no answer came within 0.2 seconds" })
      )
    })
  )

  it.effect("that answers in drops is left after its time", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const { url } = yield* rawServer((write, onEnd) => {
        const drops = [..."HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"]
        const timer = setInterval(() => write(drops.shift() ?? "x"), 50)
        onEnd(() => clearInterval(timer))
      })
      const id = yield* endpoint(who, url)
      yield* images(who)
      const { attempts } = yield* logged(who, id, "failed")
      assert.lengthOf(attempts, 3)
    })
  )

  it.effect("whose answer begins well and never ends has taken the message", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const closed: Array<true> = []
      const { url } = yield* rawServer((write, onEnd) => {
        write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
        onEnd(() => closed.push(true))
      })
      const id = yield* endpoint(who, url)
      yield* images(who)
      const { attempts } = yield* logged(who, id, "delivered")
      assert.deepStrictEqual(attempts, [{ status: 200, answer: "", error: null }])
      yield* Effect.sync(() => closed.length).pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (count) => count === 1 })
      )
    })
  )
})

layer(layerTestGateway("postgres", { ...settings, webhookTimeoutSeconds: 600 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("with ten minutes for an answer", (it) => {
  it.effect("an answer of 10 MB is read to its first kilobyte", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      let wasCut = false
      const receiver = yield* makeReceiver((response) => {
        response.on("close", () => {
          wasCut = !response.writableFinished
        })
        response.writeHead(200).end(Buffer.alloc(10_000_000, "y"))
      })
      const id = yield* endpoint(who, receiver.url)
      yield* images(who)
      const { attempts } = yield* logged(who, id, "delivered")
      assert.strictEqual(attempts[0]?.answer, "y".repeat(1024))
      yield* Effect.sync(() => wasCut).pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (is) => is })
      )
    })
  )

  it.effect("a redirect is not followed", () =>
    Effect.gen(function* () {
      const who = yield* Effect.flatMap(Gateway, (gateway) => gateway.customer("10"))
      const inside = yield* makeReceiver()
      const receiver = yield* makeReceiver(withStatus(307, { location: inside.url }))
      const id = yield* endpoint(who, receiver.url)
      yield* images(who)
      const { attempts } = yield* logged(who, id, "failed")
      assert.deepStrictEqual(
        attempts.map(({ status }) => status),
        [307, 307, 307]
      )
      assert.lengthOf(inside.received, 0)
    })
  )

  it.effect("receivers that hang delay nobody, even when they use up their permits", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { url } = yield* rawServer(() => undefined)
      const good = yield* makeReceiver()
      const bad = yield* Effect.forEach(Array.from({ length: 4 }), () => gateway.customer("10"))
      for (const who of bad) {
        for (let nth = 0; nth < 10; nth++) yield* endpoint(who, `${url}/${nth}`)
        for (let nth = 0; nth < 20; nth++) yield* images(who)
      }
      const who = yield* gateway.customer("100")
      yield* endpoint(who, good.url)
      // One of its own hangs, too, with more messages than an organisation may have under way.
      yield* endpoint(who, url)
      for (let nth = 0; nth < 80; nth++) yield* images(who)
      const told = yield* good.awaited(80)
      assert.lengthOf(new Set(told.map(({ id }) => id)), 80)
    })
  )
})

const asked: Array<string> = []

layer(
  layerTestGateway(
    "postgres",
    { ...settings, webhookAllowPrivate: false },
    {
      resolve: (host, options, callback) => {
        asked.push(host)
        // Public when somebody looks before, and this machine at every connection.
        const found = { address: "127.0.0.1", family: 4 }
        if (options.all === true) callback(null, [found])
        else callback(null, found.address, found.family)
      }
    }
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a receiver's address", (it) => {
  it.effect("is checked when the connection is made", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const inside = yield* makeReceiver()
      const { port } = new URL(inside.url)
      const id = yield* endpoint(who, `https://hooks.example.com:${port}/`)
      assert.deepStrictEqual(asked, [])
      yield* images(who)
      const { attempts } = yield* logged(who, id, "failed")
      assert.deepStrictEqual(
        attempts,
        Array(3).fill({ status: null, answer: null, error: "the name leads to no public address" })
      )
      assert.deepStrictEqual(new Set(asked), new Set(["hooks.example.com"]))
      assert.lengthOf(inside.received, 0)
    })
  )

  it.effect("is refused at once where the address itself tells", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      for (const url of [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest",
        "https://localhost/"
      ]) {
        const refused = yield* gateway.call("/v1/webhook_endpoints", {
          key: who.key,
          json: { name: "x", url, event_types: ["image.failed"] }
        })
        assert.strictEqual(refused.status, 400, url)
        assert.deepNestedInclude(refused.body, { "error.param": "url" })
        const order = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "x", callback_url: url }
        })
        assert.deepNestedInclude(order.body, { "error.param": "callback_url" })
      }
      assert.deepInclude((yield* gateway.call("/v1/balance", { key: who.key })).body, {
        held: "0"
      })
    })
  )
})

layer(layerTestGateway("embedded", { ...settings, webhookPatienceDays: 0 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a receiver that fails for too long", (it) => {
  it.effect("is disabled, and its owner's others are told", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const bad = yield* makeReceiver(withStatus(500))
      const good = yield* makeReceiver()
      const id = yield* endpoint(who, bad.url)
      yield* endpoint(who, good.url)
      yield* images(who)
      const [told] = yield* good.awaited(1, ({ body }) => /disabled$/.test(body.type))
      assert.deepInclude(told?.body.data, { id, reason: "it failed for too long" })
      assert.lengthOf(bad.received, 2)
    })
  )
})
