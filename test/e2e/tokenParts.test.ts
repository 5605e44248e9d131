/** Chats whose cached and audio tokens have prices of their own: every book of them agrees. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { csvRows } from "../support/csvRows.ts"
import { databasesInTurn } from "../support/databases.ts"
import { focusOf } from "../support/focusFile.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { Completion, TALK_PRICES, talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

type Catalog = typeof CatalogWrite.Encoded

const PRICES = {
  ...TALK_PRICES,
  per_million_cached_input: "0.5",
  per_million_audio_input: "32",
  per_million_audio_output: "64"
} as const

/** The tests' catalog, in which one text model has prices for cached and audio tokens. */
const pricedCatalog =
  (cached: string = PRICES.per_million_cached_input) =>
  (simulatorUrl: string): Catalog => {
    const base = textCatalog()(simulatorUrl)
    return {
      ...base,
      models: base.models.map((model) =>
        model.id === "talk-1"
          ? { ...model, prices: { ...PRICES, per_million_cached_input: cached } }
          : model
      ),
      mounts: base.mounts.map((mount) =>
        mount.model === "talk-1"
          ? { ...mount, cost: { ...PRICES, per_million_cached_input: "0.1" } }
          : mount
      )
    }
  }

const latest = (who: Customer) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const usage = yield* gateway.call("/v1/usage?limit=1", { key: who.key })
    const { data } = yield* bodyAs(list(UsageEntry), usage)
    return data[0] ?? assert.fail("no usage")
  })

const receiptOf = (who: Customer, id: string) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    return yield* bodyAs(ReceiptView, yield* gateway.call(`/v1/usage/${id}`, { key: who.key }))
  })

/** The charge in nano-units: the base tokens at 2 and 8, and the parts at 0.5, 32 and 64 a million. */
const chargeOf = (input: number, output: number, cached: number, audio: number) =>
  toDecimal(
    BigInt(input - cached - audio) * 2000n +
      BigInt(output) * 8000n +
      BigInt(cached) * 500n +
      BigInt(audio) * 32_000n
  )

const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: pricedCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`tokens with a price of their own (${kind})`, (it) => {
    it.effect.each([false, true])("cached tokens are charged at their price, stream %s", (stream) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const prompt = `${"a long and repeated prefix ".repeat(10)} sim:cached=40`
        const answer = yield* ask(who, talk(prompt, { stream }))
        assert.strictEqual(answer.status, 200, answer.text)
        const used = yield* latest(who)
        assert.deepInclude(used, {
          basis: "upstream_usage",
          unit_price: "0.000008",
          input_unit_price: "0.000002",
          charge: chargeOf(used.input, used.output, 40, 0)
        })
        assert.deepStrictEqual(used.parts, [
          { kind: "cached_input", units: 40, unit_price: "0.0000005" }
        ])
        const receipt = yield* receiptOf(who, used.id)
        assert.deepStrictEqual(receipt.parts, used.parts)
        assert.include(
          receipt.explanation,
          `The vendor reported what it read and wrote: ${used.input - 40} input tokens x 0.000002 + ` +
            `40 cached input tokens x 0.0000005 + ${used.output} output tokens x 0.000008 = ${used.charge}`
        )
        yield* gateway.verify
      })
    )

    it.effect("a vendor's usage is passed on unchanged, and its totals are the order's", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const { usage } = yield* bodyAs(
          Completion,
          yield* ask(who, talk("some words for it sim:cached=3"))
        )
        const used = yield* latest(who)
        assert.deepStrictEqual(
          [used.input, used.output],
          [usage?.prompt_tokens, usage?.completion_tokens]
        )
      })
    )

    it.effect("audio is held for at its price, and charged by the vendor's count of it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const content = [{ type: "text", text: "what is said? sim:audio-input=5" }, sound]
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json: talk(content) })
        assert.deepNestedInclude(quote.body, {
          cached_input_unit_price: "0.0000005",
          audio_input_unit_price: "0.000032"
        })
        const { hold } = yield* bodyAs(Schema.Struct({ hold: Schema.String }), quote)
        yield* ask(who, talk(content))
        const used = yield* latest(who)
        assert.strictEqual(used.charge, chargeOf(used.input, used.output, 0, 5))
        const receipt = yield* receiptOf(who, used.id)
        assert.strictEqual(receipt.hold, hold)
        assert.isTrue(toNano(hold) >= toNano(used.charge))
        yield* gateway.verify
      })
    )

    it.effect("a count that cannot be right is bounded by the total, and an operator sees it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        yield* ask(who, talk("nothing was heard here sim:cached=9999"))
        const lied = yield* latest(who)
        assert.strictEqual(lied.basis, "largest_plausible")
        assert.strictEqual(lied.charge, chargeOf(lied.input, lied.output, lied.input, 0))
        yield* ask(who, talk("nothing was heard here sim:audio-input=5"))
        const unheard = yield* latest(who)
        assert.strictEqual(unheard.charge, chargeOf(unheard.input, unheard.output, 0, 0))
        assert.isUndefined(unheard.parts)
        const orphans = yield* gateway.admin("/orphans?limit=100")
        assert.include(orphans.text, "implausible_usage")
        yield* gateway.verify
      })
    )

    it.effect("the statement, FOCUS and the file of a month come to the ledger's charge", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        yield* ask(who, talk("a chat with a long prefix sim:cached=7"))
        yield* ask(
          who,
          talk([{ type: "text", text: "heard sim:audio-input=2 sim:cached=3" }, sound])
        )
        yield* ask(who, talk("a chat without a part"))
        const usage = yield* bodyAs(
          list(UsageEntry),
          yield* gateway.call("/v1/usage", { key: who.key })
        )
        const charged = usage.data.reduce((sum, { charge }) => sum + toNano(charge), 0n)
        const path = `/organizations/${who.organizationId}/statements/${month}`
        const csv = { headers: { accept: "text/csv" } }
        const statement = yield* gateway.admin(path)
        assert.deepNestedInclude(statement.body, { "charges.gross": toDecimal(charged) })

        const { "1.2": focus } = yield* focusOf(path)
        const product = ({ PricingQuantity = "", ListUnitPrice = "" }: Record<string, string>) =>
          BigInt(PricingQuantity) * toNano(ListUnitPrice)
        for (const row of focus) assert.strictEqual(toDecimal(product(row)), row.BilledCost)
        assert.strictEqual(
          focus.reduce((sum, { BilledCost = "" }) => sum + toNano(BilledCost), 0n),
          charged
        )
        assert.deepStrictEqual([...new Set(focus.map(({ SkuMeter }) => SkuMeter))].toSorted(), [
          "audio_input",
          "cached_input",
          "input",
          "output"
        ])

        const file = yield* csvRows((yield* gateway.admin(path, csv)).text)
        const rows = file.filter((row) => row.kind === "charge")
        assert.strictEqual(
          rows.reduce((sum, { amount = "" }) => sum - toNano(amount), 0n),
          charged
        )
        assert.deepStrictEqual(
          rows.map(({ parts }) => parts),
          [
            '{"cached_input":"7 x 0.0000005"}',
            '{"cached_input":"3 x 0.0000005","audio_input":"2 x 0.000032"}',
            ""
          ]
        )
        const series = yield* gateway.call("/v1/usage/series", { key: who.key })
        assert.strictEqual(series.status, 200, series.text)
        const tokens = usage.data.reduce((sum, { input, output }) => sum + input + output, 0)
        assert.include(series.text, `"units":${tokens},"unit":"token"`)
      })
    )

    it.effect("another cached price is replayed to the last unit", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const replayOf = (catalog: Catalog) =>
          Effect.gen(function* () {
            const answer = yield* gateway.admin(`/catalog/preview?replay=${month}`, {
              json: catalog
            })
            const { replay } = yield* bodyAs(Replayed, answer)
            return replay.data.find(({ model }) => model === "talk-1") ?? assert.fail(answer.text)
          })
        yield* ask(who, talk("a chat with a long prefix sim:cached=7"))
        const same = yield* replayOf(pricedCatalog()(gateway.simulator.url))
        assert.strictEqual(same.difference, "0")
        assert.strictEqual(same.cost_before, same.cost_after)
        const before = yield* replayOf(pricedCatalog("1.5")(gateway.simulator.url))
        yield* ask(who, talk("a chat with a long prefix sim:cached=11"))
        const after = yield* replayOf(pricedCatalog("1.5")(gateway.simulator.url))
        assert.strictEqual(toNano(after.difference) - toNano(before.difference), 11n * 1000n)
        assert.strictEqual(after.unpriced, 0)
      })
    )
  })
}

const Replayed = Schema.Struct({
  replay: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        model: Schema.String,
        difference: Schema.String,
        cost_before: Schema.String,
        cost_after: Schema.String,
        unpriced: Schema.Int
      })
    )
  })
})
