import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { colleagueOf, createVideo, errorOf, finishVideo } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"
import { diceOf } from "../support/randomOrders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { webhookSettings } from "../support/webhooks.ts"

const Answer = Schema.Struct({
  id: Schema.String,
  task_status: Schema.String,
  status: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Schema.String }))),
  cancellation: Schema.optionalKey(Schema.Struct({ status: Schema.String, message: Schema.String }))
})

const requestCancel = (who: Pick<Customer, "key">, id: string, path = "videos") =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/${path}/${id}/cancel`, { method: "POST", key: who.key })
  )

const cancel = Effect.fnUntraced(function* (who: Pick<Customer, "key">, id: string) {
  const answer = yield* requestCancel(who, id)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Answer, answer)
})

const Timeline = Schema.Struct({
  upstream_calls: Schema.Array(Schema.Struct({ purpose: Schema.String }))
})

const purposesOf = Effect.fnUntraced(function* (id: string) {
  const gateway = yield* Gateway
  const { upstream_calls } = yield* bodyAs(Timeline, yield* gateway.admin(`/tasks/${id}`))
  return upstream_calls.map(({ purpose }) => purpose)
})

/** Vendors of documents, beside those of the coded protocols. */
const documentModels = [
  ["queue-fal", "fal", "fal-ai/bytedance/seedance/v1/pro/text-to-video"],
  ["queue-replicate", "replicate", "bytedance/seedance-1-pro"]
] as const

const catalogFor = (simulatorUrl: string): ReturnType<typeof protocolCatalog> => {
  const catalog = protocolCatalog(simulatorUrl)
  const prices = { kind: "second_video", per_second: { "720p": "0.6" } } as const
  return {
    channels: [
      ...catalog.channels,
      ...documentModels.map(([, protocol]) => ({
        id: `ch-${protocol}`,
        name: protocol,
        base_url: `${simulatorUrl}/${protocol}`,
        api_key: "vendor-key-1"
      }))
    ],
    models: [
      ...catalog.models,
      ...documentModels.map(([id, protocol]) => ({
        id,
        modality: "video" as const,
        protocol,
        prices
      }))
    ],
    mounts: [
      ...catalog.mounts,
      ...documentModels.map(([model, protocol, upstream_model]) => ({
        model,
        channel: `ch-${protocol}`,
        upstream_model
      }))
    ]
  }
}

/** A task that stays in its vendor's queue, and one that its vendor has begun and never ends. */
const queuedFilm = { prompt: "a lighthouse sim:waits" }
const begun = { prompt: "a lighthouse sim:unknown-status" }

const said = "The vendor cancelled the task"

/** The number of orders that are cancelled at random moments. */
const CANCELS = Number(process.env.CANCELS ?? 60)

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, webhookSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "240 seconds"
  })(`tasks that are cancelled (${kind})`, (it) => {
    it.effect.each(["film-a", "text-2.7", "queue-fal", "queue-replicate"])(
      "%s: a task in the vendor's queue ends, and its hold is released",
      (model) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const receiver = yield* makeReceiver()
          const id = yield* createVideo(who, { model, ...queuedFilm, callback_url: receiver.url })
          const answer = yield* cancel(who, id)
          assert.deepInclude(answer, { id, task_status: "failed" })
          assert.strictEqual(answer.error?.code, "cancelled")
          assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
          assert.include(yield* purposesOf(id), "cancel")

          const calls = (yield* purposesOf(id)).length
          assert.deepEqual(yield* cancel(who, id), answer)
          assert.lengthOf(yield* purposesOf(id), calls)
          const [message] = yield* receiver.awaited(1)
          assert.strictEqual(message?.body.type, "video.failed")
          assert.deepInclude(message?.body.data, {
            id,
            error: { code: "cancelled", message: said }
          })
          yield* gateway.verify
        })
    )

    it.effect.each<readonly [model: string, message: string]>([
      ["film-a", "The vendor cancels only tasks that it has not begun, so the task goes on"],
      [
        "text-2.7",
        "The vendor does not cancel the task: Failed to cancel the task, please confirm if the task is in PENDING status."
      ],
      ["clip-d", "The vendor's interface cannot cancel a task, so the task goes on"]
    ])("%s: a task that the vendor does not cancel goes on with its hold", ([model, message]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model, ...begun })
        const { held } = yield* gateway.balance(who)
        const cancellation = { status: "refused", message }
        assert.deepEqual(yield* cancel(who, id), { id, task_status: "processing", cancellation })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held })

        const refusal = yield* gateway.call(`/v1/videos/${id}`, { method: "DELETE", key: who.key })
        assert.strictEqual(refusal.status, 409)
        assert.include((yield* errorOf(refusal)).message, `POST /v1/videos/${id}/cancel`)
      })
    )

    it.effect("a task that has ended is answered as it ended, and no vendor is asked", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-a" })
        yield* finishVideo(who, id)
        const { balance } = yield* gateway.balance(who)
        assert.deepInclude(yield* cancel(who, id), { id, task_status: "succeeded" })
        assert.notInclude(yield* purposesOf(id), "cancel")
        assert.deepInclude(yield* gateway.balance(who), { balance, held: "0" })
      })
    )

    it.effect("only the member who ordered a task and operators cancel it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const stranger = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-a", ...queuedFilm })
        assert.strictEqual((yield* requestCancel(stranger, id)).status, 404)
        const denial = yield* requestCancel(yield* colleagueOf(who), id)
        assert.strictEqual(denial.status, 403, denial.text)
        assert.strictEqual((yield* errorOf(denial)).code, "permission_denied")
        assert.strictEqual((yield* requestCancel(who, "vt_none")).status, 404)
        assert.strictEqual((yield* requestCancel(who, id, "images")).status, 404)
        assert.deepInclude(yield* gateway.balance(who), { balance: "100" })

        const answer = yield* gateway.admin(`/tasks/${id}/cancel`, { method: "POST" })
        assert.deepEqual(answer.body, { id, task_status: "failed" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      })
    )

    it.effect("OpenAI's dialect shows a cancelled video as failed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const creation = yield* gateway.call("/v1/videos", {
          key: who.key,
          json: { model: "film-a", ...queuedFilm }
        })
        const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), creation)
        const answer = yield* cancel(who, id)
        assert.deepInclude(answer, { id, status: "failed", task_status: "failed" })
        assert.strictEqual(answer.error?.code, "cancelled")
      })
    )

    it.effect("an image task is made in one call, which goes on", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const creation = yield* gateway.call("/v1/images/generations", {
          key: who.key,
          headers: { prefer: "respond-async" },
          json: { model: "paint-b", prompt: "a lighthouse sim:async sim:takes=1" }
        })
        const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), creation)
        const answer = yield* requestCancel(who, id, "images")
        assert.strictEqual(answer.status, 200, answer.text)
        const { cancellation } = yield* bodyAs(Answer, answer)
        assert.strictEqual(cancellation?.status, "refused")
        const done = yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
        assert.deepInclude(done.body, { task_status: "succeeded" })
      })
    )

    it.effect("cancels at random moments release exactly what the vendor cancelled", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10000")
        const dice = diceOf(Number(process.env.CANCEL_SEED ?? Date.now()))
        const before = (yield* gateway.simulator.book).length

        const orderAndCancel = Effect.fnUntraced(function* () {
          const model = dice.pick(["film-a", "text-2.7", "clip-d", "queue-fal", "queue-replicate"])
          const prompt = `a lighthouse sim:slow=${dice.roll(12)}`
          const id = yield* createVideo(who, { model, prompt })
          yield* Effect.sleep(`${dice.roll(120)} millis`)
          const cancels = 1 + dice.roll(3)
          yield* Effect.all(
            Array.from({ length: cancels }, () => cancel(who, id)),
            { concurrency: "unbounded" }
          )
          return yield* finishVideo(who, id)
        })
        const ended = yield* Effect.all(
          Array.from({ length: CANCELS }, () => orderAndCancel()),
          { concurrency: 8 }
        )

        const book = (yield* gateway.simulator.book).slice(before)
        const countOf = (event: string) => book.filter((entry) => entry.event === event).length
        const endedAs = (status: string) =>
          ended.filter(({ task_status }) => task_status === status).length
        assert.strictEqual(countOf("accepted"), CANCELS)
        assert.strictEqual(endedAs("failed"), countOf("cancelled"))
        assert.strictEqual(endedAs("succeeded"), countOf("succeeded"))
        for (const { error } of ended) {
          if (error !== undefined) assert.strictEqual(error.code, "cancelled")
        }
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )
  })
}
