/**
 * Random orders of models priced by random tables: what is held, and what is charged without a report
 * of the vendor, is the price of the line for the request that the vendor received.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { Prices } from "../../src/domain/catalog/Prices.ts"
import { VideoBody } from "../../src/domain/video/VideoBody.ts"
import { Orders } from "../../src/orders/Orders.ts"
import { Quotes } from "../../src/orders/QuoteAnswers.ts"
import type { Caller } from "../../src/services/Access.ts"
import { Requests } from "../../src/simulator/Requests.ts"
import { seedOfDay } from "../support/day.ts"
import { Holds, layerInProcessWith } from "../support/inProcess.ts"
import { protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { type Dice, diceOf, randomVideoBody } from "../support/randomOrders.ts"
import { readFacts, readWire } from "../support/wireReading.ts"

const ORDERS = Number(process.env.PRICE_ORDERS ?? 1500)
const SEED = Number(process.env.PRICE_SEED ?? seedOfDay)

const caller: Caller = {
  organizationId: "org_1",
  memberId: "mem_1",
  keyId: "key_1",
  scopes: new Set(["videos"]),
  models: null
}
const decodePrices = Schema.decodeUnknownSync(Schema.toEncoded(Prices))
const decodeVideo = Schema.decodeUnknownResult(VideoBody)

const values = {
  resolution: ["480p", "540p", "720p", "1080p", "4K"],
  sound: [true, false],
  input_video: [true, false],
  mode: ["text", "image", "frames", "reference"]
} as const
type FactName = keyof typeof values
type Facts = Readonly<Record<FactName, unknown>>

const factNames: ReadonlyArray<FactName> = ["resolution", "sound", "input_video", "mode"]

/** A table with a line for every combination of some facts, each with a price of its own. */
const drawTable = (dice: Dice) => {
  const priced = factNames.filter(() => dice.chance(60))
  const combinations = priced.reduce<ReadonlyArray<Partial<Facts>>>(
    (lines, name) =>
      lines.flatMap((line) => values[name].map((value) => ({ ...line, [name]: value }))),
    [{}]
  )
  return {
    unit: dice.pick(["second", "clip"]),
    input_seconds: dice.chance(50),
    surcharge: dice.chance(50) ? { beyond: dice.roll(3), price: 1000 } : null,
    lines: combinations.slice(0, 64).map((facts, index) => ({ facts, price: index + 1 }))
  }
}
type Table = ReturnType<typeof drawTable>

const videoWays = ways.filter(({ modality }) => modality === "video")
const drawTables = (seed: number) => {
  const dice = diceOf(seed)
  return new Map(videoWays.map(({ model }) => [model, drawTable(dice)] as const))
}
const tables = drawTables(SEED)

const catalogFor = (vendors: string): typeof CatalogWrite.Encoded => {
  const catalog = protocolCatalog(vendors)
  return {
    ...catalog,
    models: catalog.models.map((model) => {
      const table = tables.get(model.id)
      if (table === undefined) return model
      const lines = table.lines.map(({ facts, price }) => ({ ...facts, price: String(price) }))
      const { unit, input_seconds, surcharge } = table
      return {
        ...model,
        prices: decodePrices({
          kind: "video_table",
          unit,
          lines,
          ...(unit === "second" ? { input_seconds } : {}),
          ...(surcharge === null
            ? {}
            : { reference_surcharge: { ...surcharge, price: String(surcharge.price) } })
        })
      }
    })
  }
}

/** The price of the only line that applies; null without one. */
const priceOf = ({ lines }: Table, order: Facts): number | null =>
  lines.find(({ facts }) =>
    factNames.every((name) => facts[name] === undefined || facts[name] === order[name])
  )?.price ?? null

/** The longest reference video that is held where its length is not known. */
const UNKNOWN_INPUT_SECONDS = 15

/** The hold of a request, from the table and from what the request says; null without a price. */
const heldFor = (table: Table, path: string, body: unknown): bigint | null => {
  const reading = readWire(path, body)
  if (reading === null || typeof reading.seconds !== "number") return null
  const { mode, sound, references } = readFacts(path, body)
  const prices = (sound === null ? [true, false] : [sound]).map((one) =>
    priceOf(table, {
      resolution: reading.tier === "4k" ? "4K" : reading.tier,
      sound: one,
      input_video: reading.videos > 0,
      mode
    })
  )
  if (prices.includes(null)) return null
  const seconds = reading.seconds === -1 ? UNKNOWN_INPUT_SECONDS : reading.seconds
  const input = table.input_seconds && reading.videos > 0 ? UNKNOWN_INPUT_SECONDS : 0
  const units = table.unit === "clip" ? 1 : seconds + input
  const { beyond, price } = table.surcharge ?? { beyond: 0, price: 0 }
  const surcharges = Math.max(references - beyond, 0) * price
  return BigInt(Math.max(...prices.map(Number)) * units + surcharges) * 1_000_000_000n
}

layer(layerInProcessWith(catalogFor), { excludeTestServices: true, timeout: "60 seconds" })(
  "a price table is applied to what is sent",
  (it) => {
    it.effect.each(videoWays)("$model", ({ model }) =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const quotes = yield* Quotes
        const holds = yield* Holds
        const requests = yield* Requests
        const dice = diceOf(SEED + model.length)
        const table = tables.get(model) ?? assert.fail(model)
        let sent = 0
        for (let index = 0; index < ORDERS / videoWays.length; index++) {
          const text = randomVideoBody(dice, model)
          const body = decodeVideo(JSON.parse(text))
          if (Result.isFailure(body)) continue
          holds.amounts.clear()
          yield* requests.clear
          yield* Effect.result(orders.video(caller, body.success))
          const [request] = yield* requests.all
          const [held] = holds.amounts.values()
          const label = `PRICE_SEED=${SEED}: ${text} ${JSON.stringify(table)}`
          assert.strictEqual(request === undefined, held === undefined, label)
          if (request === undefined) continue
          assert.strictEqual(held, heldFor(table, request.path, request.body), label)
          const { quote } = yield* quotes.video(caller, body.success)
          assert.strictEqual(quote.holdNano, held, label)
          sent += 1
        }
        assert.isAbove(sent, 0)
      })
    )
  }
)
