/** Rankings: by tokens and by searches, their quotes, refusals and repeats. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import { focusOf } from "../support/focusFile.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { latestUsage, usageOf } from "../support/usage.ts"

const documents = [
  "Trains leave the station every hour.",
  "The harbour is calm at dawn.",
  { text: "A calm harbour.", source: "a poem" }
]
const query = "When is the harbour calm?"

const rank = (who: Customer, json: object, headers: Record<string, string> = {}) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/rerank", { key: who.key, json: { query, documents, ...json }, headers })
  )

interface Ranked {
  readonly model: string
  readonly results: ReadonlyArray<{
    readonly index: number
    readonly relevance_score: number
    readonly document?: { readonly text: string }
  }>
}

/** The simulator counts a token for four bytes of each text. */
const tokensOf = (...texts: ReadonlyArray<string>) =>
  texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
const counted = tokensOf(
  query,
  ...documents.map((one) => (typeof one === "string" ? one : one.text))
)

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: speechCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`rankings (${kind})`, (it) => {
    it.effect("documents are ranked, and the vendor's tokens charged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* rank(who, {
          model: "rank-tokens",
          top_n: 2,
          return_documents: true,
          metadata: { project: "harbour" }
        })
        assert.strictEqual(answer.status, 200, answer.text)
        const { model, results } = answer.body as Ranked
        assert.strictEqual(model, "rank-tokens")
        assert.sameMembers(
          results.map(({ index }) => index),
          [1, 2]
        )
        assert.isTrue(results.every(({ document }) => document?.text.includes("harbour")))
        const used = yield* latestUsage(who)
        assert.deepInclude(used, {
          unit: "token",
          basis: "upstream_usage",
          input: counted,
          output: 0,
          charge: toDecimal(BigInt(counted) * 800n),
          metadata: { project: "harbour" }
        })
        const receipt = yield* bodyAs(
          ReceiptView,
          yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
        )
        assert.isTrue(toNano(receipt.hold) >= toNano(receipt.charge))
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["no count", "sim:nousage", "formula"],
      ["a count below the text", "sim:usage=1", "formula"],
      ["a count above what there is", "sim:usage=90000000", "largest_plausible"]
    ] as const)("%s is charged by size", ([, words, basis]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const long = `${words} ${"The harbour is calm. ".repeat(20)}`
        yield* rank(who, { model: "rank-tokens", query: long })
        const used = yield* latestUsage(who)
        assert.deepInclude(used, { basis })
        assert.isAbove(used.input, 100)
        assert.isBelow(used.input, 10_000)
        yield* gateway.verify
      })
    )

    it.effect.each([
      [1, 1],
      [100, 1],
      [101, 2],
      [250, 3]
    ] as const)("%i documents are %i searches", ([count, searches]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = {
          model: "rank-searches",
          query,
          documents: Array.from({ length: count }, (_, index) => `document ${index}`)
        }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        const charge = toDecimal(BigInt(searches) * 2_000_000n)
        assert.deepNestedInclude(quote.body, {
          kind: "searches",
          unit: "search",
          hold: charge,
          expected_charge: charge,
          "inputs.documents": count
        })
        yield* rank(who, json)
        const used = yield* latestUsage(who)
        assert.deepInclude(used, {
          unit: "search",
          output: searches,
          charge,
          basis: "requested_searches"
        })
        const receipt = yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
        assert.deepInclude(receipt.body, { hold: charge })
        yield* gateway.verify
      })
    )

    it.effect("a repeat under its key is paid once", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const headers = { "idempotency-key": "ranked" }
        const first = yield* rank(who, { model: "rank-searches" }, headers)
        const second = yield* rank(who, { model: "rank-searches" }, headers)
        assert.deepStrictEqual(second.body, first.body)
        assert.lengthOf(yield* usageOf(who), 1)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a refusal", "sim:refuse=400", 400],
      ["an empty account of ours", "sim:refuse=402", 502],
      ["a failure", "sim:http500", 502],
      ["a vendor that hangs up", "sim:lost", 502]
    ] as const)("%s costs nothing", ([, words, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* rank(who, { model: "rank-tokens", query: words })
        assert.strictEqual(answer.status, status, answer.text)
        assert.lengthOf(yield* usageOf(who), 0)
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["no documents", { documents: [] }, "documents"],
      ["a document without a text", { documents: [{ title: "a" }] }, "documents[0].text"],
      ["no query", { query: "" }, "query"],
      ["no results", { top_n: 0 }, "top_n"]
    ] as const)("%s are refused with their field", ([, json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* rank(who, { model: "rank-tokens", ...json })
        assert.strictEqual(answer.status, 400)
        assert.deepNestedInclude(answer.body, { "error.code": "invalid_request" })
        assert.strictEqual(
          (answer.body as { readonly error: { readonly param: string } }).error.param.split(".")[0],
          param.split(".")[0]
        )
      })
    )

    it.effect("a model that another protocol serves is not ready, and others do not fit", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const closed = yield* gateway.call("/v1/rerank", {
          key: who.key,
          json: { model: "rank-1" }
        })
        assert.deepNestedInclude(closed.body, { "error.code": "modality_not_ready" })
        const elsewhere = yield* gateway.call("/v1/chat/completions", {
          key: who.key,
          json: { model: "rank-1", messages: [{ role: "user", content: "a" }] }
        })
        assert.deepNestedInclude(elsewhere.body, { "error.code": "modality_not_ready" })
        const open = yield* gateway.call("/v1/chat/completions", {
          key: who.key,
          json: { model: "rank-tokens", messages: [{ role: "user", content: "a" }] }
        })
        assert.deepNestedInclude(open.body, { "error.code": "modality_mismatch" })
        const other = yield* rank(who, { model: "paint-1" })
        assert.deepNestedInclude(other.body, { "error.code": "modality_mismatch" })
      })
    )

    it.effect("the books of a month come to the charges, under another price too", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        yield* rank(who, { model: "rank-tokens" })
        yield* rank(who, { model: "rank-searches" })
        const charged = (yield* usageOf(who)).reduce((sum, { charge }) => sum + toNano(charge), 0n)
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const path = `/organizations/${who.organizationId}/statements/${month}`
        const statement = yield* gateway.admin(path)
        assert.deepNestedInclude(statement.body, { "charges.gross": toDecimal(charged) })
        const { "1.2": focus } = yield* focusOf(path)
        assert.strictEqual(
          focus.reduce((sum, { BilledCost = "" }) => sum + toNano(BilledCost), 0n),
          charged
        )
        assert.deepInclude(
          focus.find(({ SkuMeter }) => SkuMeter === "searches"),
          { PricingUnit: "Searches", ServiceName: "Reranking" }
        )
        const base = speechCatalog(gateway.simulator.url)
        const dearer = {
          ...base,
          models: base.models.map((model) =>
            model.id === "rank-searches"
              ? { ...model, prices: { kind: "searches" as const, per_thousand_searches: "3" } }
              : model
          )
        }
        const preview = yield* gateway.admin(
          `/catalog/preview?replay=${month}&organization_id=${who.organizationId}`,
          { json: dearer }
        )
        const { replay } = preview.body as {
          readonly replay: { readonly data: ReadonlyArray<{ readonly model: string }> }
        }
        assert.deepInclude<unknown>(
          replay.data.find(({ model }) => model === "rank-searches"),
          { charge_before: "0.002", charge_after: "0.003", unpriced: 0, cost_after: "0.002" }
        )
      })
    )
  })
}
