import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { Failpoints } from "../../src/runtime/Failpoints.ts"
import { databasesInTurn } from "../support/databases.ts"
import { seedOfDay } from "../support/day.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { awaitJob } from "../support/operator.ts"
import { colleagueOf, createVideo, errorOf, finishVideo } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"
import { diceOf } from "../support/randomOrders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { webhookSettings } from "../support/webhooks.ts"

const Answer = Schema.Struct({
  id: Schema.String,
  task_status: Schema.String,
  status: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
  ),
  cancellation: Schema.optionalKey(Schema.Struct({ status: Schema.String, message: Schema.String }))
})

type Kind = "videos" | "images"

const requestCancel = (who: Pick<Customer, "key">, id: string, path: Kind = "videos") =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/${path}/${id}/cancel`, { method: "POST", key: who.key })
  )

const cancel = Effect.fnUntraced(function* (
  who: Pick<Customer, "key">,
  id: string,
  path: Kind = "videos"
) {
  const answer = yield* requestCancel(who, id, path)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Answer, answer)
})

const createImages = Effect.fnUntraced(function* (
  who: Customer,
  json: Readonly<Record<string, unknown>>
) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/images/generations", {
    key: who.key,
    headers: { prefer: "respond-async" },
    json: { prompt: "a lighthouse", ...json }
  })
  assert.strictEqual(answer.status, 202, answer.text)
  return (yield* bodyAs(Schema.Struct({ id: Schema.String }), answer)).id
})

/** The task of images at its end, for which it waits. */
const finishImages = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/images/${id}?wait=60`, { key: who.key })
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

const documentImages = [
  ["paint-fal", "fal", "fal-ai/flux/dev"],
  ["paint-away", "fal", "fal-ai/flux/dev"],
  ["paint-replicate", "replicate", "black-forest-labs/flux-schnell"]
] as const

const reassigned = Deferred.makeUnsafe<void>()
const goOn = Deferred.makeUnsafe<void>()

/** Stops an order of images that goes to its second channel until the test lets it go on. */
const pausing = Layer.succeed(Failpoints, {
  pass: (failpoint) =>
    failpoint === "image.reassigned"
      ? Effect.andThen(Deferred.succeed(reassigned, undefined), Deferred.await(goOn))
      : Effect.void
})

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
      })),
      { id: "ch-away", name: "away", base_url: "http://127.0.0.1:9/fal", api_key: "vendor-key-1" }
    ],
    models: [
      ...catalog.models,
      ...documentModels.map(([id, protocol]) => ({
        id,
        modality: "video" as const,
        protocol,
        prices
      })),
      ...documentImages.map(([id, protocol]) => ({
        id,
        modality: "image" as const,
        protocol,
        prices: { kind: "image", per_image: "0.17" } as const
      }))
    ],
    mounts: [
      ...catalog.mounts,
      ...[...documentModels, ...documentImages].map(([model, protocol, upstream_model]) => ({
        model,
        channel: `ch-${protocol}`,
        upstream_model,
        priority: 1
      })),
      { model: "paint-away", channel: "ch-away", upstream_model: "fal-ai/flux/dev" }
    ]
  }
}

/** A task that stays in its vendor's queue, and one that its vendor has begun and never ends. */
const queuedFilm = { prompt: "a lighthouse sim:waits" }
const begun = { prompt: "a lighthouse sim:unknown-status" }

const said = "The vendor cancelled the task"

const beforeCall = "The task was cancelled before its vendor was called"

/** What is ordered and cancelled at random moments. */
interface Product {
  readonly path: Kind
  readonly models: readonly [string, ...ReadonlyArray<string>]
  /** The most polls after which the vendor is ready. */
  readonly maxPolls: number
  readonly create: typeof createImages
  readonly finish: typeof finishImages | typeof finishVideo
}

const videos: Product = {
  path: "videos",
  models: ["film-a", "text-2.7", "clip-d", "queue-fal", "queue-replicate"],
  maxPolls: 12,
  create: createVideo,
  finish: finishVideo
}

const images: Product = {
  path: "images",
  models: ["paint-b", "paint-fal", "paint-replicate"],
  // Images are polled every two seconds.
  maxPolls: 2,
  create: createImages,
  finish: finishImages
}

/** The number of orders that are cancelled at random moments. */
const CANCELS = Number(process.env.CANCELS ?? 60)

/** Some images are never made, and nothing waits for them at the end. */
const settings = { ...webhookSettings, shutdownSeconds: 1 }

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, settings, { catalogFor }).pipe(Layer.provide(pausing)), {
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

    it.effect.each(["paint-fal", "paint-replicate", "paint-b"])(
      "%s: images in the vendor's queue end, and their hold is released",
      (model) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const receiver = yield* makeReceiver()
          const id = yield* createImages(who, {
            model,
            prompt: "a lighthouse sim:waits sim:async",
            callback_url: receiver.url
          })
          yield* awaitJob(gateway, id)
          const answer = yield* cancel(who, id, "images")
          assert.deepInclude(answer, { id, task_status: "failed" })
          assert.strictEqual(answer.error?.code, "cancelled")
          assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
          assert.include(yield* purposesOf(id), "cancel")

          assert.deepEqual(yield* cancel(who, id, "images"), answer)
          assert.lengthOf(
            (yield* purposesOf(id)).filter((purpose) => purpose === "cancel"),
            1
          )
          const [message] = yield* receiver.awaited(1)
          assert.strictEqual(message?.body.type, "image.failed")
          assert.deepInclude(message?.body.data, {
            id,
            error: { code: "cancelled", message: said }
          })
          yield* gateway.verify
        })
    )

    it.effect.each<readonly [model: string, status: string, message: string]>([
      [
        "paint-b",
        "refused",
        "The vendor does not cancel the task: Failed to cancel the task, please confirm if the task is in PENDING status."
      ],
      [
        "paint-fal",
        "requested",
        "The vendor took the request to cancel; the task's end shows whether it did"
      ]
    ])("%s: images that the vendor does not cancel go on with their hold", (row) =>
      Effect.gen(function* () {
        const [model, status, message] = row
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const prompt = "a lighthouse sim:async sim:unknown-status"
        const id = yield* createImages(who, { model, prompt })
        yield* awaitJob(gateway, id)
        const cancellation = { status, message }
        const answer = yield* cancel(who, id, "images")
        assert.deepEqual(answer, { id, task_status: "processing", cancellation })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0.17" })
      })
    )

    it.effect("images whose vendor is not called yet are cancelled for nothing", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const before = (yield* gateway.simulator.book).length
        const id = yield* createImages(who, { model: "paint-away" })
        yield* Deferred.await(reassigned)
        const answer = yield* cancel(who, id, "images")
        const error = { code: "cancelled", message: beforeCall }
        assert.deepEqual(answer, { id, task_status: "failed", error })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        yield* Deferred.succeed(goOn, undefined)
        yield* gateway.verify
        assert.lengthOf(yield* gateway.simulator.book, before)
      })
    )

    it.effect("only the member who ordered images and operators cancel them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const stranger = yield* gateway.customer("100")
        const id = yield* createImages(who, { model: "paint-fal", prompt: "sim:waits" })
        assert.strictEqual((yield* requestCancel(stranger, id, "images")).status, 404)
        const denial = yield* requestCancel(yield* colleagueOf(who), id, "images")
        assert.strictEqual(denial.status, 403, denial.text)
        assert.strictEqual((yield* requestCancel(who, id)).status, 404)
        const answer = yield* gateway.admin(`/tasks/${id}/cancel`, { method: "POST" })
        assert.deepEqual(answer.body, { id, task_status: "failed" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      })
    )

    it.effect("cancels at random moments release exactly what the vendor cancelled", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10000")
        const dice = diceOf(Number(process.env.CANCEL_SEED ?? seedOfDay))
        const before = (yield* gateway.simulator.book).length

        const orderAndCancel = Effect.fnUntraced(function* () {
          const { create, finish, maxPolls, models, path } = dice.pick<Product>([videos, images])
          const prompt = `a lighthouse sim:async sim:slow=${dice.roll(maxPolls)}`
          const id = yield* create(who, { model: dice.pick(models), prompt })
          yield* Effect.sleep(`${dice.roll(120)} millis`)
          const cancels = 1 + dice.roll(3)
          yield* Effect.all(
            Array.from({ length: cancels }, () => cancel(who, id, path)),
            { concurrency: "unbounded" }
          )
          return yield* finish(who, id)
        })
        const ended = yield* Effect.all(
          Array.from({ length: CANCELS }, () => orderAndCancel()),
          { concurrency: 8 }
        )

        const book = (yield* gateway.simulator.book).slice(before)
        const countOf = (event: string) => book.filter((entry) => entry.event === event).length
        const endedAs = (status: string) =>
          ended.filter(({ task_status }) => task_status === status).length
        const uncalled = ended.filter(({ error }) => error?.message === beforeCall).length
        assert.strictEqual(countOf("accepted"), CANCELS - uncalled)
        assert.strictEqual(endedAs("failed") - uncalled, countOf("cancelled"))
        assert.strictEqual(endedAs("succeeded"), countOf("succeeded"))
        for (const { error } of ended) {
          if (error != null) assert.strictEqual(error.code, "cancelled")
        }
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )
  })
}
