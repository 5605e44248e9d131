import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { VideoBody } from "../../src/domain/video/VideoBody.ts"
import { chargeVideo } from "../../src/domain/video/VideoCharge.ts"
import { Orders } from "../../src/orders/Orders.ts"
import { type Quoted, Quotes } from "../../src/orders/QuoteAnswers.ts"
import type { Caller } from "../../src/services/Access.ts"
import { Requests } from "../../src/simulator/Requests.ts"
import { seedOfDay } from "../support/day.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { Holds, layerInProcess } from "../support/inProcess.ts"
import { createVideo, finishVideo, orderImages } from "../support/orders.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { Amounts, quoteOf } from "../support/quotes.ts"
import { diceOf, randomImageBody, randomVideoBody } from "../support/randomOrders.ts"

layer(layerTestGateway("postgres", undefined, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the expected charge", (it) => {
  it.effect("is the final one where the vendor reports no tokens", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* Effect.forEach(
        ways,
        Effect.fnUntraced(function* ({ model, modality }) {
          const who = yield* gateway.customer("1000")
          const order = { model, prompt: "x sim:nousage", ...leastInput(model) }
          const quote = yield* bodyAs(Amounts, yield* quoteOf(who, order))
          if (modality === "video") yield* finishVideo(who, yield* createVideo(who, order))
          else assert.strictEqual((yield* orderImages(who, order)).status, 200)
          const { month } = yield* gateway.balance(who)
          assert.strictEqual(month.used, quote.expected_charge, model)
          assert.strictEqual(month.used, quote.hold, model)
        }),
        { concurrency: 4 }
      )
    })
  )
})

const ORDERS = 150
const SEED = Number(process.env.QUOTE_SEED ?? seedOfDay)

const caller: Caller = {
  organizationId: "org_1",
  memberId: "mem_1",
  keyId: "key_1",
  scopes: new Set(["videos", "images"]),
  models: null
}

interface Attempt {
  readonly quote: Effect.Effect<Quoted, unknown>
  readonly order: Effect.Effect<void, unknown>
}

const decodeVideo = Schema.decodeUnknownResult(VideoBody)
const decodeImage = Schema.decodeUnknownResult(ImageBody)

const attemptOf = Effect.fnUntraced(function* (
  modality: (typeof ways)[number]["modality"],
  json: unknown
): Effect.fn.Return<Result.Result<Attempt, unknown>, never, Quotes | Orders> {
  const quotes = yield* Quotes
  const orders = yield* Orders
  return modality === "video"
    ? Result.map(decodeVideo(json), (body) => ({
        quote: quotes.video(caller, body),
        order: Effect.asVoid(orders.video(caller, body))
      }))
    : Result.map(decodeImage(json), (body) => ({
        quote: quotes.images(caller, body),
        order: Effect.asVoid(orders.images(caller, body))
      }))
})

/** Whether the order is taken: then it must hold what was quoted, and else fail as its quote. */
const assertQuoted = Effect.fnUntraced(function* (attempt: Attempt, label: string) {
  const { amounts } = yield* Holds
  const requests = yield* Requests
  amounts.clear()
  yield* requests.clear
  const quoted = yield* Effect.result(attempt.quote)
  assert.deepStrictEqual([...amounts.values()], [], label)
  assert.deepStrictEqual(yield* requests.all, [], label)
  const ordered = yield* Effect.result(attempt.order)
  if (Result.isFailure(quoted)) {
    assert.isTrue(Result.isFailure(ordered), label)
    if (Result.isSuccess(ordered)) return false
    assert.deepStrictEqual<unknown>(ordered.failure, quoted.failure, label)
    assert.deepStrictEqual([...amounts.values()], [], label)
    return false
  }
  const { quote } = quoted.success
  assert.deepStrictEqual([...amounts.values()], [quote.holdNano], label)
  if (quote.kind === "token_video" || quote.kind === "second_video") {
    const unreported = { completionTokens: null, outputSeconds: null }
    assert.strictEqual(chargeVideo(quote, unreported).chargeNano, quote.holdNano, label)
  }
  return true
})

layer(layerInProcess, { excludeTestServices: true, timeout: "60 seconds" })(
  "a quote's hold",
  (it) => {
    it.effect.each(ways.map((way, index) => [way.model, way.modality, index] as const))(
      "is the one the order takes, and its refusal the order's: %s",
      ([model, modality, index]) =>
        Effect.gen(function* () {
          const dice = diceOf(SEED + index)
          let held = 0
          for (let order = 0; order < ORDERS; order++) {
            const text = (modality === "video" ? randomVideoBody : randomImageBody)(dice, model)
            const label = `QUOTE_SEED=${SEED}, order ${order} of ${model}: ${text}`
            const attempt = yield* attemptOf(modality, JSON.parse(text))
            if (Result.isSuccess(attempt) && (yield* assertQuoted(attempt.success, label))) held++
          }
          assert.isAtLeast(held, ORDERS / 20, `QUOTE_SEED=${SEED}`)
        })
    )
  }
)
