/** Spoken texts and rankings by both clients: with Effect, and on promises. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { Errors, layer as layerClient, MediaGateway } from "media-gateway/client"
import { makeClient } from "media-gateway/client/promise"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { toDecimal } from "../support/amounts.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

const input = "The harbour is calm."
const speech = { model: "voice-1", input, voice: "alloy" } as const
const ranking = {
  model: "rank-searches",
  query: "When is the harbour calm?",
  documents: ["Trains leave every hour.", { text: "A calm harbour.", page: 2 }],
  top_n: 1
}

/** The sound of an answer that is no task. */
const asSound = <A, E>(answer: Stream.Stream<A, E> | { readonly id: string }) => {
  assert(Stream.isStream(answer))
  return answer
}

const effectOf = (baseUrl: string, { key }: Customer) =>
  layerClient({ baseUrl, apiKey: key }).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** The bytes of a stream that failed, and its failure. */
const readToFailure = async (stream: ReadableStream<Uint8Array> | null) => {
  let read = 0
  try {
    for await (const chunk of stream ?? []) read += chunk.byteLength
  } catch (error) {
    return { read, error }
  }
  return { read, error: null }
}

const rejectionOf = (promise: Promise<unknown>) =>
  Effect.flip(Effect.tryPromise({ try: () => promise, catch: (error) => error }))

layer(layerTestGateway("embedded", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("speech and rankings of the clients", (it) => {
  it.effect("the typed client reads a sound as bytes, and a ranking", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      yield* Effect.gen(function* () {
        const media = yield* MediaGateway
        const [sound, { headers }] = yield* media.audio.speech({
          payload: { ...speech, response_format: "flac" },
          headers: {},
          responseMode: "decoded-and-response"
        })
        assert.strictEqual(headers["content-type"], "audio/flac")
        const size = yield* Stream.runFold(
          asSound(sound),
          () => 0,
          (sum, { byteLength }) => sum + byteLength
        )
        assert.isAbove(size, 100)
        assert.strictEqual((yield* gateway.balance(customer)).balance, "0.998")
        const { results } = yield* media.texts.rerank({ payload: ranking, headers: {} })
        assert.lengthOf(results, 1)
        assert.deepInclude(results[0], { index: 1 })
        assert.strictEqual((yield* gateway.balance(customer)).balance, "0.996")
        const closed = yield* Effect.flip(
          media.audio.speech({ payload: { ...speech, model: "voice-closed" }, headers: {} })
        )
        assert.instanceOf(closed, Errors.ModalityNotReady)
        const broken = yield* media.audio.speech({
          payload: { ...speech, input: `${"a".repeat(600)} sim:breaks=2` },
          headers: {}
        })
        const failure = yield* Effect.flip(Stream.runDrain(asSound(broken)))
        assert.strictEqual(failure._tag, "HttpClientError")
      }).pipe(Effect.provide(effectOf(gateway.url, customer)))
    })
  )

  it.effect.each(["speech", "rerank"] as const)(
    "an order of %s is repeated after a lost answer, and paid once",
    (kind) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customer = yield* gateway.customer("1")
        const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
        const order = Effect.flatMap(MediaGateway, (media) =>
          kind === "speech"
            ? Effect.flatMap(media.audio.speech({ payload: speech, headers: {} }), (answer) =>
                Stream.runDrain(asSound(answer))
              )
            : media.texts.rerank({ payload: ranking, headers: {} })
        )
        const cut = yield* Effect.forkChild(proxy.cutOnce("work", "harbour"))
        yield* Effect.provide(order, effectOf(`http://127.0.0.1:${proxy.port}`, customer))
        yield* Fiber.join(cut)
        assert.strictEqual((yield* gateway.balance(customer)).balance, "0.998")
      })
  )

  it.effect("the client on promises answers with a sound and its content type", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const client = makeClient({ baseUrl: gateway.url, apiKey: customer.key })
      const options = { idempotencyKey: `calm-${customer.memberId}` }
      yield* Effect.promise(async () => {
        const sound = await client.speech.create(speech, options)
        assert.strictEqual(sound.headers.get("content-type"), "audio/mpeg")
        const bytes = await sound.arrayBuffer()
        assert.isAbove(bytes.byteLength, 100)
        const again = await (await client.speech.create(speech, options)).blob()
        assert.strictEqual(again.type, "audio/mpeg")
        assert.deepStrictEqual(await again.arrayBuffer(), bytes)
        assert.strictEqual((await client.account.balance()).available, "0.998")
        const streamed = await client.speech.create({ ...speech, stream_format: "sse" })
        assert.strictEqual(streamed.headers.get("content-type"), "text/event-stream")
        assert.include(await streamed.text(), '"speech.audio.done"')
        assert.strictEqual((await client.account.balance()).available, "0.996")
      })
      yield* gateway.verify
    })
  )

  it.effect("the client on promises transcribes a sound", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const client = makeClient({ baseUrl: gateway.url, apiKey: customer.key })
      const file = `data:audio/wav;base64,${Buffer.from(makeSound("wav", 3000)).toString("base64")}`
      yield* Effect.promise(async () => {
        const { text } = await client.transcriptions.create({ model: "listen-1", file })
        assert.strictEqual(text, "The harbour is calm at dawn.")
        assert.strictEqual((await client.account.balance()).available, "0.9997")
      })
      const refused = yield* rejectionOf(
        client.transcriptions.create({ model: "listen-closed", file })
      )
      assert.instanceOf(refused, Errors.ModalityNotReady)
    })
  )

  it.effect("the client on promises ranks documents", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const client = makeClient({ baseUrl: gateway.url, apiKey: customer.key })
      const options = { idempotencyKey: `ranked-${customer.memberId}` }
      yield* Effect.promise(async () => {
        const { results } = await client.rerank.create(ranking, options)
        assert.deepInclude(results[0], { index: 1 })
        await client.rerank.create(ranking, options)
        assert.strictEqual((await client.account.balance()).available, "0.998")
      })
      const refused = yield* rejectionOf(client.rerank.create({ ...ranking, model: "voice-1" }))
      assert.instanceOf(refused, Errors.ModalityMismatch)
    })
  )

  it.effect("a sound that breaks off or is aborted fails its reader", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const client = makeClient({ baseUrl: gateway.url, apiKey: customer.key })
      const broken = `${"a".repeat(600)} sim:breaks=2`
      const slow = `${"a".repeat(600)} sim:takes=1`
      yield* Effect.promise(async () => {
        const { body } = await client.speech.create({ ...speech, input: broken })
        const { read, error } = await readToFailure(body)
        assert.isAbove(read, 0)
        assert.instanceOf(error, Error)
        const abort = new AbortController()
        const sound = await client.speech.create(
          { ...speech, input: slow },
          { signal: abort.signal }
        )
        setTimeout(() => abort.abort(), 50)
        assert.propertyVal((await readToFailure(sound.body)).error, "name", "AbortError")
      })
      yield* gateway
        .balance(customer)
        .pipe(Effect.delay("10 millis"), Effect.repeat({ until: ({ held }) => held === "0" }))
      const { balance } = yield* gateway.balance(customer)
      assert.strictEqual(
        balance,
        toDecimal(1_000_000_000n - BigInt(broken.length + slow.length) * 100_000n)
      )
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
