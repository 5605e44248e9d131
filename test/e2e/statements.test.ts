/** Statements over HTTP: every form of a month says the same, to those who may read it. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { focusVersions } from "../../src/features/statements/focusRows.ts"
import { Statements } from "../../src/features/statements/Statements.ts"
import { SealedMonthView, StatementView } from "../../src/features/statements/StatementsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
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
import { colleagueOf, createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { createPriceList, putOnList } from "../support/priceLists.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { TALK_PRICES, talk } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, model: Schema.String }))
})

const thisMonth = Effect.map(Clock.currentTimeMillis, (millis) =>
  new Date(millis).toISOString().slice(0, 7)
)

const sumOf = (amounts: ReadonlyArray<string>) =>
  toDecimal(amounts.reduce((sum, amount) => sum + toNano(amount), 0n))

/** Models of every modality, among them a video and an image whose prices depend on the order. */
const everyModel = (simulatorUrl: string): ReturnType<typeof speechCatalog> => {
  const base = speechCatalog(simulatorUrl)
  const models: typeof base.models = [
    { id: "talk-1", modality: "chat", protocol: "openai", prices: TALK_PRICES },
    {
      id: "clip-lines",
      modality: "video",
      protocol: "vp_d",
      prices: {
        kind: "video_table",
        unit: "second",
        lines: [
          { resolution: "720p", price: "0.5" },
          { resolution: "1080p", price: "0.8" }
        ]
      }
    },
    {
      id: "paint-sizes",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: { "*": { "1024x1024": "0.3", "*": "0.4" } } }
    }
  ]
  return {
    channels: base.channels,
    models: [...base.models.filter(({ id }) => id !== "talk-1"), ...models],
    mounts: [
      ...base.mounts,
      { model: "talk-1", channel: "ch-o", upstream_model: "vendor-talk-1" },
      { model: "clip-lines", channel: "ch-d", upstream_model: "vendor-clip-lines" },
      { model: "paint-sizes", channel: "ch-i", upstream_model: "vendor-paint-sizes" }
    ]
  }
}

const rank = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/rerank", {
      key: who.key,
      json: { model: "rank-searches", query: "a harbour", documents: ["a harbour", "a train"] }
    })
  )

/** Sends an order to a route of sounds, and waits for the whole answer. */
const orderAudio = (who: Customer, route: string, body: FormData | string) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async () => {
      const type = typeof body === "string" ? { "content-type": "application/json" } : {}
      const answer = await fetch(`${url}/v1/audio/${route}`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.key}`, ...type },
        body
      })
      await answer.arrayBuffer()
      assert.strictEqual(answer.status, 200)
    })
  )

const speak = (who: Customer) =>
  orderAudio(who, "speech", JSON.stringify({ model: "voice-1", voice: "alloy", input: "hello" }))

const transcribe = (who: Customer) => {
  const form = new FormData()
  form.append("model", "listen-1")
  form.append("file", new Blob([Buffer.from(makeSound("wav", 2000))]), "a.wav")
  return orderAudio(who, "transcriptions", form)
}

/** Orders of every kind, a failure, a correction, a credit and a withdrawal; names with markup. */
const business = Effect.fnUntraced(function* (who: Customer, painter = who) {
  const gateway = yield* Gateway
  const path = `/organizations/${who.organizationId}`
  yield* gateway.admin(path, { method: "PATCH", json: { name: "<img onerror=alert(1)> & Co" } })
  const metadata = { project: '=1+1,"<b>"' }
  const film = { model: "film-1", metadata }
  yield* finishVideo(who, yield* createVideo(who, film))
  yield* finishVideo(who, yield* createVideo(who, { model: "clip-1" }))
  yield* finishVideo(who, yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" }))
  yield* finishVideo(who, yield* createVideo(who, { model: "clip-lines", resolution: "1080p" }))
  yield* orderImages(painter, { model: "paint-1", n: 3, metadata })
  yield* orderImages(who, { model: "paint-sizes", size: "1024x1024" })
  yield* ask(who, talk("hello"))
  yield* rank(who)
  yield* speak(who)
  yield* transcribe(who)
  const usage = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: painter.key }))
  const paint = usage.data.find(({ model }) => model === "paint-1")
  const adjust = (json: object) => gateway.admin(`${path}/adjustments`, { json })
  const why = { reason: "<script>", reference: "c" }
  yield* adjust({ ...why, kind: "correction", amount: "0.2", usage_id: paint?.id })
  yield* adjust({ kind: "credit", amount: "1.5", reason: "a gift", reference: "g" })
  yield* adjust({ kind: "withdrawal", amount: "2", reason: "moved", reference: "w" })
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: everyModel }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`statements (${kind})`, (it) => {
    it.effect("say the same as JSON, as entries, as a page and as FOCUS", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* business(who)
        const month = yield* thisMonth
        const path = `/organizations/${who.organizationId}/statements/${month}`
        const read = (accept: string, more = "") =>
          gateway.admin(`${path}${more}`, { headers: { accept } })
        const statement = yield* bodyAs(StatementView, yield* read("application/json"))
        const { balance } = yield* gateway.balance(who)
        assert.deepInclude(statement, {
          month,
          time_zone: "UTC",
          currency: "CNY",
          sealed: null,
          open_orders: 0,
          opening_balance: "0",
          closing_balance: balance
        })
        const { charges, adjustments, deposits } = statement
        assert.deepStrictEqual(
          [deposits.amount, adjustments.credits.amount, adjustments.withdrawals.amount],
          ["100", "1.5", "2"]
        )
        assert.deepInclude(charges, { count: 9, returned: "0.2" })
        for (const lines of [charges.by_model, charges.by_member]) {
          assert.strictEqual(sumOf(lines.map(({ gross }) => gross)), charges.gross)
          assert.strictEqual(sumOf(lines.map(({ net }) => net)), charges.net)
        }
        assert.strictEqual(
          sumOf(["100", "1.5", "-2", "0.2", `-${charges.gross}`]),
          statement.closing_balance
        )
        assert.deepStrictEqual(
          charges.by_tag.map(({ name, value, count }) => [name, value, count]),
          [["project", '=1+1,"<b>"', 2]]
        )

        const csv = yield* read("text/csv")
        assert.match(csv.headers.get("content-type") ?? "", /^text\/csv/)
        const entries = yield* csvRows(csv.text)
        assert.lengthOf(entries, 2 + 1 + 9 + 3)
        assert.strictEqual(sumOf(entries.map(({ amount }) => amount ?? "")), balance)
        assert.strictEqual(entries.at(-1)?.balance, balance)
        const charged = entries.filter((entry) => entry.kind === "charge")
        assert.strictEqual(sumOf(charged.map(({ amount }) => amount ?? "")), `-${charges.gross}`)

        const focus = yield* focusOf(path)
        assert.deepStrictEqual(
          yield* csvRows((yield* read("text/csv", "/focus")).text),
          focus["1.2"]
        )
        for (const version of focusVersions) {
          // A text is two rows, as input and output have prices of their own.
          assert.lengthOf(focus[version], 1 + charges.count + 2)
          assert.strictEqual(
            sumOf(focus[version].map(({ BilledCost = "" }) => BilledCost)),
            sumOf([charges.net, "-1.5"])
          )
        }
        assert.strictEqual((yield* read("text/csv", "/focus?version=1.4")).status, 400)

        const page = yield* read("text/html,application/xhtml+xml,*/*;q=0.8")
        assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
        assert.match(page.headers.get("content-security-policy") ?? "", /^default-src 'none'/)
        assert.include(page.text, "&lt;img onerror=alert(1)&gt; &amp; Co")
        assert.notMatch(page.text, /<img|<b>|<script/)
        assert.include(page.text, statement.closing_balance)
        assert.include(page.text, "&lt;script&gt;")
        assert.deepStrictEqual(
          adjustments.data.map(({ kind, amount, reason }) => [kind, amount, reason]),
          [
            ["correction", "0.2", "<script>"],
            ["credit", "1.5", "a gift"],
            ["withdrawal", "2", "moved"]
          ]
        )
        yield* gateway.verify
      })
    )

    it.effect("are in FOCUS by service, price and unit, and corrections by their order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const colleague = yield* colleagueOf(who)
        const path = `/organizations/${who.organizationId}/statements/${yield* thisMonth}`
        assert.deepStrictEqual(yield* focusOf(path), { "1.2": [], "1.3": [] })

        yield* business(who, colleague)
        const { "1.2": rows } = yield* focusOf(path)
        assert.deepStrictEqual(
          rows.map((row) => [row.ServiceName, row.SkuPriceId, row.ConsumedUnit]),
          [
            ["Video generation", "film-1/output/PriceTier=base/InputVideo=false", "Tokens"],
            ["Video generation", "clip-1/seconds/Resolution=720p", "Seconds"],
            ["Video generation", "clip-lines/seconds/Resolution=1080p", "Seconds"],
            ["Image generation", "paint-1/images", "Images"],
            ["Image generation", "paint-sizes/images/Quality=*/Size=1024x1024", "Images"],
            ["Language model", "talk-1/input", "Tokens"],
            ["Language model", "talk-1/output", "Tokens"],
            ["Reranking", "rank-searches/searches", "Searches"],
            ["Speech synthesis", "voice-1/characters", "Characters"],
            ["Speech recognition", "listen-1/seconds", "Seconds"],
            ["Image generation", "", ""],
            ["Media gateway", "", ""]
          ]
        )
        assert.strictEqual(rows[2]?.SkuPriceDetails, '{"x_Resolution":"1080p"}')
        const [correction, credit] = rows.slice(-2)
        const paint = rows.find(({ SkuId }) => SkuId === "paint-1")
        const ofOrder = {
          ResourceId: paint?.ResourceId,
          SubAccountId: colleague.memberId,
          SubAccountName: "colleague",
          Tags: JSON.stringify({ project: '=1+1,"<b>"' })
        }
        assert.deepInclude(paint, ofOrder)
        assert.deepInclude(correction, { ...ofOrder, ChargeCategory: "Adjustment" })
        assert.deepInclude(credit, { ChargeCategory: "Credit", ResourceId: "", SubAccountId: "" })
      })
    )

    it.effect("have one id in FOCUS for a price, whatever price list an organisation is on", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const path = `/organizations/${who.organizationId}/statements/${yield* thisMonth}`
        yield* orderImages(who, { model: "paint-1" })
        yield* putOnList(who, yield* createPriceList({ name: "Partner", factor: "0.85" }))
        yield* orderImages(who, { model: "paint-1" })
        const { "1.3": rows } = yield* focusOf(path)
        assert.deepStrictEqual(
          rows.map(({ SkuPriceId, ContractedUnitPrice }) => [SkuPriceId, ContractedUnitPrice]),
          [
            ["paint-1/images", "0.2"],
            ["paint-1/images", "0.17"]
          ]
        )
      })
    )

    it.effect("are read by keys that have the scope, of their own organisation", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const usual = yield* gateway.customer("5")
        const who = yield* gateway.customer("7", { key: { scopes: ["statements"] } })
        const month = yield* thisMonth
        for (const path of ["", `/${month}`, `/${month}/focus`]) {
          const refused = yield* gateway.call(`/v1/statements${path}`, { key: usual.key })
          assert.strictEqual((yield* errorOf(refused)).code, "permission_denied")
          const read = yield* gateway.call(`/v1/statements${path}`, { key: who.key })
          assert.strictEqual(read.status, 200, read.text)
        }
        const statement = yield* bodyAs(
          StatementView,
          yield* gateway.call(`/v1/statements/${month}`, { key: who.key })
        )
        assert.deepInclude(statement, { organization_id: who.organizationId, closing_balance: "7" })
      })
    )

    it.effect("tell the seal, and the list of sealed months", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const statements = yield* Statements
        const who = yield* gateway.customer("7")
        const { organizationId } = who
        const month = yield* thisMonth
        const path = `/organizations/${organizationId}/statements`
        const file = (yield* gateway.admin(`${path}/${month}`, { headers: { accept: "text/csv" } }))
          .text
        const sha256 = createHash("sha256").update(file).digest("hex")
        const seal = { sha256, entries: 1n, openingNano: 0n, closingNano: 7_000_000_000n }
        yield* statements.seal(organizationId, month, seal)
        const { sealed } = yield* bodyAs(StatementView, yield* gateway.admin(`${path}/${month}`))
        assert.deepInclude(sealed, { sha256, entries: 1 })
        const page = yield* bodyAs(list(SealedMonthView), yield* gateway.admin(path))
        assert.deepStrictEqual(page.data, [
          { month, opening_balance: "0", closing_balance: "7", sealed: sealed ?? assert.fail() }
        ])
        const after = yield* gateway.admin(`${path}?after=${month}`)
        assert.deepStrictEqual(after.body, { object: "list", data: [], has_more: false })
      })
    )

    it.effect.each([
      ["/2026-13", 400, "month"],
      ["/2026-1", 400, "month"],
      ["/yesterday", 400, "month"],
      ["/0000-01", 400, "month"],
      ["/2999-01", 404, null],
      ["/1999-01", 404, null],
      ["/1999-01/focus", 404, null],
      ["?after=x", 400, "after"],
      ["?after=1999-01", 400, "after"],
      ["?limit=0", 400, "limit"]
    ])("%s is refused, and named", ([path, status, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* gateway.admin(
          `/organizations/${who.organizationId}/statements${path}`
        )
        assert.strictEqual(answer.status, status, answer.text)
        assert.strictEqual((yield* errorOf(answer)).param, param)
        const unknown = yield* gateway.admin(`/organizations/org_nobody/statements${path}`)
        assert.include([400, 404], unknown.status)
      })
    )
  })
}
