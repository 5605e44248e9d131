import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { Errors, layer as layerClient, MediaGateway, waitForVideo } from "media-gateway/client"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"
import { textCatalog } from "../support/textCatalog.ts"

const asCustomer = Effect.fnUntraced(function* (amount: string) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer(amount)
  return {
    customer,
    client: layerClient({ baseUrl: gateway.url, apiKey: Redacted.make(customer.key) }).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )
  }
})

layer(layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the typed client", (it) => {
  it.effect("orders a video, waits for its end and reads what it cost", () =>
    Effect.gen(function* () {
      const { client } = yield* asCustomer("100")
      yield* Effect.gen(function* () {
        const media = yield* MediaGateway
        const { id } = yield* media.videos.create({
          payload: { model: "film-1", prompt: "a lighthouse", duration: 5, resolution: "720p" },
          headers: {}
        })
        const task = yield* waitForVideo(id)
        assert.strictEqual(task.task_status, "succeeded")
        const usage = yield* media.account.usage({ query: { limit: 10 } })
        assert.deepEqual(
          usage.data.map(({ task_id, charge }) => ({ task_id, charge })),
          [{ task_id: id, charge: "5.0094" }]
        )
        assert.strictEqual((yield* media.account.balance()).available, "94.9906")
      }).pipe(Effect.provide(client))
    })
  )

  it.effect("has each refusal as an error of its code, with what it carries", () =>
    Effect.gen(function* () {
      const { client } = yield* asCustomer("0.1")
      yield* Effect.gen(function* () {
        const media = yield* MediaGateway
        const broke = yield* Effect.flip(
          media.images.generate({ payload: { model: "paint-1", prompt: "x" }, headers: {} })
        )
        assert.instanceOf(broke, Errors.InsufficientBalance)
        assert.deepInclude(broke, { required: "0.2", available: "0.1" })
        const sku = yield* media.videos
          .create({ payload: { model: "film-1", prompt: "x", duration: 99 }, headers: {} })
          .pipe(Effect.catchTag("video_sku_invalid", (error) => Effect.succeed(error.nearest)))
        assert.deepEqual(sku, 15)
        const { parameters } = yield* media.models.read({ params: { id: "film-1" } })
        assert.strictEqual(parameters?.seed?.type, "integer")
        const seed = yield* media.videos
          .create({ payload: { model: "film-1", prompt: "x", seed: -2 }, headers: {} })
          .pipe(Effect.catchTag("invalid_request", ({ param }) => Effect.succeed(param)))
        assert.strictEqual(seed, "seed")
        const absent = yield* Effect.flip(media.models.read({ params: { id: "maker/film" } }))
        assert.instanceOf(absent, Errors.ModelNotFound)
        const foreign = yield* Effect.flip(
          media.videos.read({ params: { task_id: "vt_unknown" }, query: { wait: 0 } })
        )
        assert.strictEqual(foreign._tag, "task_not_found")
      }).pipe(Effect.provide(client))
    })
  )

  it.effect("has a vendor's refusal with the status it was answered by", () =>
    Effect.gen(function* () {
      const { client } = yield* asCustomer("1")
      const refused = yield* MediaGateway.pipe(
        Effect.flatMap((media) =>
          media.images.generate({
            payload: { model: "paint-1", prompt: "x sim:refuse=422" },
            headers: {}
          })
        ),
        Effect.flip,
        Effect.provide(client)
      )
      assert.instanceOf(refused, Errors.UpstreamError)
      assert.deepInclude(refused, { status: 422, retryable: false, unpaid: true })
      assert.strictEqual(refused.upstream.status, 422)
    })
  )

  it.effect("repeats an order whose answer was lost, and it is paid once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
      const client = layerClient({
        baseUrl: `http://127.0.0.1:${proxy.port}`,
        apiKey: customer.key
      }).pipe(Layer.provide(NodeHttpClient.layerUndici))
      const cut = yield* Effect.forkChild(proxy.cutOnce("answer", "a lost lighthouse"))
      const made = yield* MediaGateway.pipe(
        Effect.flatMap((media) =>
          media.images.generate({
            payload: { model: "paint-1", prompt: "a lost lighthouse" },
            headers: {}
          })
        ),
        Effect.provide(client)
      )
      yield* Fiber.join(cut)
      assert.isTrue("data" in made && made.data.length === 1)
      assert.strictEqual((yield* gateway.balance(customer)).balance, "0.8")
    })
  )

  it.effect("gives orders a key of their own, under which a repeat is not paid again", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { customer, client } = yield* asCustomer("1")
      yield* Effect.gen(function* () {
        const media = yield* MediaGateway
        const order = { payload: { model: "paint-1", prompt: "x" }, headers: {} }
        yield* media.images.generate(order)
        yield* media.images.generate(order)
        const mine = { ...order, headers: { "idempotency-key": "mine" } }
        yield* media.images.generate(mine)
        yield* media.images.generate(mine)
      }).pipe(Effect.provide(client))
      assert.strictEqual((yield* gateway.balance(customer)).balance, "0.4")
    })
  )

  it.effect("asks for a text whole or as it is written", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("1")
      const client = layerClient({ baseUrl: gateway.url, apiKey: customer.key }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
      const order = { model: "talk-1", messages: [{ role: "user", content: "hello" }] as const }
      yield* Effect.gen(function* () {
        const media = yield* MediaGateway
        const whole = yield* media.texts.chat({ payload: order, headers: {} })
        assert.isTrue("choices" in whole)
        const streamed = yield* media.texts.chat({
          payload: { ...order, stream: true },
          headers: {}
        })
        if (!Stream.isStream(streamed)) return assert.fail("no stream came")
        const events = yield* Stream.runCollect(streamed)
        assert.isAbove(events.length, 2)
        assert.strictEqual(events.at(-1)?.data, "[DONE]")
      }).pipe(Effect.provide(client))
    })
  )

  it.effect("speaks to the admin interface with the operator's token", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const operator = (adminToken?: string) =>
        layerClient({
          baseUrl: gateway.url,
          apiKey: "none",
          ...(adminToken === undefined ? {} : { adminToken })
        }).pipe(Layer.provide(NodeHttpClient.layerUndici))
      const verified = yield* MediaGateway.pipe(
        Effect.flatMap((media) => media.admin.verifyLedger()),
        Effect.provide(operator(ADMIN_TOKEN))
      )
      assert.deepEqual(verified, { ok: true, violations: [] })
      const refused = yield* MediaGateway.pipe(
        Effect.flatMap((media) => media.admin.verifyLedger()),
        Effect.flip,
        Effect.provide(operator())
      )
      assert.strictEqual(refused._tag, "invalid_api_key")
    })
  )
})
