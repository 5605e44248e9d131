import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"

const Accepted = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^vt_[0-9a-f-]{36}$/)),
  task_status: Schema.Literal("processing")
})

const create = Effect.fnUntraced(function* (who: Customer, order: Record<string, unknown>) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call("/v1/videos/generations", { key: who.key, json: order })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Accepted, answer)
})

const finish = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
})

/** The reference price list, by what the simulator reports: (24 x seconds + 1) frames. */
const priceList = [
  ["480p", false, "2.2356", 864 * 496, "46"],
  ["720p", false, "4.968", 1280 * 720, "46"],
  ["1080p", false, "12.4848", 1920 * 1080, "51"],
  ["4K", false, "25.272", 3840 * 2160, "26"],
  ["480p", true, "2.44944", 864 * 496, "28"],
  ["720p", true, "5.4432", 1280 * 720, "28"],
  ["1080p", true, "13.65984", 1920 * 1080, "31"],
  ["4K", true, "27.9936", 3840 * 2160, "16"]
] as const

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `video tasks (${kind})`,
    (it) => {
      it.effect("5 seconds at 720p on vp_a hold 4.968 and settle at the reported usage", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const order = { model: "film-1", prompt: "a lighthouse sim:slow=100000" }
          yield* create(who, order)
          const held = yield* gateway.balance(who)
          assert.deepInclude(held, { balance: "100", held: "4.968", available: "95.032" })
          assert.deepEqual(held.month, { cap: null, used: "0", held: "4.968" })

          const quick = yield* create(who, { ...order, prompt: "a lighthouse" })
          const done = yield* finish(who, quick.id)
          const body = yield* bodyAs(
            Schema.Struct({
              id: Schema.Literal(quick.id),
              task_status: Schema.Literal("succeeded"),
              content: Schema.Struct({ video_url: Schema.String }),
              usage: Schema.Struct({ completion_tokens: Schema.Literal(108_900) })
            }),
            done
          )
          const video = yield* gateway
            .call("", {})
            .pipe(Effect.andThen(Effect.promise(() => fetch(body.content.video_url))))
          assert.strictEqual(video.headers.get("content-type"), "video/mp4")
          const settled = yield* gateway.balance(who)
          assert.deepInclude(settled, { balance: "94.9906", held: "4.968" })
          assert.deepEqual(settled.month, { cap: null, used: "5.0094", held: "4.968" })
        })
      )

      it.effect.each(priceList)(
        "%s, reference video %s: holds %s and charges the tokens of the vendor",
        ([resolution, withVideo, hold, pixels, price]) =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("100")
            const media = withVideo ? { video_url: "https://files.test/in.mp4" } : {}
            const order = { model: "film-1", prompt: "a lighthouse", resolution, ...media }
            const paused = yield* create(who, { ...order, prompt: "a lighthouse sim:slow=100000" })
            assert.strictEqual((yield* gateway.balance(who)).held, hold)
            assert.strictEqual((yield* finishNow(who, paused.id)).task_status, "processing")

            const { id } = yield* create(who, order)
            yield* finish(who, id)
            const seconds = 5 + (withVideo ? 4 : 0)
            const tokens = Math.floor((pixels * (24 * seconds + 1)) / 1024)
            const chargeNano = BigInt(tokens) * BigInt(price) * 1000n
            const spentNano = 100_000_000_000n - toNano((yield* gateway.balance(who)).balance)
            assert.strictEqual(spentNano, chargeNano)
            yield* gateway.verify
          })
      )

      it.effect("8 seconds at 1080p on vp_d cost 8 times the price of a second", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const { id } = yield* create(who, {
            model: "clip-1",
            prompt: "a lighthouse",
            duration: 8,
            resolution: "1080P"
          })
          assert.strictEqual((yield* gateway.balance(who)).held, "8")
          const done = yield* finish(who, id)
          assert.deepNestedInclude(done.body, { task_status: "succeeded", usage: {} })
          assert.deepInclude(yield* gateway.balance(who), { balance: "92", held: "0" })
        })
      )

      it.effect.each(["film-1", "clip-1"] as const)(
        "%s: a task that fails at the vendor returns the whole hold and says why",
        (model) =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("100")
            const { id } = yield* create(who, { model, prompt: "x sim:moderate-output" })
            const done = yield* finish(who, id)
            const failed = yield* bodyAs(
              Schema.Struct({
                id: Schema.Literal(id),
                task_status: Schema.Literal("failed"),
                error: Schema.Struct({ code: Schema.String, message: Schema.NonEmptyString })
              }),
              done
            )
            assert.isNotEmpty(failed.error.code)
            assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
            assert.deepEqual((yield* finish(who, id)).body, done.body)
          })
      )

      it.effect("no usage and unusable usage settle by the formula", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const words = ["sim:nousage", "sim:usage=0", "sim:usage=-5", "sim:usage=1.5"]
          for (const word of [...words, 'sim:usage="12.5"', "sim:usage=1e309", "sim:usage=null"]) {
            const who = yield* gateway.customer("10")
            const { id } = yield* create(who, { model: "film-1", prompt: `x ${word}` })
            const done = yield* finish(who, id)
            assert.deepNestedInclude(done.body, { task_status: "succeeded", usage: {} }, word)
            assert.strictEqual((yield* gateway.balance(who)).balance, "5.032", word)
          }
        })
      )

      it.effect(
        "a settlement above the hold is charged in full, and the next request gets 402",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("4.968")
            const { id } = yield* create(who, { model: "film-1", prompt: "a lighthouse" })
            yield* finish(who, id)
            assert.strictEqual((yield* gateway.balance(who)).available, "-0.0414")
            const next = yield* gateway.call("/v1/images/generations", {
              key: who.key,
              json: { model: "paint-1", prompt: "x" }
            })
            assert.strictEqual(next.status, 402)
            yield* gateway.verify
          })
      )

      it.effect("a task nobody asks for settles all the same", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          yield* create(who, { model: "film-1", prompt: "a lighthouse" })
          yield* gateway
            .balance(who)
            .pipe(
              Effect.delay("20 millis"),
              Effect.repeat({ until: ({ held }) => held === "0" }),
              Effect.timeout("30 seconds")
            )
          assert.strictEqual((yield* gateway.balance(who)).balance, "4.9906")
        })
      )

      it.effect("another organisation's task is not found, byte for byte like an unknown one", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const owner = yield* gateway.customer("10")
          const stranger = yield* gateway.customer("10")
          const { id } = yield* create(owner, { model: "film-1", prompt: "a lighthouse" })
          const foreign = yield* gateway.call(`/v1/videos/${id}`, { key: stranger.key })
          const unknown = yield* gateway.call("/v1/videos/vt_none", { key: stranger.key })
          assert.strictEqual(foreign.status, 404)
          assert.strictEqual(foreign.text.replace(id, "vt_none"), unknown.text)
          yield* finish(owner, id)
        })
      )

      it.effect("many readers of one task make the vendor answer each question once", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const { id } = yield* create(who, { model: "film-1", prompt: "a lighthouse" })
          const read = gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
          const answers = yield* Effect.all(
            Array.from({ length: 20 }, () => read),
            {
              concurrency: "unbounded"
            }
          )
          assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200])
          assert.strictEqual((yield* gateway.balance(who)).balance, "4.9906")
          const usage = yield* gateway.call("/v1/usage", { key: who.key })
          assert.strictEqual(usage.text.match(/"charge":"5.0094"/g)?.length, 1)
        })
      )

      it.effect("an answer that is still processing tells when to ask again", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const order = { model: "film-1", prompt: "x sim:slow=100000" }
          const created = yield* gateway.call("/v1/videos/generations", {
            key: who.key,
            json: order
          })
          const { id } = yield* bodyAs(Accepted, created)
          const read = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
          for (const answer of [created, read]) {
            assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
            assert.strictEqual(answer.headers.get("cache-control"), "no-store")
            assert.match(answer.headers.get("x-request-id") ?? "", /^req_/)
          }
        })
      )
    }
  )
}

const finishNow = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
  return yield* bodyAs(Schema.Struct({ task_status: Schema.String }), answer)
})

const toNano = (decimal: string): bigint => {
  const [whole = "0", fraction = ""] = decimal.split(".")
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"))
}
