/** A month's orders under another catalog: what they would have been charged and have cost. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { formatNano, parseNano } from "../../src/domain/money/Money.ts"
import { CatalogReplay } from "../../src/features/catalog/CatalogReplay.ts"
import { databasesInTurn } from "../support/databases.ts"
import { seedOfDay } from "../support/day.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { diceOf, randomImageBody, randomVideoBody } from "../support/randomOrders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

type Catalog = typeof CatalogWrite.Encoded
type Prices = NonNullable<Catalog["mounts"][number]["cost"]>

const SEED = Number(process.env.REPLAY_SEED ?? seedOfDay)
const ORDERS_PER_MODEL = Number(process.env.REPLAYED_ORDERS ?? 4)

const filmCost: Prices = {
  kind: "token_video",
  per_million_tokens: { base: { without_video: "30.001", with_video: "20" } }
}
const clipCost: Prices = {
  kind: "second_video",
  per_second: { "480p": "0.1", "540p": "0.2", "720p": "0.3", "1080p": "0.4", "4K": "0.5" }
}
const imageCost: Prices = { kind: "image", per_image: "0.100000001" }
const textCost: Prices = { kind: "tokens", per_million_input: "1", per_million_output: "3" }

const present = Effect.map(DateTime.now, (now) => DateTime.formatIsoDateUtc(now).slice(0, 7))

const replayOf = Effect.fnUntraced(function* (catalog: Catalog) {
  const gateway = yield* Gateway
  const month = yield* present
  const answer = yield* gateway.admin(`/catalog/preview?replay=${month}`, { json: catalog })
  assert.strictEqual(answer.status, 200, answer.text)
  const { replay } = yield* bodyAs(Schema.Struct({ replay: CatalogReplay }), answer)
  assert.strictEqual(replay.month, month)
  return replay
})

type Sum = (typeof CatalogReplay.Type)["totals"]

const nano = (decimal: string): bigint => {
  const [, sign = "", digits = ""] = /^(-?)(.*)$/.exec(decimal) ?? []
  const amount = Effect.runSync(Effect.fromResult(parseNano(digits)))
  return sign === "-" ? -amount : amount
}

/** What follows from the other amounts, and that the lines come to the whole. */
const checkSums = ({ data, totals }: typeof CatalogReplay.Type) => {
  for (const sum of [...data, totals]) {
    assert.strictEqual(nano(sum.difference), nano(sum.charge_after) - nano(sum.charge_before))
    assert.strictEqual(nano(sum.margin_before), nano(sum.charge_before) - nano(sum.cost_before))
    assert.strictEqual(nano(sum.margin_after), nano(sum.charge_after) - nano(sum.cost_after))
  }
  const whole = (of: (sum: Sum) => bigint | number) =>
    data.reduce((sum, line) => sum + BigInt(of(line)), 0n)
  for (const name of ["count", "unpriced", "without_cost", "without_cost_before"] as const) {
    assert.strictEqual(
      whole((sum) => sum[name]),
      BigInt(totals[name]),
      name
    )
  }
  for (const name of ["charge_before", "charge_after", "cost_before", "cost_after"] as const) {
    assert.strictEqual(formatNano(whole((sum) => nano(sum[name]))), totals[name], name)
  }
}

/** Every protocol and text, each mount with a cost; on the relay videos are charged and billed to us in different ways. */
const everything = (simulatorUrl: string): Catalog => {
  const media = protocolCatalog(simulatorUrl)
  const text = textCatalog()(simulatorUrl)
  const isText = (id: string) => ["talk-1", "vector-1"].includes(id)
  return {
    channels: [...media.channels, ...text.channels.filter(({ id }) => id === "ch-t")],
    models: [...media.models, ...text.models.filter(({ id }) => isText(id))],
    mounts: [
      ...media.mounts.map((mount, index) => {
        const { modality, listed = "" } = ways.find(({ model }) => model === mount.model) ?? {}
        if (modality === "image") return { ...mount, cost: imageCost }
        const isFilm = mount.protocol === null ? ["vp_a", "vp_b"].includes(listed) : index % 2 === 0
        return { ...mount, cost: isFilm ? filmCost : clipCost }
      }),
      ...text.mounts
        .filter(({ model }) => isText(model))
        .map((mount) => ({ ...mount, cost: textCost }))
    ]
  }
}

/** Some films, clips, images and texts; what a text costs is not told. */
const few = (simulatorUrl: string): Catalog => {
  const base = textCatalog()(simulatorUrl)
  const costs: Readonly<Record<string, Prices>> = {
    "film-1": filmCost,
    "clip-1": clipCost,
    "paint-1": imageCost
  }
  return {
    ...base,
    mounts: base.mounts.map((mount) => {
      const cost = costs[mount.model]
      return cost === undefined ? mount : { ...mount, cost }
    })
  }
}

const Totals = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      count: Schema.Int,
      charge: Schema.String,
      cost: Schema.String,
      without_cost: Schema.Int
    })
  )
})

/** What the sums kept with the charges tell of it. */
const seriesTotal = Effect.gen(function* () {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(`/usage/series?interval=month&from=${yield* present}-01`)
  const [line] = (yield* bodyAs(Totals, answer)).data
  return line ?? assert.fail(answer.text)
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, undefined, { catalogFor: everything }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a month replayed under its own catalog (${kind})`, (it) => {
    it.effect(
      `is what was charged and cost, by every protocol (REPLAY_SEED=${SEED})`,
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1000000")
          const dice = diceOf(SEED)
          const orders = ways.flatMap(({ model, modality }) =>
            Array.from({ length: ORDERS_PER_MODEL }, () =>
              modality === "image"
                ? (["images", randomImageBody(dice, model)] as const)
                : (["videos", randomVideoBody(dice, model)] as const)
            )
          )
          yield* Effect.forEach(
            orders,
            ([path, body]) =>
              gateway.call(`/v1/${path}/generations`, { key: who.key, method: "POST", body }).pipe(
                Effect.flatMap(({ status, body }) => {
                  const isTask = path === "videos" && status === 200
                  const { id } = Schema.decodeUnknownSync(
                    Schema.Struct({ id: Schema.optionalKey(Schema.String) })
                  )(body)
                  return isTask && id !== undefined ? finishVideo(who, id) : Effect.void
                })
              ),
            { concurrency: 8, discard: true }
          )
          yield* ask(who, talk("hello"))
          yield* gateway.call("/v1/embeddings", {
            key: who.key,
            json: { model: "vector-1", input: "a lighthouse" }
          })
          const replay = yield* replayOf(everything(gateway.simulator.url))
          checkSums(replay)
          for (const line of [...replay.data, replay.totals]) {
            assert.deepInclude(line, {
              charge_after: line.charge_before,
              difference: "0",
              cost_after: line.cost_before,
              unpriced: 0,
              without_cost: line.without_cost_before
            })
          }
          const { count, charge, cost } = yield* seriesTotal
          const { totals } = replay
          assert.deepStrictEqual(
            [totals.count, totals.charge_before, totals.cost_before],
            [count, charge, cost]
          )
          const models = replay.data.map(({ model }) => model)
          assert.includeMembers(models, ["talk-1", "vector-1"])
          assert.deepStrictEqual(models, models.toSorted())
          // Random orders may all be refused for a few of the models.
          assert.isAbove(models.length, ways.length / 2)
        }),
      60_000
    )
  })

  layer(layerTestGateway(kind, undefined, { catalogFor: few }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a month replayed under another catalog (${kind})`, (it) => {
    it.effect("tells what an edit would have changed, and what it leaves without a price", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customers: ReadonlyArray<Customer> = [
          yield* gateway.customer("1000"),
          yield* gateway.customer("1000")
        ]
        for (const who of customers) {
          yield* finishVideo(who, yield* createVideo(who, { model: "film-1" }))
          yield* finishVideo(who, yield* createVideo(who, { model: "clip-1", duration: 4 }))
          yield* orderImages(who, { model: "paint-1", n: 3 })
          yield* ask(who, talk("hello"))
        }
        const [first] = customers
        const failed = yield* createVideo(first ?? assert.fail(), {
          model: "film-1",
          prompt: "x sim:fail"
        })
        yield* finishVideo(first ?? assert.fail(), failed)

        const before = (yield* gateway.admin("/catalog")).text
        const catalog = few(gateway.simulator.url)
        const lineOf = Effect.fnUntraced(function* (model: string, edited: Partial<Catalog>) {
          const replay = yield* replayOf({ ...catalog, ...edited })
          checkSums(replay)
          return replay.data.find((line) => line.model === model) ?? assert.fail(model)
        })
        const pricedAt = (id: string, prices: Prices) => ({
          models: catalog.models.map((model) => (model.id === id ? { ...model, prices } : model))
        })
        const mountedWithout = (gone: string) => ({
          mounts: catalog.mounts.filter(({ model }) => model !== gone)
        })

        const paint = { model: "paint-1", count: 2, charge_before: "1.2", unpriced: 0 }
        const costs = { cost_before: "0.600000006", cost_after: "0.600000006" }
        assert.deepInclude(
          yield* lineOf("paint-1", pricedAt("paint-1", { kind: "image", per_image: "0.3" })),
          {
            ...paint,
            ...costs,
            charge_after: "1.8",
            difference: "0.6",
            without_cost: 0,
            margin_before: "0.599999994",
            margin_after: "1.199999994"
          }
        )
        assert.deepInclude(yield* lineOf("paint-1", mountedWithout("paint-1")), {
          ...paint,
          charge_after: "1.2",
          difference: "0",
          cost_before: "0.600000006",
          cost_after: "0",
          without_cost: 2,
          without_cost_before: 0
        })
        const dearer = catalog.mounts.map((mount) =>
          mount.model === "paint-1"
            ? { ...mount, enabled: false, cost: { kind: "image", per_image: "0.25" } as const }
            : mount
        )
        assert.deepInclude(yield* lineOf("paint-1", { mounts: dearer }), {
          ...paint,
          charge_after: "1.2",
          cost_after: "1.5",
          margin_after: "-0.3"
        })

        const film = yield* lineOf("film-1", {
          models: catalog.models.filter(({ id }) => id !== "film-1"),
          ...mountedWithout("film-1")
        })
        assert.deepInclude(film, {
          count: 2,
          charge_after: "0",
          cost_after: "0",
          unpriced: 2,
          without_cost: 0,
          difference: `-${film.charge_before}`
        })
        const counting = (id: string, protocol: string, prices: Prices, cost: Prices) => ({
          models: catalog.models.map((model) =>
            model.id === id ? { ...model, protocol, prices } : model
          ),
          mounts: catalog.mounts.map((mount) => (mount.model === id ? { ...mount, cost } : mount))
        })
        // A film's length is kept with it, so that it can be charged by the second.
        const bySecond: Prices = { kind: "second_video", per_second: { "720p": "0.7" } }
        assert.deepInclude(
          yield* lineOf("film-1", counting("film-1", "vp_d", bySecond, clipCost)),
          { charge_after: "7", cost_after: "3", unpriced: 0, without_cost: 0 }
        )
        // Tokens of a clip were neither charged nor billed, so that no count of them is kept.
        const unpriced = [
          counting("clip-1", "vp_a", filmCost, filmCost),
          pricedAt("clip-1", { kind: "second_video", per_second: { "1080p": "1" } })
        ]
        for (const edited of unpriced) {
          assert.deepInclude(yield* lineOf("clip-1", edited), {
            count: 2,
            charge_before: "4.8",
            charge_after: "0",
            unpriced: 2,
            cost_after: "0"
          })
        }

        const text = yield* lineOf("talk-1", {})
        assert.deepInclude(text, {
          count: 2,
          charge_after: text.charge_before,
          cost_before: "0",
          cost_after: "0",
          without_cost_before: 2,
          without_cost: 2
        })
        const { totals } = yield* replayOf(catalog)
        const series = yield* seriesTotal
        assert.deepStrictEqual(
          [totals.count, totals.charge_before, totals.cost_before, totals.without_cost_before],
          [series.count, series.charge, series.cost, series.without_cost]
        )
        assert.strictEqual((yield* gateway.admin("/catalog")).text, before)
      })
    )

    it.effect("of a month without orders there is nothing, and of none nothing is told", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const json = few(gateway.simulator.url)
        const empty = yield* gateway.admin("/catalog/preview?replay=2020-02", { json })
        const { replay } = yield* bodyAs(Schema.Struct({ replay: CatalogReplay }), empty)
        assert.deepStrictEqual([replay.data, replay.totals.count], [[], 0])
        const plain = yield* gateway.admin("/catalog/preview", { json })
        assert.notProperty(plain.body, "replay")
      })
    )

    it.effect.each(["2999-01", "2026-13", "2026-1", "0000-01", "2026-10-01", ""])(
      "the month %j is refused, and named",
      (month) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const json = few(gateway.simulator.url)
          const answer = yield* gateway.admin(`/catalog/preview?replay=${month}`, { json })
          assert.strictEqual(answer.status, 400, answer.text)
          const error = yield* errorOf(answer)
          assert.deepInclude(error, { code: "invalid_request", param: "replay" })
          assert.include(error.message, "Expected a month")
        })
    )
  })
}
