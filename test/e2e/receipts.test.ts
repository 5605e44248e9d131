import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { sumOf, toDecimal, toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, finishVideo, orderImages } from "../support/orders.ts"

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, charge: Schema.String })),
  has_more: Schema.Boolean
})

const newest = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
  return data[0]?.id ?? ""
})

const Entry = Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  amount: Schema.String,
  debit: Schema.String,
  credit: Schema.String,
  at: Schema.String
})
const Receipt = Schema.StructWithRest(
  Schema.Struct({ id: Schema.String, charge: Schema.String, entries: Schema.Array(Entry) }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const receiptOf = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/usage/${id}`, { key: who.key })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Receipt, answer)
})

/** What the entries leave on an account. */
const fold = (entries: ReadonlyArray<typeof Entry.Type>, account: string): string =>
  toDecimal(
    sumOf(
      entries.map(({ amount, debit, credit }) =>
        credit === account ? toNano(amount) : debit === account ? -toNano(amount) : 0n
      )
    )
  )

const csv = (path: string, who: Customer, accept = "text/csv") =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(path, { key: who.key, headers: { accept } }))

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`receipts (${kind})`, (it) => {
    it.effect("a charge by tokens is told from its quote to its journal entries", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1" })
        yield* finishVideo(who, id)
        const { entries, created_at: _, ...receipt } = yield* receiptOf(who, yield* newest(who))
        assert.deepStrictEqual(receipt, {
          object: "receipt",
          id: `us_${id}`,
          task_id: id,
          model: "film-1",
          modality: "video",
          currency: "CNY",
          hold: "4.968",
          charge: "5.0094",
          difference: "0.0414",
          overage: "0.0414",
          unit: "token",
          unit_price: "0.000046",
          units: 108_900,
          input_units: 0,
          input_unit_price: null,
          basis: "upstream_usage",
          resolution: "720p",
          tier: "base",
          inputs: {
            input_seconds: 0,
            output_seconds: 5,
            tokens_per_second: 21_600,
            estimated_tokens: 108_000,
            with_video: false,
            smart: false
          },
          formula: "(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968",
          corrected: "0",
          corrections: [],
          metadata: {},
          explanation:
            "The vendor reported 108900 completion tokens at 0.000046 CNY each; 4.968 was held, so 0.0414 more was charged than held."
        })
        assert.deepStrictEqual(
          entries.map((entry) => `${entry.kind} ${entry.amount} ${entry.debit}>${entry.credit}`),
          ["hold 4.968 pool>held", "capture 5.0094 pool>revenue", "release 4.968 held>pool"]
        )
        assert.deepStrictEqual(
          ["pool", "held", "revenue"].map((account) => fold(entries, account)),
          ["-5.0094", "0", "5.0094"]
        )
        const journal = yield* gateway.admin(`/organizations/${who.organizationId}/ledger`)
        for (const entry of entries) assert.include(journal.text, `"id":"${entry.id}"`)
      })
    )

    it.effect("charges by the formula, by seconds and by images say why", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* finishVideo(
          who,
          yield* createVideo(who, { model: "film-1", prompt: "x sim:nousage" })
        )
        assert.deepInclude(yield* receiptOf(who, yield* newest(who)), {
          basis: "formula",
          difference: "0",
          explanation:
            "The vendor reported no usable token count, so the formula applies: (0 + 5) s x 21600 tokens/s x 0.000046 = 4.968, at 0.000046 CNY each; exactly the 4.968 that was held was charged."
        })
        yield* finishVideo(who, yield* createVideo(who, { model: "clip-1", duration: 8 }))
        assert.deepInclude(yield* receiptOf(who, yield* newest(who)), {
          basis: "ordered_seconds",
          units: 8,
          inputs: { seconds: 8 },
          explanation:
            "The ordered seconds count, whatever the vendor reports: 8 s x 0.6 = 4.8 CNY at 720p; exactly the 4.8 that was held was charged."
        })
        yield* orderImages(who, { model: "paint-1", n: 2 })
        assert.deepInclude(yield* receiptOf(who, yield* newest(who)), {
          basis: "requested_images",
          task_id: null,
          inputs: { images: 2 },
          explanation:
            "The number in the request counts, whatever the vendor returns: 2 images x 0.2 = 0.4 CNY; exactly the 0.4 that was held was charged."
        })
      })
    )

    it.effect("are for the member who was charged, and for the operator", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const stranger = yield* gateway.customer("10")
        const Created = Schema.Struct({ id: Schema.String })
        const colleague = yield* bodyAs(
          Created,
          yield* gateway.admin(`/organizations/${who.organizationId}/members`, {
            json: { name: "colleague" }
          })
        )
        const { key } = yield* bodyAs(
          Schema.Struct({ key: Schema.String }),
          yield* gateway.admin(`/members/${colleague.id}/keys`, { json: { name: "k" } })
        )
        yield* orderImages(who, { model: "paint-1" })
        const id = yield* newest(who)
        const refused = [
          yield* gateway.call(`/v1/usage/${id}`, { key: stranger.key }),
          yield* gateway.call(`/v1/usage/${id}`, { key }),
          yield* gateway.call("/v1/usage/us_nobody", { key: who.key }),
          yield* gateway.call("/v1/usage/us_%00", { key: who.key }),
          yield* gateway.admin(`/organizations/${stranger.organizationId}/usage/${id}`)
        ]
        assert.deepStrictEqual([...new Set(refused.map(({ status }) => status))], [404])
        assert.deepStrictEqual([...new Set(refused.map(({ text }) => text))].length, 1)
        assert.deepNestedInclude(refused[0]?.body, { "error.code": "not_found" })
        const own = yield* gateway.call(`/v1/usage/${id}`, { key: who.key })
        const seen = yield* gateway.admin(`/organizations/${who.organizationId}/usage/${id}`)
        const Shown = Schema.Record(Schema.String, Schema.Unknown)
        const { attempts, cost, vendor_bill, reported_cost, cost_difference, ...rest } =
          yield* bodyAs(Shown, seen)
        assert.deepStrictEqual(rest, yield* bodyAs(Shown, own))
        assert.isNull(cost)
        assert.deepStrictEqual([vendor_bill, reported_cost, cost_difference], [null, null, null])
        assert.isArray(attempts)
        const videos = yield* gateway.customer("0", { key: { scopes: ["videos"] } })
        assert.strictEqual((yield* gateway.call(`/v1/usage/${id}`, videos)).status, 403)
      })
    )

    it.effect("usage comes as CSV on request, page by page", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        yield* orderImages(who, { model: "paint-1", n: 2 })
        yield* orderImages(who, { model: "paint-1" })
        const first = yield* csv("/v1/usage?limit=1", who)
        assert.match(first.headers.get("content-type") ?? "", /^text\/csv; charset=utf-8/)
        const columns =
          "id,model,modality,input,output,unit,unit_price,input_unit_price,charge,basis,task_id,created_at,metadata,month"
        const [head, row, end, ...more] = first.text.split("\r\n")
        assert.deepStrictEqual([head, end, more], [columns, "", []])
        assert.match(
          row ?? "",
          /^us_im_[0-9a-f-]{36},paint-1,image,0,1,image,0\.2,,0\.2,requested_images,,20\d\d-[\dT:.-]+Z,,20\d\d-\d\d$/
        )
        const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
        const second = yield* csv(next, who)
        assert.match(second.text.split("\r\n")[1] ?? "", /^us_im_[0-9a-f-]{36},paint-1,image,0,2,/)
        assert.isNull(second.headers.get("link"))

        const whole = yield* gateway.admin(`/organizations/${who.organizationId}/usage`, {
          headers: { accept: "text/csv" }
        })
        const lines = whole.text.split("\r\n")
        const costs = "cost,vendor_bill,reported_cost,cost_difference,price_list"
        assert.strictEqual(lines[0], `${columns},member_id,${costs}`)
        assert.deepStrictEqual(
          lines.slice(1, 3).map((line) => line.replace(/.*Z,,20\d\d-\d\d/, "")),
          [`,${who.memberId},,,,,`, `,${who.memberId},,,,,`]
        )
        const refused = yield* csv("/v1/usage?after=us_nobody", who)
        assert.deepNestedInclude(refused.body, { "error.param": "after" })
      })
    )
  })
}

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the form of usage",
  (it) => {
    it.effect.each([
      ["text/csv", true],
      ["text/csv;q=0.9, application/json;q=0.8", true],
      ["TEXT/CSV, */*", true],
      ["*/*", false],
      ["application/json", false],
      ["text/csv, application/json", false],
      ["text/csv;q=0", false],
      ["text/csv;q=nonsense", false]
    ] as const)("for %s: CSV is %s", ([accept, wanted]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("0")
        const answer = yield* csv("/v1/usage", who, accept)
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.text.startsWith("id,model"), wanted)
        assert.strictEqual(answer.headers.get("vary"), "accept")
      })
    )
  }
)
