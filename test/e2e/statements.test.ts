/** Statements over HTTP: every form of a month says the same, to those who may read it. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { Statements } from "../../src/features/statements/Statements.ts"
import { SealedMonthView, StatementView } from "../../src/features/statements/StatementsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { csvRows } from "../support/csvRows.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, model: Schema.String }))
})

const thisMonth = Effect.map(Clock.currentTimeMillis, (millis) =>
  new Date(millis).toISOString().slice(0, 7)
)

const sumOf = (amounts: ReadonlyArray<string>) =>
  toDecimal(amounts.reduce((sum, amount) => sum + toNano(amount), 0n))

/** Orders of every kind, a failure, a correction, a credit and a withdrawal; names with markup. */
const business = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const path = `/organizations/${who.organizationId}`
  yield* gateway.admin(path, { method: "PATCH", json: { name: "<img onerror=alert(1)> & Co" } })
  const metadata = { project: '=1+1,"<b>"' }
  const film = { model: "film-1", metadata }
  yield* finishVideo(who, yield* createVideo(who, film))
  yield* finishVideo(who, yield* createVideo(who, { model: "clip-1" }))
  yield* finishVideo(who, yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" }))
  yield* orderImages(who, { model: "paint-1", n: 3, metadata })
  yield* ask(who, talk("hello"))
  const usage = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
  const paint = usage.data.find(({ model }) => model === "paint-1")
  const adjust = (json: object) => gateway.admin(`${path}/adjustments`, { json })
  const why = { reason: "<script>", reference: "c" }
  yield* adjust({ ...why, kind: "correction", amount: "0.2", usage_id: paint?.id })
  yield* adjust({ kind: "credit", amount: "1.5", reason: "a gift", reference: "g" })
  yield* adjust({ kind: "withdrawal", amount: "2", reason: "moved", reference: "w" })
})

/** What FOCUS 1.2 makes mandatory, and whether it may be empty. */
const mandatory: Readonly<Record<string, "filled" | "may be empty">> = {
  BilledCost: "filled",
  BillingAccountId: "filled",
  BillingAccountName: "may be empty",
  BillingCurrency: "filled",
  BillingPeriodEnd: "filled",
  BillingPeriodStart: "filled",
  ChargeCategory: "filled",
  ChargeClass: "may be empty",
  ChargeDescription: "may be empty",
  ChargePeriodEnd: "filled",
  ChargePeriodStart: "filled",
  ContractedCost: "filled",
  EffectiveCost: "filled",
  InvoiceIssuerName: "filled",
  ListCost: "filled",
  PricingQuantity: "may be empty",
  PricingUnit: "may be empty",
  ProviderName: "filled",
  PublisherName: "filled",
  ServiceCategory: "filled",
  ServiceName: "filled"
}

/** What version 1.3 makes mandatory beside it; its host may be unknown. */
const mandatoryOf = {
  "1.2": mandatory,
  "1.3": { ...mandatory, ServiceProviderName: "filled", HostProviderName: "may be empty" }
} as const

/** Columns that a version does not know. */
const foreignOf = { "1.2": ["ServiceProviderName", "HostProviderName"], "1.3": [] } as const

const versions = ["1.2", "1.3"] as const

const assertFocusRow = (
  row: Readonly<Record<string, string>>,
  version: (typeof versions)[number]
): void => {
  const columns = Object.keys(row)
  const own = columns.filter((column) => !column.startsWith("x_"))
  assert.deepStrictEqual(own, own.toSorted())
  for (const column of foreignOf[version]) assert.notProperty(row, column)
  for (const [column, rule] of Object.entries(mandatoryOf[version])) {
    assert.property(row, column)
    if (rule === "filled") assert.notStrictEqual(row[column], "", column)
  }
  assert.include(["Usage", "Purchase", "Tax", "Credit", "Adjustment"], row.ChargeCategory)
  assert.include(["", "Correction"], row.ChargeClass)
  assert.include(["One-Time", "Recurring", "Usage-Based"], row.ChargeFrequency)
  for (const column of columns.filter((name) => /Period(?:Start|End)$/.test(name))) {
    assert.match(row[column] ?? "", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  }
  if (row.ChargeCategory !== "Usage") return
  assert.deepStrictEqual([row.ChargeClass, row.PricingUnit], ["", row.ConsumedUnit])
  assert.strictEqual(
    BigInt(row.PricingQuantity ?? "") * toNano(row.ListUnitPrice ?? ""),
    toNano(row.ListCost ?? "")
  )
}

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
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
        assert.deepInclude(charges, { count: 4, returned: "0.2" })
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
        assert.lengthOf(entries, 2 + 1 + 4 + 3)
        assert.strictEqual(sumOf(entries.map(({ amount }) => amount ?? "")), balance)
        assert.strictEqual(entries.at(-1)?.balance, balance)
        const charged = entries.filter((entry) => entry.kind === "charge")
        assert.strictEqual(sumOf(charged.map(({ amount }) => amount ?? "")), `-${charges.gross}`)

        const focusOf = (query: string) =>
          Effect.flatMap(read("text/csv", `/focus${query}`), ({ text }) => csvRows(text))
        assert.deepStrictEqual(yield* focusOf(""), yield* focusOf("?version=1.2"))
        for (const version of versions) {
          const focus = yield* focusOf(`?version=${version}`)
          for (const row of focus) assertFocusRow(row, version)
          // A text is two rows, as input and output have prices of their own.
          assert.lengthOf(focus, 5 + 2)
          assert.strictEqual(
            sumOf(focus.map(({ BilledCost = "" }) => BilledCost)),
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
