/** Images that are billed by tokens: whole, streamed, edited, in the background, and by liars. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { CatalogReplay } from "../../src/features/catalog/CatalogReplay.ts"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { csvRows } from "../support/csvRows.ts"
import { databasesInTurn } from "../support/databases.ts"
import { focusOf } from "../support/focusFile.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"

const PRICES = {
  kind: "image_tokens",
  per_million_text_input: "5",
  per_million_image_input: "10",
  per_million_image_output: "40",
  most_output_tokens: { low: { "*": 272 }, "*": { "*": 4160 } },
  most_image_input_tokens: 1000
} as const

type Catalog = ReturnType<typeof testCatalog>
type Prices = NonNullable<Catalog["models"][number]["prices"]>

const CACHED = { ...PRICES, per_million_cached_input: "1.25" } as const

/**
 * Models by tokens: `paint-1`, one with a price of cached input, and one whose vendor makes one
 * image a call; and a model by the number of images.
 */
const catalogOf = (
  simulatorUrl: string,
  { single = simulatorUrl, cached = CACHED, plain }: Partial<Changes> = {}
): Catalog => {
  const base = testCatalog(simulatorUrl)
  const priced = { modality: "image", protocol: "ip_a" } as const
  return {
    ...base,
    channels: [
      ...base.channels,
      { id: "ch-single", name: "Single", base_url: `${single}/ip_a/v1`, api_key: "vendor-key-s" }
    ],
    models: [
      ...base.models.map((model) =>
        model.id === "paint-1" ? { ...model, prices: PRICES } : model
      ),
      { ...priced, id: "paint-cached", prices: cached },
      { ...priced, id: "paint-single", prices: PRICES },
      { ...priced, id: "paint-plain", prices: plain ?? { kind: "image", per_image: "0.2" } }
    ],
    mounts: [
      ...base.mounts,
      { model: "paint-cached", channel: "ch-i", cost: CACHED },
      { model: "paint-single", channel: "ch-single", upstream_model: "doubao-seedream-4-5" },
      { model: "paint-plain", channel: "ch-i" }
    ]
  }
}

interface Changes {
  /** The address of the vendor that makes one image a call. */
  readonly single: string
  readonly cached: Prices
  readonly plain: Prices
}

const catalogFor = (simulatorUrl: string): Catalog => catalogOf(simulatorUrl)

const image = "https://media.test/a.png"

const order = (who: Customer, json: object, path = "generations", headers = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/images/${path}`, {
      key: who.key,
      json: { model: "paint-1", ...json },
      headers
    })
  )

const latest = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const usage = yield* gateway.call("/v1/usage?limit=1", { key: who.key })
    const { data } = yield* bodyAs(list(UsageEntry), usage)
    return data[0] ?? assert.fail("no usage")
  })

const chargeOf = (text: number, images: number, output: number, cached = 0) =>
  toDecimal(
    BigInt(text) * 5000n +
      BigInt(images) * 10_000n +
      BigInt(cached) * 1250n +
      BigInt(output) * 40_000n
  )

const receiptOf = (who: Customer, id: string) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    return yield* bodyAs(ReceiptView, yield* gateway.call(`/v1/usage/${id}`, { key: who.key }))
  })

const present = Effect.map(DateTime.now, (now) => DateTime.formatIsoDateUtc(now).slice(0, 7))

/** The sums of the customer's orders under a catalog, by model. */
const replayed = (who: Customer, catalog: Catalog) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const query = `replay=${yield* present}&organization_id=${who.organizationId}`
    const answer = yield* gateway.admin(`/catalog/preview?${query}`, { json: catalog })
    const { replay } = yield* bodyAs(Schema.Struct({ replay: CatalogReplay }), answer)
    return (model: string) =>
      replay.data.find((sum) => sum.model === model) ?? assert.fail(answer.text)
  })

const answered = { created: 1767225600, data: [{ url: "https://files.test/1.png" }] }
const silent: Reply = { body: answered }
/** The answer of a vendor that makes one image a call, with its tokens. */
const drawn = (output_tokens: number): Reply => ({
  body: {
    ...answered,
    usage: {
      input_tokens: 10,
      output_tokens,
      input_tokens_details: { text_tokens: 10, image_tokens: 0 }
    }
  }
})
const busy: Reply = {
  status: 429,
  body: { error: { code: "ModelAccountIpmRateLimitExceeded", message: "too many", type: "x" } }
}

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`images by tokens (${kind})`, (it) => {
    it.effect.each([
      ["an image", { prompt: "a sim:image-tokens=900" }, "generations", 0, 900],
      ["four images", { prompt: "a sim:image-tokens=900", n: 4 }, "generations", 0, 3600],
      [
        "images in base64",
        { prompt: "a sim:image-tokens=900", response_format: "b64_json" },
        "generations",
        0,
        900
      ],
      ["an edit", { prompt: "a sim:image-tokens=900", image }, "edits", 300, 900],
      [
        "a streamed image",
        { prompt: "a sim:image-tokens=900", stream: true },
        "generations",
        0,
        900
      ]
    ] as const)("%s is charged by the vendor's count", ([, json, path, images, output]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* order(who, json, path)
        assert.strictEqual(answer.status, 200, answer.text)
        const used = yield* latest(who)
        assert.deepInclude(used, {
          basis: "upstream_usage",
          unit: "token",
          input: 12 + images,
          output,
          charge: chargeOf(12, images, output)
        })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["no usage", "a", "formula", false],
      ["too little for an image", "a sim:image-tokens=3", "formula", true],
      ["more than the image can have", "a sim:image-tokens=90000", "largest_plausible", true]
    ] as const)("a vendor that reports %s is bounded by the hold", ([, prompt, basis, isOrphan]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { model: "paint-1", prompt, image, quality: "low" }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        assert.deepNestedInclude(quote.body, {
          kind: "image_tokens",
          "inputs.image_tokens": 1000,
          "inputs.output_tokens": 272
        })
        yield* order(who, json)
        const used = yield* latest(who)
        const receipt = yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
        assert.deepInclude(used, { basis, output: 272 })
        assert.deepNestedInclude(receipt.body, { hold: (quote.body as { hold: string }).hold })
        assert.isTrue(toNano(used.charge) <= toNano((quote.body as { hold: string }).hold))
        const orphans = yield* gateway.admin(`/orphans?limit=100`)
        assert.strictEqual(orphans.text.includes(used.id.slice("us_".length)), isOrphan)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["after two of four images", "sim:image-tokens=900 sim:breaks=2", "upstream_usage", 2],
      ["by an error after one image", "sim:image-tokens=900 sim:errors=1", "upstream_usage", 1],
      ["with a count that is too small", "sim:image-tokens=3 sim:breaks=2", "formula", 2]
    ] as const)("a stream that is cut %s is charged for the finished images", (cut) =>
      Effect.gen(function* () {
        const [, switches, basis, images] = cut
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* order(who, { prompt: `a ${switches}`, n: 4, stream: true })
        assert.lengthOf(answer.text.match(/"b64_json"/g) ?? [], images)
        assert.include(answer.text, '"upstream_error"')
        const used = yield* latest(who)
        const isCounted = basis === "upstream_usage"
        assert.deepInclude(used, { basis, output: images * (isCounted ? 900 : 4160) })
        if (isCounted) assert.strictEqual(used.charge, chargeOf(12 * images, 0, 900 * images))
        assert.deepInclude(yield* gateway.balance(who), { held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a stream that is cut before an image is finished is charged as held", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { prompt: "a sim:breaks=1", n: 2, stream: true, partial_images: 1 }
        yield* order(who, json)
        const used = yield* latest(who)
        const { hold } = yield* receiptOf(who, used.id)
        assert.deepInclude(used, { basis: "formula", output: 2 * 4260, charge: hold })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["all calls succeed", [drawn(900), drawn(800), drawn(700)], "upstream_usage", 30, 2400],
      ["one call fails", [drawn(900), busy, drawn(700)], "upstream_usage", 20, 1600],
      ["all other calls fail", [drawn(900), "cut", busy], "upstream_usage", 10, 900],
      // Three tokens of text are held for each call.
      ["a call counts nothing", [drawn(900), busy, silent], "formula", 6, 2 * 4160]
    ] as const)(
      "of images that are made one by one, where %s",
      ([, replies, basis, text, output]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          let calls = 0
          const vendor = yield* brokenVendor(() => replies[calls++] ?? "reset")
          const json = catalogOf(gateway.simulator.url, { single: vendor.url })
          const headers = { "if-match": "*" }
          yield* gateway.admin("/catalog", { method: "PUT", json, headers })
          const answer = yield* order(who, { model: "paint-single", prompt: "a", n: 3 })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(calls, 3)
          const used = yield* latest(who)
          assert.deepInclude(used, {
            basis,
            input: text,
            output,
            charge: chargeOf(text, 0, output)
          })
          yield* gateway.verify
        })
    )

    it.effect(
      "every book of a month comes to the charges, with cached input of text and images",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const model = "paint-cached"
          yield* order(who, { model, prompt: "a sim:image-tokens=900 sim:cached=7" })
          // Of the cached input, 12 tokens are all of the text, and 8 of the image.
          yield* order(
            who,
            { model, prompt: "a sim:image-tokens=800 sim:cached=20", image },
            "edits"
          )
          yield* order(who, { model, prompt: "a sim:image-tokens=700", n: 2 })
          const usage = yield* bodyAs(
            list(UsageEntry),
            yield* gateway.call("/v1/usage", { key: who.key })
          )
          const [plain, edited, cached] = usage.data
          assert.deepStrictEqual(
            [cached?.charge, edited?.charge, plain?.charge],
            [chargeOf(5, 0, 900, 7), chargeOf(0, 292, 800, 20), chargeOf(12, 0, 1400)]
          )
          const part = (kind: string, units: number, unit_price: string) => ({
            kind,
            units,
            unit_price
          })
          for (const [record, parts] of [
            [cached, [part("cached_input", 7, "0.00000125")]],
            [edited, [part("cached_input", 20, "0.00000125"), part("image_input", 292, "0.00001")]],
            [plain, undefined]
          ] as const) {
            assert.deepStrictEqual<unknown>(record?.parts, parts)
            const receipt = yield* receiptOf(who, record?.id ?? "")
            assert.deepStrictEqual([receipt.parts, receipt.charge], [record?.parts, record?.charge])
            assert.include(receipt.explanation, ` = ${record?.charge} CNY`)
          }

          const charged = usage.data.reduce((sum, { charge }) => sum + toNano(charge), 0n)
          const path = `/organizations/${who.organizationId}/statements/${yield* present}`
          const statement = yield* gateway.admin(path)
          assert.deepNestedInclude(statement.body, { "charges.gross": toDecimal(charged) })
          const { "1.2": focus } = yield* focusOf(path)
          for (const { PricingQuantity = "", ListUnitPrice = "", BilledCost } of focus) {
            assert.strictEqual(
              toDecimal(BigInt(PricingQuantity) * toNano(ListUnitPrice)),
              BilledCost
            )
          }
          assert.strictEqual(
            focus.reduce((sum, { BilledCost = "" }) => sum + toNano(BilledCost), 0n),
            charged
          )
          assert.deepStrictEqual([...new Set(focus.map(({ SkuMeter }) => SkuMeter))].toSorted(), [
            "cached_input",
            "image_input",
            "input",
            "output"
          ])
          const file = yield* csvRows(
            (yield* gateway.admin(path, { headers: { accept: "text/csv" } })).text
          )
          const rows = file.filter((row) => row.kind === "charge")
          assert.strictEqual(
            rows.reduce((sum, { amount = "" }) => sum - toNano(amount), 0n),
            charged
          )
          assert.deepStrictEqual(
            rows.map(({ parts }) => parts),
            [
              '{"cached_input":"7 x 0.00000125"}',
              '{"cached_input":"20 x 0.00000125","image_input":"292 x 0.00001"}',
              ""
            ]
          )
          yield* gateway.verify
        })
    )

    it.effect("replays price what was counted: tokens of images by tokens, and their number", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { url } = gateway.simulator
        const who = yield* gateway.customer("20")
        const model = "paint-cached"
        yield* order(who, { model, prompt: "a sim:image-tokens=200 sim:cached=7", quality: "low" })
        yield* order(who, { model, prompt: "a sim:image-tokens=800", n: 3, image }, "edits")
        yield* order(who, { model: "paint-plain", prompt: "a", n: 2 })
        const charge = toDecimal(toNano(chargeOf(5, 0, 200, 7)) + toNano(chargeOf(12, 300, 2400)))
        const same = (yield* replayed(who, catalogFor(url)))(model)
        assert.deepInclude(same, { charge_before: charge, charge_after: charge, unpriced: 0 })
        assert.strictEqual(same.cost_after, same.cost_before)

        const dearer = {
          ...CACHED,
          per_million_cached_input: "2.25",
          per_million_image_input: "11"
        }
        const byOtherTokens = (yield* replayed(who, catalogOf(url, { cached: dearer })))(model)
        assert.strictEqual(toNano(byOtherTokens.difference), 7n * 1000n + 300n * 1000n)

        // An order by tokens has the facts that prices per image need: its number, its quality and
        // size as ordered, and whether it has input images.
        const perImage: Prices = {
          kind: "image",
          per_image: [
            { price: "0.5" },
            { quality: "low", price: "0.1" },
            { edit: true, price: "0.3" },
            { quality: "low", edit: true, price: "0.2" }
          ]
        }
        const byNumber = yield* replayed(who, catalogOf(url, { cached: perImage }))
        assert.deepInclude(byNumber(model), { charge_after: "1", unpriced: 0, without_cost: 0 })
        // Tokens of an order by its number of images were not counted.
        const byTokens = yield* replayed(who, catalogOf(url, { plain: PRICES }))
        assert.deepInclude(byTokens("paint-plain"), { charge_after: "0", unpriced: 1, count: 1 })
      })
    )

    it.effect("images in the background are charged when they are there", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { prompt: "a sim:image-tokens=900" }
        const accepted = yield* order(who, json, "generations", { prefer: "respond-async" })
        assert.strictEqual(accepted.status, 202, accepted.text)
        const { id } = accepted.body as { id: string }
        yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
        assert.deepInclude(yield* latest(who), { charge: chargeOf(12, 0, 900) })
        yield* gateway.verify
      })
    )
  })
}
