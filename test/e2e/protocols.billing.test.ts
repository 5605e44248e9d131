import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { loadClip } from "../../src/simulator/media/clip.ts"
import { toDecimal } from "../support/amounts.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"

type Prices = NonNullable<(typeof CatalogWrite.Encoded)["models"][number]["prices"]>

const baseOnly: Prices = {
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51" }
  }
}
const only720p: Prices = { kind: "second_video", per_second: { "720p": "0.6" } }

/** The protocol catalog, and models of it again with prices that lack something. */
const catalogWithGaps = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const catalog = protocolCatalog(simulatorUrl)
  const again = (id: string, of: string, prices: Prices) => ({
    models: catalog.models.filter((model) => model.id === of).map((m) => ({ ...m, id, prices })),
    mounts: catalog.mounts.filter(({ model }) => model === of).map((m) => ({ ...m, model: id }))
  })
  const gaps = [
    ...["film-a", "relay-a"].map((model) => again(`${model}-gaps`, model, baseOnly)),
    ...["clip-d", "clip-e", "text-2.6", "text-2.7", "relay-d", "relay-e", "relay-f"].map((model) =>
      again(`${model}-gaps`, model, only720p)
    )
  ]
  return {
    ...catalog,
    models: [...catalog.models, ...gaps.flatMap(({ models }) => models)],
    mounts: [...catalog.mounts, ...gaps.flatMap(({ mounts }) => mounts)]
  }
}

const isOrder = ({ method }: { readonly method: string }): boolean => method === "POST"

const paused = "a lighthouse sim:slow=100000"
const remote = "https://files.test/in.mp4"
const inline = (bytes: Uint8Array) =>
  `data:video/mp4;base64,${Buffer.from(bytes).toString("base64")}`

const heldFor = Effect.fnUntraced(function* (json: Readonly<Record<string, unknown>>) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("1000")
  yield* createVideo(who, { prompt: paused, ...json })
  const { balance, held } = yield* gateway.balance(who)
  assert.strictEqual(balance, "1000")
  return held
})

const chargedFor = Effect.fnUntraced(function* (json: Readonly<Record<string, unknown>>) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("1000")
  const done = yield* finishVideo(who, yield* createVideo(who, json))
  assert.strictEqual(done.task_status, "succeeded")
  const { held, month } = yield* gateway.balance(who)
  assert.strictEqual(held, "0")
  return { done, charge: month.used }
})

/** Questions about the paused tasks soon come far apart, and leave the vendor to the others. */
const settings = { ...quickSettings, maxAskIntervalSeconds: 60 }

/** Orders n images, of which the vendor takes `most` at once. */
const assertImagesCost = Effect.fnUntraced(function* (
  model: string,
  n: number | undefined,
  most: number
) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("1.7")
  const answer = yield* orderImages(who, { model, n, size: "512x512" })
  const isTaken = (n ?? 1) <= most
  assert.strictEqual(answer.status, isTaken ? 200 : 400, answer.text)
  const spent = isTaken ? BigInt(n ?? 1) * 170_000_000n : 0n
  const balance = toDecimal(1_700_000_000n - spent)
  assert.deepInclude(yield* gateway.balance(who), { balance, held: "0" }, `n = ${n}`)
  if (!isTaken) assert.propertyVal(yield* errorOf(answer), "code", "upstream_error")
})

layer(layerTestGateway("postgres", settings, { catalogFor: catalogWithGaps }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("billing by protocol", (it) => {
  it.effect.each(["film-a", "film-b", "relay-a", "relay-b"] as const)(
    "%s: a reference video turns the whole order to its price, images and sound do not",
    (model) =>
      Effect.gen(function* () {
        const clip = yield* loadClip
        const image = "https://files.test/1.png"
        const audio = "https://files.test/1.mp3"
        assert.strictEqual(yield* heldFor({ model, image, audio }), "4.968")
        assert.strictEqual(yield* heldFor({ model, image, audio, video: remote }), "5.4432")
        assert.strictEqual(yield* heldFor({ model, videos: [remote, remote] }), "5.4432")
        assert.strictEqual(yield* heldFor({ model, video: inline(clip(2)) }), "5.4432")
        assert.strictEqual(yield* heldFor({ model, video: inline(clip(7)) }), "7.2576")
        assert.strictEqual(
          yield* heldFor({ model, videos: [inline(clip(7)), inline(clip(5))] }),
          "10.2816"
        )
      })
  )

  it.effect.each(["film-b", "relay-a", "relay-b"] as const)(
    "%s: a length left to the model is prepaid as 15 seconds and charged as rendered",
    (model) =>
      Effect.gen(function* () {
        const { simulator } = yield* Gateway
        assert.strictEqual(yield* heldFor({ model, duration: -1 }), "14.904")
        assert.strictEqual(yield* heldFor({ model, duration: -1, video: remote }), "11.4912")
        const { done, charge } = yield* chargedFor({ model, duration: -1 })
        const ended = (yield* simulator.book).findLast((entry) => entry.event === "succeeded")
        assert.strictEqual(ended?.event, "succeeded")
        if (ended?.event !== "succeeded") return
        const tokens = ended.produced.completion_tokens ?? 0
        assert.deepStrictEqual(done.usage, { completion_tokens: tokens })
        assert.strictEqual(charge, toDecimal(BigInt(tokens) * 46_000n))
      })
  )

  it.effect.each(["film-b", "relay-a", "relay-b"] as const)(
    "%s: without usage a length left to the model is charged by the formula for what was rendered",
    (model) =>
      Effect.gen(function* () {
        const { simulator } = yield* Gateway
        for (const word of ["sim:nousage", "sim:usage=0", "sim:usage=null"]) {
          const { done, charge } = yield* chargedFor({ model, duration: -1, prompt: `x ${word}` })
          assert.deepStrictEqual(done.usage, {})
          const ended = (yield* simulator.book).findLast((entry) => entry.event === "succeeded")
          const seconds = ended?.event === "succeeded" ? (ended.produced.seconds ?? 0) : 0
          assert.isAtLeast(seconds, 4)
          assert.strictEqual(charge, toDecimal(BigInt(seconds) * 993_600_000n), word)
        }
      })
  )

  it.effect.each(["film-a", "film-b", "relay-a"] as const)(
    "%s: usage that cannot be right is no usage, and the formula charges the order",
    (model) =>
      Effect.gen(function* () {
        const words = ["sim:nousage", "sim:usage=0", "sim:usage=-5", "sim:usage=1.5"]
        const more = ['sim:usage="12"', "sim:usage=1e309", "sim:usage=null", "sim:usage=1"]
        for (const word of [...words, ...more]) {
          const order = { model, duration: 7, prompt: `x ${word}` }
          assert.strictEqual((yield* chargedFor(order)).charge, "6.9552", word)
        }
        const twice = { model, duration: 7, prompt: "x sim:usage=999999999" }
        assert.strictEqual((yield* chargedFor(twice)).charge, "13.9104")
        const filmed = { model, duration: 7, prompt: "x sim:nousage", video: remote }
        assert.strictEqual((yield* chargedFor(filmed)).charge, "6.6528")
      })
  )

  it.effect("vp_b is prepaid as 720p whatever the request says, the relay as what it is sent", () =>
    Effect.gen(function* () {
      const { simulator } = yield* Gateway
      for (const resolution of ["480p", "1080p", "4K", "banana", ""]) {
        assert.strictEqual(yield* heldFor({ model: "film-b", resolution }), "4.968")
      }
      assert.strictEqual(yield* heldFor({ model: "film-b", prompt: `${paused} --rs 4k` }), "4.968")
      yield* simulator.clearRequests
      assert.strictEqual(yield* heldFor({ model: "relay-b", resolution: "1080p" }), "12.4848")
      const [sent] = (yield* simulator.requests).filter(isOrder)
      assert.propertyVal(sent?.body, "resolution", "1080p")
    })
  )

  it.effect.each(["film-a-gaps", "relay-a-gaps"] as const)(
    "%s: a tier without a price falls back to that of 480p and 720p, each column for itself",
    (model) =>
      Effect.gen(function* () {
        const order = (resolution: string, more: object = {}) => ({ model, resolution, ...more })
        assert.strictEqual(yield* heldFor(order("1080p")), "12.4848")
        assert.strictEqual(yield* heldFor(order("1080p", { video: remote })), "12.33792")
        assert.strictEqual(yield* heldFor(order("4K")), "44.712")
        assert.strictEqual(yield* heldFor(order("4K", { video: remote })), "48.9888")
        assert.strictEqual((yield* chargedFor(order("4K"))).charge, toDecimal(980_100n * 46_000n))
      })
  )

  it.effect.each([
    ["clip-d-gaps", "1080p"],
    ["clip-e-gaps", "540p"],
    ["text-2.6-gaps", "1080p"],
    ["text-2.7-gaps", "1080p"],
    ["relay-d-gaps", "1080p"],
    ["relay-e-gaps", "540p"],
    ["relay-f-gaps", "1080p"]
  ] as const)(
    "%s: %s has no price, so nothing is held and nobody is called",
    ([model, resolution]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* gateway.simulator.clearRequests
        const answer = yield* orderVideo(who, { model, resolution })
        assert.strictEqual(answer.status, 400)
        const error = yield* errorOf(answer)
        assert.deepInclude(error, { code: "billing_unavailable", param: "resolution" })
        assert.deepStrictEqual((yield* gateway.simulator.requests).filter(isOrder), [])
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        assert.strictEqual(yield* heldFor({ model, duration: 6 }), "3.6")
      })
  )

  it.effect.each(["clip-d", "clip-e", "text-2.6", "text-2.7", "relay-d", "relay-e", "relay-f"])(
    "%s: the ordered seconds are charged, whatever the vendor reports",
    (model) =>
      Effect.gen(function* () {
        for (const word of ["", "sim:nousage", "sim:usage=99", "sim:usage=null"]) {
          const order = { model, duration: 7, resolution: "1080p", prompt: `x ${word}` }
          const { done, charge } = yield* chargedFor(order)
          assert.strictEqual(charge, "7.7", word)
          assert.deepStrictEqual(done.usage, {}, word)
        }
      })
  )

  it.effect.each([
    ["paint-a", 10],
    ["paint-b", 6],
    ["relay-paint-messages", 6],
    ["relay-paint-standard", 10]
  ] as const)(
    "%s: images cost their number in the request, up to the vendor's %i",
    ([model, most]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        for (const n of [undefined, 1, 3, 6, 10]) yield* assertImagesCost(model, n, most)
        const who = yield* gateway.customer("1.7")
        yield* orderImages(who, { model, n: 3, prompt: "x sim:fewer" })
        assert.deepInclude(yield* gateway.balance(who), { balance: "1.19", held: "0" })
      })
  )

  it.effect("the books hold after all of this", () =>
    Effect.flatMap(Gateway, (gateway) => gateway.verify)
  )
})
