import { once } from "node:events"
import { connect } from "node:net"
import { assert, it, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, type Scope } from "effect"
import { Failpoints } from "../../src/runtime/Failpoints.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { startGateway } from "../support/cluster.ts"
import { databasesInTurn } from "../support/databases.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { prepareCustomer, processEnvironment, settledBalance } from "../support/gatewayProcesses.ts"
import {
  chunkCounting,
  chunkOf,
  counted,
  countOf,
  done,
  finished,
  type HeldStream,
  heldStream
} from "../support/heldStream.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"

/** A tenth of it is for clients that take nothing. */
const settings = { ...quickSettings, textDeadlineSeconds: 10 }

const reached = { current: Deferred.makeUnsafe<void>() }
const goOn = { current: Deferred.makeUnsafe<void>() }

/** Stops between a text and its charge until the test lets it go on. */
const pausing = Layer.succeed(Failpoints, {
  pass: (failpoint) =>
    failpoint === "text.made"
      ? Effect.andThen(Deferred.succeed(reached.current, undefined), Deferred.await(goOn.current))
      : Effect.void
})

/** Reads an answer piece by piece, as it arrives. */
const openStream = Effect.fnUntraced(function* (url: string, key: string) {
  const abort = new AbortController()
  const asked = fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(talk("hello", { model: "talk-held", stream: true })),
    signal: abort.signal
  })
  let text = ""
  let ended = false
  const read = async () => {
    const { body } = await asked
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece
  }
  read()
    .catch(() => undefined)
    .finally(() => {
      ended = true
    })
  /** Waits until this has come, and answers all that came so far. */
  const until = (end: string) =>
    Effect.sync(() => text.includes(end) || ended).pipe(
      Effect.delay("5 millis"),
      Effect.repeat({ until: (isThere) => isThere }),
      Effect.map(() => text)
    )
  return { until, soFar: () => text, leave: Effect.sync(() => abort.abort()) }
})

const settled = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway
      .balance(who)
      .pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: ({ held }) => held === "0" }),
        Effect.timeout("20 seconds")
      )
  )

/** A customer, and a vendor that waits for the test's word. */
const prepared: Effect.Effect<
  { readonly who: Customer; readonly vendor: HeldStream },
  never,
  Gateway | Scope.Scope
> = Effect.gen(function* () {
  const gateway = yield* Gateway
  const vendor = yield* heldStream
  const loaded = yield* gateway.admin("/catalog", {
    method: "PUT",
    json: textCatalog(vendor.url)(gateway.simulator.url)
  })
  assert.strictEqual(loaded.status, 200, loaded.text)
  return { who: yield* gateway.customer("1"), vendor }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(
    layerTestGateway(kind, settings, { catalogFor: textCatalog() }).pipe(Layer.provide(pausing)),
    { excludeTestServices: true, timeout: "60 seconds" }
  )(`streams (${kind})`, (it) => {
    it.effect("every event arrives as it comes, and the last one when the charge is written", () =>
      Effect.gen(function* () {
        reached.current = Deferred.makeUnsafe()
        goOn.current = Deferred.makeUnsafe()
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const client = yield* openStream(gateway.url, who.key)
        yield* vendor.write(chunkOf("first"))
        assert.strictEqual(yield* client.until("first"), chunkOf("first"))
        yield* vendor.write(": still there\n\n")
        yield* client.until("\n\n:\n\n")
        yield* vendor.write(chunkOf("second"))
        yield* vendor.write(counted(10, 20))
        yield* vendor.end
        yield* client.until("second")

        yield* Deferred.await(reached.current)
        assert.notStrictEqual((yield* gateway.balance(who)).held, "0")
        // Had it been sent, it would have come before these answers.
        yield* Effect.repeat(gateway.balance(who), { times: 20 })
        assert.notInclude(client.soFar(), "[DONE]")
        yield* Deferred.succeed(goOn.current, undefined)
        assert.strictEqual(
          yield* client.until("[DONE]"),
          `${chunkOf("first")}:\n\n${chunkOf("second")}data: [DONE]\n\n`
        )
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.99982", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a client that leaves changes nothing: the rest is read and charged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const client = yield* openStream(gateway.url, who.key)
        yield* vendor.write(chunkOf("first"))
        yield* client.until("first")
        yield* client.leave
        yield* vendor.write(chunkOf("second"))
        yield* vendor.write(counted(10, 20))
        yield* vendor.end
        assert.strictEqual((yield* settled(who)).balance, "0.99982")
        const timeline = yield* gateway.admin(
          `/tasks/${/"hold_id":"(tx_[^"]+)"/.exec((yield* gateway.admin(`/organizations/${who.organizationId}/ledger`)).text)?.[1]}`
        )
        assert.deepNestedInclude(timeline.body, {
          kind: "text",
          state: "succeeded",
          "quote.kind": "tokens",
          "quote.output_tokens": 100,
          "quote.input_unit_price": "0.000002",
          "upstream_calls[0].purpose": "text",
          "upstream_calls[0].status": 200,
          "upstream_calls[0].answer": null,
          "transitions[0].by": "text"
        })
        yield* gateway.verify
      })
    )

    it.effect("what a vendor counts while it writes is not taken for the whole", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const client = yield* openStream(gateway.url, who.key)
        yield* vendor.write(chunkCounting("twelve bytes", 50, 1))
        yield* vendor.end
        assert.include(yield* client.until("error"), '"code":"upstream_error"')
        assert.strictEqual((yield* settled(who)).balance, "0.999956")
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["beside its words", chunkCounting("twelve bytes", 50, 1) + finished + done],
      ["beside its words, and is lost", chunkCounting("twelve bytes", 50, 1) + finished],
      ["before its words", countOf(50, 1) + chunkOf("twelve bytes") + finished + done],
      ["as no output", chunkOf("twelve bytes") + finished + counted(50, 0)]
    ] as const)("a stream that a vendor counts %s is charged by its size", ([, written]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const client = yield* openStream(gateway.url, who.key)
        yield* vendor.write(written)
        yield* vendor.end
        yield* client.until("[DONE]")
        assert.strictEqual((yield* settled(who)).balance, "0.999956")
        yield* gateway.verify
      })
    )

    it.effect("a stream without an answer in it is charged for what was sent", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const client = yield* openStream(gateway.url, who.key)
        yield* vendor.write(done)
        yield* vendor.end
        assert.include(yield* client.until("upstream_error"), '"status":200')
        assert.deepInclude(yield* gateway.balance(who), { balance: "0.999948", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a client that takes nothing is cut, and the vendor is read to its end", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { who, vendor } = yield* prepared
        const { port } = new URL(gateway.url)
        const body = JSON.stringify(talk("hello", { model: "talk-held", stream: true }))
        const socket = connect(Number(port), "127.0.0.1")
        const closed = once(socket, "close")
        socket.on("error", () => undefined).pause()
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${who.key}\r\n` +
            `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        )
        const large = chunkOf("x".repeat(500_000))
        for (let count = 0; count < 40; count++) yield* vendor.write(large)
        yield* vendor.write(counted(10, 20))
        yield* vendor.end
        assert.strictEqual((yield* settled(who)).balance, "0.99982")
        // What was on its way is taken; then there is no more.
        socket.resume()
        yield* Effect.promise(() => closed)
        assert.isBelow(socket.bytesRead, 40 * large.length)
        yield* gateway.verify
      })
    )
  })
}

it.live(
  "a gateway that has to stop in mid-stream charges for what was written",
  () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const vendor = yield* heldStream
      const env = {
        ...(yield* processEnvironment("postgres")),
        GATEWAY_DRAIN_SECONDS: "0",
        GATEWAY_SHUTDOWN_SECONDS: "0.5"
      }
      const first = yield* startGateway(env)
      const catalog = textCatalog(vendor.url)(simulator.url)
      const { key, organizationPath } = yield* prepareCustomer(first, "1", catalog)
      const client = yield* openStream(first.url, key)
      yield* vendor.write(chunkOf("twelve bytes"))
      yield* client.until("twelve bytes")
      yield* first.process.kill("SIGTERM")
      yield* first.process.end
      // 6 tokens of "hello" in at 2 a million, and 4 out at 8.
      const second = yield* startGateway(env)
      assert.strictEqual(yield* settledBalance(second, organizationPath), "0.999956")
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)
