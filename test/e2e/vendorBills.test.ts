/** What vendors themselves say that they bill, beside the cost by the prices of the mounts. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { CatalogChanges } from "../../src/features/catalog/AdminApi.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { entriesOf, listOf, reconciled } from "../support/vendorLists.ts"

type Catalog = typeof CatalogWrite.Encoded

const perSecond = (price: string) => ({
  kind: "second_video" as const,
  per_second: { "720p": price }
})

interface Way {
  readonly model: string
  readonly protocol: string
  readonly channel?: string
  readonly upstream: string
  /** The price of a unit of the vendor's bill. */
  readonly unitPrice?: string
}

const ways: ReadonlyArray<Way> = [
  { model: "credits", protocol: "vp_e", upstream: "vendor-clip-e", unitPrice: "0.036" },
  { model: "units", protocol: "vp_d", upstream: "vendor-clip-omni" },
  {
    model: "relayed",
    protocol: "vp_d",
    channel: "vp_c",
    upstream: "relay-clip-d",
    unitPrice: "0.123456789"
  },
  { model: "seconds", protocol: "vp_f", upstream: "vendor2.7-t2v", unitPrice: "0.16" }
]

/** A channel at whose address nothing listens, which is called before the others. */
const away = { id: "away", name: "away", base_url: "http://127.0.0.1:9", api_key: "vendor-key" }

const catalogOf = (url: string, used: ReadonlyArray<Way>): Catalog => ({
  channels: [
    ...["vp_a", "vp_c", "vp_d", "vp_e", "vp_f"].map((protocol) => ({
      id: protocol,
      name: protocol,
      base_url: `${url}/${protocol}`,
      api_key: `vendor-key-${protocol}`
    })),
    away
  ],
  models: used.map(({ model, protocol }) => ({
    id: model,
    modality: "video",
    protocol,
    prices: perSecond("0.6")
  })),
  mounts: used.map(({ model, protocol, channel = protocol, upstream, unitPrice }) => ({
    model,
    channel,
    protocol: channel,
    upstream_model: upstream,
    cost: perSecond("0.15"),
    ...(unitPrice === undefined ? {} : { bill_unit_price: unitPrice })
  }))
})

/** The five seconds of each model: what the vendor says, what that costs, and less the cost of 0.75. */
const told = {
  credits: [{ amount: "20", unit: "credit" }, "0.72", "-0.03"],
  units: [{ amount: "3", unit: "unit" }, null, null],
  relayed: [{ amount: "3", unit: "unit" }, "0.370370367", "-0.379629633"],
  seconds: [{ amount: "5", unit: "second" }, "0.8", "0.05"]
} as const

const billOf = (value: unknown) => {
  const { vendor_bill, reported_cost, cost_difference } = Schema.decodeUnknownSync(Told)(value)
  return [vendor_bill, reported_cost, cost_difference]
}
const Told = Schema.Struct({
  vendor_bill: Schema.NullOr(Schema.Struct({ amount: Schema.String, unit: Schema.String })),
  reported_cost: Schema.NullOr(Schema.String),
  cost_difference: Schema.NullOr(Schema.String)
})
const Attempts = Schema.Struct({
  attempts: Schema.Array(
    Schema.Struct({ channel: Schema.String, reason: Schema.NullOr(Schema.String) })
  )
})
const Listed = Schema.Struct({ data: Schema.Array(Schema.Unknown) })
const secret = /bill_|reported|cost|billUnit|"unit":"(?:unit|credit)"/

const made = Effect.fnUntraced(function* (who: Customer, model: string, text = "a lighthouse") {
  const content = [{ type: "text", text }]
  const id = yield* createVideo(who, { model, content, duration: 5, resolution: "720p" })
  const { task_status } = yield* finishVideo(who, id)
  assert.strictEqual(task_status, "succeeded")
  return id
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, undefined, { catalogFor: (url) => catalogOf(url, ways) }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`vendors' own bills (${kind})`, (it) => {
    it.effect.each(Object.entries(told))("of the model %s stand beside its cost", ([model, bill]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const organization = `/organizations/${who.organizationId}`
        const id = yield* made(who, model)

        const seen = [
          yield* gateway.admin(`${organization}/usage/us_${id}`),
          yield* gateway.admin(`/tasks/${id}`)
        ].map(({ body }) => body)
        for (const path of [`${organization}/usage`, "/orders", "/tasks"]) {
          const query = path.endsWith("usage") ? "" : `?organization_id=${who.organizationId}`
          const { data } = yield* bodyAs(Listed, yield* gateway.admin(`${path}${query}`))
          seen.push(...data)
        }
        assert.lengthOf(seen, 5)
        for (const one of seen) assert.deepStrictEqual(billOf(one), [...bill])
        assert.deepInclude(seen[0], { cost: "0.75", charge: "3" })

        const csv = yield* gateway.admin(`${organization}/usage`, {
          headers: { accept: "text/csv" }
        })
        const [, reported] = bill
        assert.match(csv.text, new RegExp(`,${reported ?? ""},`))
        assert.match(csv.text, /,cost,vendor_bill,reported_cost,cost_difference/)
        yield* gateway.verify
      })
    )

    it.effect("are not shown to members", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* made(who, "credits")
        for (const path of [`usage/us_${id}`, "usage", "orders", `orders/${id}`, "usage/series"]) {
          const answer = yield* gateway.call(`/v1/${path}`, { key: who.key })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.notMatch(answer.text, secret)
        }
      })
    )

    it.effect("add up beside the costs, with the charges that have none", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        for (const model of ["credits", "seconds", "units"]) yield* made(who, model)
        const line = {
          count: 3,
          cost: "2.25",
          without_cost: 0,
          reported_cost: "1.52",
          without_reported_cost: 1,
          margin: "6.75"
        }
        const mine = `organization_id=${who.organizationId}`
        const series = yield* gateway.admin(`/usage/series?interval=month&${mine}`)
        assert.deepInclude((yield* bodyAs(Listed, series)).data[0], line)
        const days = "from=2020-01-01&to=2090-12-31&by=organization"
        const costs = yield* gateway.admin(`/costs?${days}`)
        const own = (yield* bodyAs(Listed, costs)).data.find((one) =>
          JSON.stringify(one).includes(who.organizationId)
        )
        assert.deepInclude(own, line)
        yield* gateway.verify
      })
    )

    it.effect("stand beside both sides of a reconciliation", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const upstreamOf = Effect.fnUntraced(function* (model: string) {
          const id = yield* made(who, model)
          const Task = Schema.Struct({ upstream_id: Schema.String })
          return (yield* bodyAs(Task, yield* gateway.admin(`/tasks/${id}`))).upstream_id
        })
        const priced = yield* upstreamOf("credits")
        const { id, totals } = yield* reconciled(listOf([[priced, "0.72"]]), { channel: "vp_e" })
        assert.deepInclude(totals.different, {
          count: 1,
          amount_here: "0.75",
          amount_there: "0.72",
          reported: "0.72"
        })
        const [entry] = yield* entriesOf(id, "different")
        assert.deepInclude(entry, { vendor_id: priced, amount_here: "0.75", reported: "0.72" })
        const csv = yield* gateway.admin(`/reconciliations/${id}/entries?kind=different`, {
          headers: { accept: "text/csv" }
        })
        const [header, row] = csv.text.split("\r\n")
        const place = header?.split(",").indexOf("reported") ?? -1
        assert.strictEqual(row?.split(",")[place], "0.72")

        const unpriced = yield* upstreamOf("units")
        const other = yield* reconciled(listOf([[unpriced, "0.75"]]), { channel: "vp_d" })
        assert.deepInclude(other.totals.matched, { count: 1, reported: "0" })
        const [silent] = yield* entriesOf(other.id, "matched")
        assert.deepInclude(silent, { vendor_id: unpriced, reported: null })
      })
    )

    it.effect("count at the price of the mount that made the order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const base = catalogOf(gateway.simulator.url, ways)
        const [credits = assert.fail("no mount"), ...others] = base.mounts
        const first = { ...credits, channel: away.id, priority: 0, bill_unit_price: "9" }
        const mounts = [first, { ...credits, priority: 1 }, ...others]
        const replace = (json: Catalog) =>
          gateway.admin("/catalog", { method: "PUT", json, headers: { "if-match": "*" } })
        const replaced = yield* replace({ ...base, mounts })
        assert.strictEqual(replaced.status, 200, replaced.text)
        const who = yield* gateway.customer("100")
        const id = yield* made(who, "credits")
        yield* replace(base)
        const receipt = yield* gateway.admin(`/organizations/${who.organizationId}/usage/us_${id}`)
        assert.deepStrictEqual(billOf(receipt.body), [...told.credits])
        const { attempts } = yield* bodyAs(Attempts, receipt)
        assert.deepStrictEqual(attempts, [
          { channel: away.id, reason: "unreachable" },
          { channel: "vp_e", reason: null }
        ])
        yield* gateway.verify
      })
    )

    it.effect("count at the price of the time of the order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const content = [{ type: "text", text: "a lighthouse sim:takes=1" }]
        const id = yield* createVideo(who, {
          model: "credits",
          content,
          duration: 5,
          resolution: "720p"
        })
        const dearer = catalogOf(
          gateway.simulator.url,
          ways.map((way) => ({ ...way, unitPrice: "7" }))
        )
        const silent = { id: "silent", modality: "video" as const, protocol: "vp_a" }
        const mount = { model: "silent", channel: "vp_a", bill_unit_price: "1" }
        const mounts = [...dearer.mounts, mount]
        const replaced = yield* gateway.admin("/catalog", {
          method: "PUT",
          json: { ...dearer, models: [...dearer.models, silent], mounts },
          headers: { "if-match": "*" }
        })
        assert.strictEqual(replaced.status, 200, replaced.text)
        const { warnings } = yield* bodyAs(CatalogChanges, replaced)
        assert.deepStrictEqual(
          warnings.filter(({ path }) => path.endsWith("bill_unit_price")),
          [
            {
              path: "mounts[4].bill_unit_price",
              message: 'vp_a reports no bill for "silent"; the price is not used'
            }
          ]
        )
        yield* finishVideo(who, id)
        const receipt = yield* gateway.admin(`/organizations/${who.organizationId}/usage/us_${id}`)
        assert.deepStrictEqual(billOf(receipt.body), [...told.credits])
      })
    )
  })
}
