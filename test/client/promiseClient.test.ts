import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Errors, makeClient } from "media-gateway/client/promise"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { textCatalog } from "../support/textCatalog.ts"

const asCustomer = Effect.fnUntraced(function* (amount: string) {
  const gateway = yield* Gateway
  const { key } = yield* gateway.customer(amount)
  return makeClient({ baseUrl: gateway.url, apiKey: key, adminToken: ADMIN_TOKEN })
})

const rejectionOf = (promise: Promise<unknown>) =>
  Effect.flip(Effect.tryPromise({ try: () => promise, catch: (error) => error }))

layer(layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the client on promises", (it) => {
  it.effect("orders videos and images, waits for their ends and reads what they cost", () =>
    Effect.gen(function* () {
      const client = yield* asCustomer("100")
      yield* Effect.promise(async () => {
        const order = { model: "film-1", prompt: "a lighthouse", duration: 5, resolution: "720p" }
        const quote = await client.quote(order)
        assert.deepInclude(quote, { hold: "4.968" })
        const { id } = await client.videos.create(order)
        const video = await client.videos.wait(id)
        assert.strictEqual(video.task_status, "succeeded")
        const images = await client.images.generate({ model: "paint-1", prompt: "x" })
        assert.lengthOf(images.data, 1)
        const task = await client.images.create({ model: "paint-1", prompt: "x" })
        assert.strictEqual((await client.images.wait(task.id)).task_status, "succeeded")
        const usage = await client.account.usage()
        assert.deepStrictEqual(
          usage.data.map(({ charge }) => charge),
          ["0.2", "0.2", "5.0094"]
        )
        assert.strictEqual((await client.account.balance()).available, "94.5906")
        const orders = await client.orders.list({ model: "paint-1" })
        assert.lengthOf(orders.data, 2)
      })
    })
  )

  it.effect("rejects with the error of the code, with its fields", () =>
    Effect.gen(function* () {
      const client = yield* asCustomer("0.1")
      const broke = yield* rejectionOf(client.images.generate({ model: "paint-1", prompt: "x" }))
      assert.instanceOf(broke, Errors.InsufficientBalance)
      assert.deepInclude(broke, { required: "0.2", available: "0.1" })
      const gone = yield* rejectionOf(
        makeClient({ baseUrl: "http://127.0.0.1:1", apiKey: "none", retries: 0 }).models.list()
      )
      assert.instanceOf(gone, Error)
    })
  )

  it.effect("places one order under one idempotency key, and one for each call without", () =>
    Effect.gen(function* () {
      const client = yield* asCustomer("1")
      const order = { model: "paint-1", prompt: "x" }
      const balance = yield* Effect.promise(async () => {
        await client.images.generate(order)
        await client.images.generate(order)
        await client.images.generate(order, { idempotencyKey: "mine" })
        await client.images.generate(order, { idempotencyKey: "mine" })
        return await client.account.balance()
      })
      assert.strictEqual(balance.available, "0.4")
    })
  )

  it.effect("answers a text as a whole or as a stream", () =>
    Effect.gen(function* () {
      const client = yield* asCustomer("1")
      const order = { model: "talk-1", messages: [{ role: "user", content: "hello" }] } as const
      yield* Effect.promise(async () => {
        assert.lengthOf((await client.chat.complete(order)).choices, 1)
        const events: Array<string> = []
        for await (const { data } of await client.chat.stream(order)) events.push(data)
        assert.isAbove(events.length, 2)
        assert.strictEqual(events.at(-1), "[DONE]")
      })
    })
  )

  it.effect("ends a wait when its signal aborts, and calls any route of the contract", () =>
    Effect.gen(function* () {
      const client = yield* asCustomer("100")
      const { id } = yield* Effect.promise(() =>
        client.videos.create({ model: "film-1", prompt: "x sim:slow=100000" })
      )
      const abort = new AbortController()
      const ended = rejectionOf(client.videos.wait(id, { signal: abort.signal }))
      abort.abort()
      assert.isDefined(yield* ended)
      const verified = yield* Effect.promise(() =>
        client.call((gateway) => gateway.admin.verifyLedger())
      )
      assert.deepStrictEqual(verified, { ok: true, violations: [] })
    })
  )
})
