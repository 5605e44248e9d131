import { lookup } from "node:dns"
import { createServer } from "node:http"
import type { AddressInfo, LookupFunction } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { layerOutgoingWebWith, OutgoingWeb } from "../../src/egress/OutgoingWeb.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"

/** Answers every request, counts them, and sends those to `/away` elsewhere. */
const serve = Effect.acquireRelease(
  Effect.promise(async () => {
    const seen: Array<string> = []
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      if (request.url === "/away") response.writeHead(302, { location: "/elsewhere" }).end()
      else response.end("hello")
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    return { server, seen, port: (server.address() as AddressInfo).port }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

const webWith = (webhookAllowPrivate: boolean, resolve: LookupFunction = lookup) =>
  Effect.map(
    Layer.build(
      Layer.provide(
        layerOutgoingWebWith(resolve),
        Layer.succeed(Settings, { ...defaultSettings, webhookAllowPrivate })
      )
    ),
    Context.get(OutgoingWeb)
  )

const get = (web: OutgoingWeb["Service"], url: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const answer = yield* web.open({ method: "GET", url, headers: {} })
      return {
        status: answer.status,
        text: yield* Stream.mkString(Stream.decodeText(answer.bytes))
      }
    })
  )

describe("the connections to addresses that others name", () => {
  it.effect("bring what is there", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serve
      const web = yield* webWith(true)
      const answer = yield* get(web, `http://127.0.0.1:${port}/a`)
      assert.deepStrictEqual(answer, { status: 200, text: "hello" })
      assert.deepStrictEqual(seen, ["GET /a"])
    })
  )

  it.effect("follow no redirect", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serve
      const web = yield* webWith(true)
      const answer = yield* get(web, `http://127.0.0.1:${port}/away`)
      assert.strictEqual(answer.status, 302)
      assert.deepStrictEqual(seen, ["GET /away"])
    })
  )

  it.effect("check where a name leads when they are made, each time", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serve
      const led: Array<string> = []
      // Public when somebody looks, and this machine when the connection is made.
      const web = yield* webWith(false, (_, options, callback) => {
        const address = led.length === 0 ? "93.184.216.34" : "127.0.0.1"
        led.push(address)
        if (options.all === true) callback(null, [{ address, family: 4 }])
        else callback(null, address, 4)
      })
      led.push("looked up before")
      const failed = yield* Effect.flip(get(web, `https://hooks.example.com:${port}/`))
      assert.isTrue(failed.isRefused)
      assert.include(failed.message, "no public address")
      assert.deepStrictEqual(led, ["looked up before", "127.0.0.1"])
      assert.deepStrictEqual(seen, [])
    })
  )

  it.effect("refuse an address in the URL itself, and what is not encrypted", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serve
      const web = yield* webWith(false)
      for (const host of [
        "https://127.0.0.1",
        "https://[::ffff:127.0.0.1]",
        "http://example.com"
      ]) {
        const failed = yield* Effect.flip(get(web, `${host}:${port}/`))
        assert.isTrue(failed.isRefused, host)
      }
      assert.deepStrictEqual(seen, [])
    })
  )

  it.effect("say what went wrong in words", () =>
    Effect.gen(function* () {
      const { port, server } = yield* serve
      const web = yield* webWith(true)
      yield* Effect.promise(() => new Promise((done) => server.close(done)))
      const failed = yield* Effect.result(get(web, `http://127.0.0.1:${port}/`))
      assert.isTrue(Result.isFailure(failed))
      if (Result.isFailure(failed)) {
        assert.strictEqual(failed.failure.message, "the connection was refused")
        assert.isFalse(failed.failure.isRefused)
      }
    })
  )
})
