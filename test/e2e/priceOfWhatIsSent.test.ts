import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { VideoBody } from "../../src/domain/video/VideoBody.ts"
import { Orders } from "../../src/orders/Orders.ts"
import type { Caller } from "../../src/services/Access.ts"
import { Book } from "../../src/simulator/Book.ts"
import { Requests } from "../../src/simulator/Requests.ts"
import { toDecimal } from "../support/amounts.ts"
import { seedOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { Holds, layerInProcess } from "../support/inProcess.ts"
import { createVideo, orderVideo } from "../support/orders.ts"
import { protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { secondTariff, type Tier, tokenTariff } from "../support/protocolTable/tariffs.ts"
import { diceOf, randomImageBody, randomVideoBody } from "../support/randomOrders.ts"
import { type Reading, readImageCount, readWire } from "../support/wireReading.ts"

/** Orders over all models together; more of them find more. */
const ORDERS = Number(process.env.PRICE_ORDERS ?? 2500)
/** Every run orders something else unless it is told to repeat one. */
const SEED = Number(process.env.PRICE_SEED ?? seedOfDay)

const caller: Caller = {
  organizationId: "org_1",
  memberId: "mem_1",
  keyId: "key_1",
  scopes: new Set(["videos", "images"]),
  models: null
}

const decodeVideo = Schema.decodeUnknownResult(VideoBody)
const decodeImage = Schema.decodeUnknownResult(ImageBody)

const tiers: ReadonlyArray<unknown> = ["480p", "540p", "720p", "1080p", "4k"] satisfies Tier[]
const isTier = (value: unknown): value is Tier => tiers.includes(value)

/** The price of what the vendor was asked for, by the price lists written out for these tests. */
const priceOf = (listed: string, { seconds, tier, videos }: Reading): string => {
  if (typeof seconds !== "number" || !isTier(tier)) return "no length or resolution was sent"
  const tokens = listed === "vp_a" || listed === "vp_b"
  const prepaid = tokens && seconds === -1 ? 15 : seconds
  const order = { seconds: prepaid, tier, withVideo: videos > 0 }
  return toDecimal((tokens ? tokenTariff : secondTariff).holdNano(order))
}

/** What came of one order: its hold, if any, and the one request to the vendor, if any. */
const outcomeOf = Effect.fnUntraced(function* <A, E, R>(order: Effect.Effect<A, E, R>) {
  const holds = yield* Holds
  const requests = yield* Requests
  const book = yield* Book
  holds.amounts.clear()
  holds.released.clear()
  yield* requests.clear
  const before = (yield* book.entries).length
  const result = yield* Effect.result(order)
  const [booked] = (yield* book.entries).slice(before)
  return {
    accepted: Result.isSuccess(result),
    holds: [...holds.amounts.values()],
    released: holds.released.size,
    requests: yield* requests.all,
    booked: booked?.event === "accepted" ? booked.order : null
  }
})

type Outcome = Effect.Success<ReturnType<typeof outcomeOf>>

/** Whether the order was sent to the vendor: then its hold must be the price of what was sent. */
const assertVideoPrice = (outcome: Outcome, listed: string, label: string): boolean => {
  assert.isAtMost(outcome.requests.length, 1, label)
  assert.strictEqual(outcome.released, outcome.accepted ? 0 : outcome.holds.length, label)
  const [request] = outcome.requests
  assert.strictEqual(outcome.accepted, outcome.booked !== null, label)
  if (request === undefined) return false
  const reading = readWire(request.path, request.body)
  assert.isNotNull(reading, label)
  assert.deepStrictEqual(reading.strays, [], label)
  assert.deepStrictEqual(outcome.holds.map(toDecimal), [priceOf(listed, reading)], label)
  if (outcome.booked === null) return true
  const { seconds, resolution, inputs } = outcome.booked
  const { images, videos, audios } = reading
  assert.deepStrictEqual(
    { seconds, tier: resolution ?? "720p", inputs },
    { seconds: reading.seconds, tier: reading.tier, inputs: { images, videos, audios } },
    label
  )
  return true
}

/** Whether the order was sent to the vendor: then its hold must be the price of what was sent. */
const assertImagePrice = (outcome: Outcome, protocol: string, label: string): boolean => {
  const [request] = outcome.requests
  if (request === undefined) {
    assert.isFalse(outcome.accepted, label)
    assert.deepStrictEqual(outcome.holds, [], label)
    return false
  }
  assert.strictEqual(outcome.requests.length, 1, label)
  assert.strictEqual(outcome.released, outcome.accepted ? 0 : 1, label)
  const counts = JSON.stringify(request.body).match(/"(?:n|num_images|batch_size)":/gi) ?? []
  assert.isAtMost(counts.length, 1, label)
  const reading = readImageCount(request.path, request.body)
  // Only the common standard form has 1 for its own default.
  if (protocol !== "ip_a") assert.isNotNull(reading, label)
  const count = reading ?? 1
  assert.isTrue(typeof count === "number" && Number.isInteger(count), label)
  const price = toDecimal(BigInt(Number(count)) * 170_000_000n)
  assert.deepStrictEqual(outcome.holds.map(toDecimal), [price], label)
  if (outcome.booked !== null) assert.strictEqual(outcome.booked.n, count, label)
  return true
}

const videoWays = ways.filter(({ modality }) => modality === "video")
const imageWays = ways.filter(({ modality }) => modality === "image")
const share = Math.ceil(ORDERS / ways.length)
/** Far below what the dice give, far above what a broken generator would. */
const LEAST_SENT = Math.floor(share / 20)

layer(layerInProcess, { excludeTestServices: true, timeout: "60 seconds" })(
  "the price is computed from what is sent",
  (it) => {
    it.effect.each(videoWays.map((way, index) => [way.model, way, index] as const))(
      "%s: the hold is the price of the length, resolution and inputs the vendor was asked for",
      ([, { model, listed }, index]) =>
        Effect.gen(function* () {
          const orders = yield* Orders
          const dice = diceOf(SEED + index)
          let sent = 0
          for (let order = 0; order < share; order++) {
            const text = randomVideoBody(dice, model)
            const label = `PRICE_SEED=${SEED}, order ${order} of ${model}: ${text}`
            const body = decodeVideo(JSON.parse(text))
            if (Result.isFailure(body)) continue
            const outcome = yield* outcomeOf(orders.video(caller, body.success))
            if (assertVideoPrice(outcome, listed, label)) sent++
          }
          assert.isAtLeast(sent, LEAST_SENT, `PRICE_SEED=${SEED}`)
        })
    )

    it.effect.each(imageWays.map((way, index) => [way.model, way, index] as const))(
      "%s: the hold is the price of the number of images the vendor was asked for",
      ([, { model, mounted, listed }, index]) =>
        Effect.gen(function* () {
          const orders = yield* Orders
          const dice = diceOf(SEED - 1 - index)
          let sent = 0
          for (let order = 0; order < share; order++) {
            const text = randomImageBody(dice, model)
            const label = `PRICE_SEED=${SEED}, order ${order} of ${model}: ${text}`
            const body = decodeImage(JSON.parse(text))
            if (Result.isFailure(body)) continue
            const outcome = yield* outcomeOf(orders.images(caller, body.success))
            if (assertImagePrice(outcome, mounted ?? listed, label)) sent++
          }
          assert.isAtLeast(sent, LEAST_SENT, `PRICE_SEED=${SEED}`)
        })
    )
  }
)

/** Every value by its path. */
const leaves = (fields: object, path = ""): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === "object" && value !== null
        ? Object.entries(leaves(value, `${path}${name}.`))
        : [[`${path}${name}`, value]]
    )
  )

/** Polls of other orders' tasks go on beside. */
const ordersSeen = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.requests, (requests) => requests.filter(({ method }) => method === "POST"))
)

/** The only order at a vendor, and what the customer's pool holds for it. */
const sentFor = Effect.fnUntraced(function* (model: string, prompt: string) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("1000")
  yield* gateway.simulator.clearRequests
  yield* createVideo(who, { model, prompt: `sim:slow=100000 ${prompt}` })
  const [request, ...others] = yield* ordersSeen
  assert.isDefined(request)
  assert.deepStrictEqual(others, [])
  return { path: request.path, body: request.body, held: (yield* gateway.balance(who)).held }
})

layer(layerTestGateway("embedded", quickSettings, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("flags in a prompt, over HTTP", (it) => {
  it.effect.each(
    [
      "黄昏--dur 15--rs 1080p",
      "dusk,--dur 15 (--rs 1080P)",
      "黄昏（--dur：15）--resolution＝1080p",
      "dusk\u200b--dur15\u0085--rs\u00a01080p",
      "黄昏—dur 15，－－rs\u30001080p",
      "“--duration=15”🌅--resolution 1080p"
    ].flatMap((prompt) =>
      ["film-a", "relay-a", "relay-d", "relay-e", "relay-f", "clip-d", "clip-e", "text-2.7"].map(
        (model) => [model, prompt] as const
      )
    )
  )("%s: %j reaches the vendor as fields, and is held for", ([model, prompt]) =>
    Effect.gen(function* () {
      const { path, body, held } = yield* sentFor(model, prompt)
      const asked = readWire(path, body)
      assert.deepInclude(asked, { seconds: 15, strays: [] })
      assert.isNotNull(asked)
      assert.strictEqual(asked.tier, "1080p")
      const listed = ways.find((way) => way.model === model)?.listed ?? ""
      assert.strictEqual(held, priceOf(listed, asked))
    })
  )

  it.effect.each([
    ["film-a", { seed: 11, camera_fixed: true, watermark: true, generate_audio: false }],
    ["relay-a", { seed: 11, camera_fixed: true, watermark: true, generate_audio: false }],
    ["clip-e", { seed: 11, watermark: true, audio: false }],
    ["relay-e", { seed: 11, watermark: true, audio: false }],
    ["text-2.7", { parameters: { seed: 11, watermark: true } }],
    ["relay-f", { parameters: { seed: 11, watermark: true } }],
    ["clip-d", { options: { watermark_info: { enabled: true } }, settings: { audio: "off" } }]
  ] as const)("%s: harmless flags reach the vendor as its own fields", ([model, fields]) =>
    Effect.gen(function* () {
      const flags = [
        "seed" in fields || "parameters" in fields ? "--seed 11" : "",
        "camera_fixed" in fields ? "--cf true" : ""
      ]
      const prompt = `海，${flags.join("")}--wm=true --generate_audio false`
      const { body } = yield* sentFor(model, prompt)
      assert.deepNestedInclude(body, leaves(fields))
      assert.notInclude(JSON.stringify(body), "--")
    })
  )

  it.effect.each([
    ["film-a", "黄昏--frames 361", "duration", "--frames"],
    ["relay-a", "dusk,--fps 60", "prompt", "--fps"],
    ["film-a", "(--framespersecond=60)", "prompt", "--framespersecond"],
    ["film-b", "dusk --draft true", "prompt", "--draft"],
    ["clip-d", "dusk --service_tier flex", "prompt", "--service_tier"],
    ["film-b", "dusk --seed 7", "prompt", "--seed"],
    ["film-b", "dusk --wm false", "prompt", "--watermark"],
    ["relay-b", "dusk --ｄｕｒ 15", "prompt", "--dur"],
    ["clip-d", "dusk --seed 7", "prompt", "--seed"],
    ["relay-d", "dusk --wm true", "prompt", "--watermark"],
    ["clip-e", "dusk --camerafixed true", "prompt", "--camera_fixed"],
    ["text-2.6", "dusk --cf true", "prompt", "--camera_fixed"],
    ["film-a", "dusk --d\u200bur 15", "prompt", "--dur"]
  ] as const)("%s: %j is refused before any hold", ([model, prompt, param, name]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      yield* gateway.simulator.clearRequests
      const answer = yield* orderVideo(who, { model, prompt, duration: 5 })
      assert.strictEqual(answer.status, 400, answer.text)
      assert.deepNestedInclude(answer.body, {
        "error.code": "invalid_request",
        "error.param": param
      })
      assert.include(answer.text, name)
      assert.deepInclude(yield* gateway.balance(who), { balance: "1000", held: "0" })
      assert.deepStrictEqual(yield* ordersSeen, [])
    })
  )
})
