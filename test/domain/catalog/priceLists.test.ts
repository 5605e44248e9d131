/** Which version of a price list is in force, and which factors multiply prices exactly. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { CatalogDocument } from "../../../src/domain/catalog/CatalogDocument.ts"
import { PriceListTerms } from "../../../src/domain/catalog/PriceList.ts"
import { builtInProtocols } from "../../../src/domain/catalog/ProtocolTables.ts"
import {
  faultsByPriceLists,
  priceListFaults,
  priceModel,
  schedulePriceList,
  versionAt
} from "../../../src/domain/catalog/priceLists.ts"

const written = (version: number, holdsFrom: string | null, factor = 500_000_000n) => ({
  version,
  holdsFrom,
  terms: { factor },
  createdAt: new Date(0),
  author: null
})

const listOf = (
  ...[first, ...others]: [ReturnType<typeof written>, ...Array<ReturnType<typeof written>>]
) =>
  schedulePriceList(
    { id: "pl_1", name: "List", watermark: null, versions: [first, ...others] },
    "Asia/Shanghai"
  )

const inForceAt = (list: ReturnType<typeof listOf>, time: string) =>
  versionAt(list, Date.parse(time))?.version ?? null

const document = Schema.decodeUnknownSync(CatalogDocument)
const catalogOf = (prices: object, more: object = {}) =>
  document({
    channels: [],
    mounts: [],
    models: [{ id: "m", modality: "video", protocol: "vp_d", prices, ...more }]
  })
const seconds = (price: string) => ({ kind: "second_video", per_second: { "720p": price } })
const tokens = (price: string) => ({
  kind: "token_video",
  per_million_tokens: { base: { without_video: price } }
})

const imageTokens = (price: string) => ({
  kind: "image_tokens",
  per_million_text_input: price,
  per_million_image_input: price,
  per_million_image_output: price,
  most_output_tokens: 1000
})

const terms = Schema.decodeUnknownSync(PriceListTerms)
const isExact = (price: object, factor: string) =>
  priceListFaults(terms({ factor }), catalogOf(price), builtInProtocols).length === 0

describe("the version in force", () => {
  it("is the one that was written last of those whose day has come", () => {
    const list = listOf(
      written(1, "2026-12-01"),
      written(2, "2027-01-01"),
      written(3, "2026-12-15"),
      written(4, "2027-02-01")
    )
    const expected = [
      ["2026-11-30T15:59:59.999Z", null],
      ["2026-11-30T16:00:00Z", 1],
      ["2026-12-14T15:59:59.999Z", 1],
      ["2026-12-14T16:00:00Z", 3],
      // The second version was replaced before its day.
      ["2027-01-15T00:00:00Z", 3],
      ["2027-02-01T00:00:00Z", 4]
    ] as const
    for (const [time, version] of expected) assert.strictEqual(inForceAt(list, time), version, time)
    assert.strictEqual(inForceAt(listOf(written(1, null)), "1970-01-01T00:00:00Z"), 1)
  })

  it("and those that come later are compared with catalogs, and no others", () => {
    const [exact, inexact] = [1_000_000_000n, 1n]
    const faultsAt = (list: ReturnType<typeof listOf>) =>
      faultsByPriceLists(
        [list],
        catalogOf(seconds("0.000000001")),
        builtInProtocols,
        Date.parse("2026-12-20T00:00:00Z")
      ).length
    const cases = [
      [listOf(written(1, null, inexact)), 1],
      [listOf(written(1, null, inexact), written(2, "2026-12-15", exact)), 0],
      [listOf(written(1, null, exact), written(2, "2027-01-01", inexact)), 1],
      [
        listOf(
          written(1, null, exact),
          written(2, "2027-01-01", inexact),
          written(3, "2026-12-25", exact)
        ),
        0
      ],
      [
        listOf(
          written(1, null, exact),
          written(2, "2027-01-01", inexact),
          written(3, "2027-02-01", exact)
        ),
        1
      ]
    ] as const
    for (const [index, [list, count]] of cases.entries()) {
      assert.strictEqual(faultsAt(list), count, `case ${index}`)
    }
  })
})

describe("a factor", () => {
  it("fits where every product has at most nine decimals, or three per million tokens", () => {
    const cases = [
      [seconds("0.6"), "0.85", true],
      [seconds("0.000000001"), "2", true],
      [seconds("0.000000001"), "0.5", false],
      [seconds("0.000000002"), "0.5", true],
      [seconds("0.3"), "0.33333333", true],
      [seconds("0.3"), "0.333333333", false],
      [tokens("46"), "0.001", true],
      [tokens("46"), "0.0001", false],
      [tokens("0.001"), "0.5", false],
      [tokens("0.002"), "0.5", true],
      // A price that is too large to be written in a catalog.
      [seconds("1000000000"), "1", true],
      [seconds("1000000000"), "1.1", false],
      [tokens("1000000"), "1000", true],
      [tokens("1000000.001"), "1000", false],
      [imageTokens("1000000"), "1000", true],
      [imageTokens("1000000.001"), "1000", false],
      [imageTokens("0.001"), "0.5", false]
    ] as const
    for (const [prices, factor, expected] of cases) {
      assert.strictEqual(isExact(prices, factor), expected, JSON.stringify([prices, factor]))
    }
  })

  it("multiplies every price of a table and nothing else", () => {
    const [model] = catalogOf({
      kind: "video_table",
      unit: "token",
      least_input_tokens: 1000,
      lines: [{ resolution: "720p", price: "10" }, { price: "20" }]
    }).models
    if (model === undefined) return assert.fail()
    const priced = priceModel(terms({ factor: "0.25" }), model)
    assert.isTrue(priced.isListed)
    assert.deepEqual(priced.model.prices, {
      kind: "video_table",
      unit: "token",
      least_input_tokens: 1000,
      lines: [{ resolution: "720p", price: 2500n }, { price: 5000n }]
    })
    assert.deepEqual(priceModel(terms({ factor: "1" }), model).model.prices, model.prices)
  })

  it("multiplies a surcharge as a price of its own, whatever the unit is", () => {
    const surcharged = (price: string) =>
      catalogOf({
        kind: "video_table",
        unit: "token",
        reference_surcharge: { beyond: 5, price },
        lines: [{ price: "10" }]
      })
    const [model] = surcharged("0.1").models
    if (model === undefined) return assert.fail()
    assert.deepEqual(priceModel(terms({ factor: "0.5" }), model).model.prices, {
      kind: "video_table",
      unit: "token",
      reference_surcharge: { beyond: 5, price: 50_000_000n },
      lines: [{ price: 5000n }]
    })
    const [fault] = priceListFaults(
      terms({ factor: "0.5" }),
      surcharged("0.000000001"),
      builtInProtocols
    )
    assert.include(
      fault?.message,
      '0.000000001, reference_surcharge.price of "m", times 0.5 has more than 9 decimals'
    )
    // Times a million, as a price per million tokens is written, it would be above the largest amount.
    const dear = surcharged("900000")
    assert.deepStrictEqual(priceListFaults(terms({ factor: "2" }), dear, builtInProtocols), [])
  })

  it("that does not fit names the nearest factors, which do", () => {
    const faults = priceListFaults(
      terms({ factor: "0.3333" }),
      catalogOf(tokens("46.1")),
      builtInProtocols
    )
    const [, near = ""] = /fits every price: (.*)$/.exec(faults[0]?.message ?? "") ?? []
    assert.deepStrictEqual(near.split(" or "), ["0.33", "0.34"])
    for (const factor of near.split(" or ")) assert.isTrue(isExact(tokens("46.1"), factor))
  })

  it("leaves an order without a price where it does not fit all the same", () => {
    const [model] = catalogOf(seconds("0.000000001")).models
    if (model === undefined) return assert.fail()
    const priced = priceModel(terms({ factor: "0.5" }), model)
    assert.deepInclude(priced, { isListed: true })
    assert.notProperty(priced.model, "prices")
  })
})

describe("own prices", () => {
  it("stand for their model alone, whatever its id", () => {
    const [model] = catalogOf(seconds("1"), { id: "constructor" }).models
    if (model === undefined) return assert.fail()
    assert.deepStrictEqual(priceModel(terms({ prices: {} }), model), { model, isListed: false })
    const listed = priceModel(terms({ prices: { constructor: seconds("2") } }), model)
    assert.isTrue(listed.isListed)
  })

  it("are decoded like a model's", () => {
    const decoded = Schema.decodeUnknownResult(PriceListTerms)({
      prices: { m: { kind: "second_video", per_second: { "720p": "0" } } }
    })
    assert.isTrue(Result.isFailure(decoded))
  })
})
