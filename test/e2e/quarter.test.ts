/**
 * The books of a quarter, month by month: what was ordered and moved is the measure, and statement,
 * journal, series, usage, FOCUS and receipts all come to it. Orders are priced by the catalog and by
 * two price lists, and a replay of each month under each of them comes to the same. `QUARTER_ORDERS=60000` is the long form.
 */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { PriceListTerms } from "../../src/domain/catalog/PriceList.ts"
import { JournalEntry } from "../../src/features/catalog/AdminApi.ts"
import { ChargedUnits } from "../../src/features/catalog/ChargedUnits.ts"
import { replayUnder } from "../../src/features/catalog/replay.ts"
import { OrphanView } from "../../src/features/history/HistoryApi.ts"
import { sealDueMonths } from "../../src/features/statements/StatementSealer.ts"
import { StatementView } from "../../src/features/statements/StatementsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { sumOf, toDecimal, toNano } from "../support/amounts.ts"
import { csvRows } from "../support/csvRows.ts"
import { layerDatabaseWithClock, onSetClock } from "../support/databaseClock.ts"
import { seedOfDay } from "../support/day.ts"
import { focusOf } from "../support/focusFile.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createPriceList } from "../support/priceLists.ts"
import {
  type Customer,
  chargeUnder,
  liveAQuarter,
  months,
  type QuarterList,
  quarterCatalog,
  quarterCatalogText,
  type Tally
} from "../support/quarter.ts"
import { diceOf } from "../support/randomOrders.ts"

const orders = Number(process.env.QUARTER_ORDERS ?? 700)
const seed = Number(process.env.QUARTER_SEED ?? seedOfDay)
const PATIENCE = orders > 1000 ? 1_800_000 : 300_000

const Series = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      start: Schema.String,
      count: Schema.Int,
      failed: Schema.Int,
      charge: Schema.String,
      returned: Schema.String,
      cost: Schema.String,
      without_cost: Schema.Int,
      model: Schema.optionalKey(Schema.String),
      member: Schema.optionalKey(Schema.String),
      tag: Schema.optionalKey(Schema.String)
    })
  )
})
const Receipt = Schema.Struct({ charge: Schema.String, corrected: Schema.String })

const grossOf = ({ charges }: Pick<Tally, "charges">) => sumOf(charges.map(({ nano }) => nano))

/** What charges come to by a name, as decimals. */
const groupsOf = (charges: Tally["charges"], by: "model" | "memberId" | "tag") =>
  new Map(
    [...Map.groupBy(charges, (charge) => charge[by])].flatMap(([name, own]) =>
      name === null ? [] : [[name, toDecimal(grossOf({ charges: own }))] as const]
    )
  )

/** All of a list, page by page. */
const everyPage = Effect.fnUntraced(function* <S extends Schema.Top & { DecodingServices: never }>(
  path: string,
  entry: S,
  cursor: (entry: S["Type"]) => string
) {
  const gateway = yield* Gateway
  const all: Array<S["Type"]> = []
  let after = ""
  while (true) {
    const page = yield* gateway.admin(`${path}?limit=100${after}`)
    const { data, has_more } = yield* bodyAs(list(entry), page)
    all.push(...data)
    const last = data.at(-1)
    if (!has_more || last === undefined) return all
    after = `&after=${cursor(last)}`
  }
})

/** The usage as CSV, following the links. */
const usageCsv = Effect.fnUntraced(function* (organizationId: string) {
  const gateway = yield* Gateway
  const rows: Array<Readonly<Record<string, string>>> = []
  let next = `/organizations/${organizationId}/usage?limit=100`
  while (next !== "") {
    const page = yield* gateway.admin(next, { headers: { accept: "text/csv" } })
    rows.push(...(yield* csvRows(page.text)))
    next = /^<\/admin\/v1([^>]+)>/.exec(page.headers.get("link") ?? "")?.[1] ?? ""
  }
  return rows
})

const same = (told: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>) =>
  assert.deepStrictEqual([...told].toSorted(), [...expected].toSorted())

const checkMonth = Effect.fnUntraced(function* (
  { organizationId }: Customer,
  month: string,
  tally: Tally,
  before: bigint
) {
  const gateway = yield* Gateway
  const path = `/organizations/${organizationId}/statements/${month}`
  const { charges } = tally
  const [gross, returned, credits] = [grossOf(tally), sumOf(tally.returned), sumOf(tally.credits)]
  const after =
    before + sumOf(tally.deposits) + credits + returned - sumOf(tally.withdrawals) - gross

  const statement = yield* bodyAs(StatementView, yield* gateway.admin(path))
  assert.deepStrictEqual(
    [statement.opening_balance, statement.closing_balance, statement.open_orders],
    [toDecimal(before), toDecimal(after), 0]
  )
  assert.deepInclude(statement.charges, {
    count: charges.length,
    gross: toDecimal(gross),
    returned: toDecimal(returned),
    net: toDecimal(gross - returned)
  })
  // A line that has only orders that failed, or money returned, is no line of charges.
  const { by_model, by_member, by_tag } = statement.charges
  const grossBy = <Line extends { readonly count: number; readonly gross: string }>(
    lines: ReadonlyArray<Line>,
    nameOf: (line: Line) => string
  ) => new Map(lines.flatMap((line) => (line.count > 0 ? [[nameOf(line), line.gross]] : [])))
  same(
    grossBy(by_model, ({ model }) => model),
    groupsOf(charges, "model")
  )
  same(
    grossBy(by_member, ({ member_id }) => member_id),
    groupsOf(charges, "memberId")
  )
  same(
    grossBy(by_tag, ({ value }) => value),
    groupsOf(charges, "tag")
  )

  const entries = (yield* gateway.admin(path, { headers: { accept: "text/csv" } })).text
  const digestOf = (text: string) => createHash("sha256").update(text).digest("hex")
  assert.strictEqual(statement.sealed?.sha256, digestOf(entries))
  assert.notStrictEqual(statement.sealed?.sha256, digestOf(entries.replace("charge", "chargE")))
  const listed = (yield* csvRows(entries)).filter(({ kind }) => kind === "charge")
  assert.deepStrictEqual(
    listed.map(({ id }) => id).toSorted(),
    charges.map(({ usageId }) => usageId).toSorted()
  )
  const { "1.2": focus } = yield* focusOf(path)
  const own = new Set(charges.map(({ usageId }) => usageId))
  for (const { ChargeCategory, ChargeClass, ResourceId = "" } of focus) {
    const isOfEarlier = ChargeCategory === "Adjustment" && !own.has(ResourceId)
    assert.strictEqual(ChargeClass, isOfEarlier ? "Correction" : "")
  }
  assert.strictEqual(
    sumOf(focus.map(({ BilledCost = "" }) => toNano(BilledCost))),
    gross - returned - credits
  )

  const seriesOf = Effect.fnUntraced(function* (query: string) {
    const range = `from=${month}-01&to=${month}-28&interval=month`
    const series = yield* gateway.admin(
      `/usage/series?${range}&organization_id=${organizationId}${query}`
    )
    return (yield* bodyAs(Series, series)).data
  })
  const [whole] = yield* seriesOf("")
  assert.deepInclude(whole, {
    count: charges.length,
    failed: tally.failed,
    charge: toDecimal(gross),
    returned: toDecimal(returned),
    cost: toDecimal(sumOf(charges.map(({ costNano }) => costNano ?? 0n))),
    without_cost: charges.filter(({ costNano }) => costNano === null).length
  })
  const named = (lines: (typeof Series.Type)["data"], by: "model" | "member" | "tag") =>
    new Map(
      lines.flatMap((line) => (line.count === 0 ? [] : [[line[by] ?? "", line.charge] as const]))
    )
  same(named(yield* seriesOf("&by=model"), "model"), groupsOf(charges, "model"))
  same(named(yield* seriesOf("&by=member"), "member"), groupsOf(charges, "memberId"))
  same(named(yield* seriesOf("&by=tag&tag=team"), "tag"), groupsOf(charges, "tag"))
  return after
})

const checkBooks = Effect.fnUntraced(function* (customer: Customer) {
  const gateway = yield* Gateway
  const { organizationId } = customer
  const tallies = [...customer.months]
  let balance = 0n
  for (const [month, tally] of tallies) {
    balance = yield* checkMonth(customer, month, tally, balance)
  }
  const pool = yield* gateway.admin(`/organizations/${organizationId}`)
  assert.include(pool.text, `"balance":"${toDecimal(balance)}"`)
  assert.include(pool.text, '"held":"0"')

  // What the journal has of captures is what was charged, each in the month of its hold.
  const journal = yield* everyPage(
    `/organizations/${organizationId}/ledger`,
    JournalEntry,
    ({ id }) => id
  )
  const into = journal.filter(({ credit }) => credit === "pool")
  const out = journal.filter(({ debit }) => debit === "pool")
  const amountsOf = (entries: typeof journal) => sumOf(entries.map(({ amount }) => toNano(amount)))
  assert.strictEqual(amountsOf(into) - amountsOf(out), balance)
  const held = new Map(
    journal.flatMap(({ kind, hold_id, created_at }) =>
      kind === "hold" ? [[hold_id, created_at.slice(0, 7)] as const] : []
    )
  )
  const captures = journal.filter(({ kind }) => kind === "capture")
  const usage = yield* usageCsv(organizationId)
  for (const [month, tally] of tallies) {
    const gross = grossOf(tally)
    const captured = captures.filter(({ hold_id }) => held.get(hold_id) === month)
    assert.strictEqual(amountsOf(captured), gross)
    const records = usage.filter((record) => record.month === month)
    assert.strictEqual(sumOf(records.map(({ charge = "" }) => toNano(charge))), gross)
    const keys = new Map(customer.members.map(({ memberId, key }) => [memberId, key]))
    const receipts = yield* Effect.forEach(
      tally.charges,
      ({ usageId, memberId }) =>
        Effect.flatMap(
          gateway.call(`/v1/usage/${usageId}`, { key: keys.get(memberId) ?? "" }),
          (answer) => bodyAs(Receipt, answer)
        ),
      { concurrency: 16 }
    )
    assert.strictEqual(sumOf(receipts.map(({ charge }) => toNano(charge))), gross)
  }
  const corrected =
    usage.length === 0 ? 0n : amountsOf(into.filter(({ kind }) => kind === "correction"))
  assert.strictEqual(corrected, sumOf(tallies.flatMap(([, { returned }]) => returned)))
})

/** A factor of all prices, and own prices of all models but the one of images. */
const listTerms = {
  "A factor": { factor: "0.85" },
  "Own prices": {
    prices: {
      "film-1": {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "40.001", with_video: "24.5" } }
      },
      "clip-1": { kind: "second_video", per_second: { "720p": "0.555555555" } },
      "talk-1": { kind: "tokens", per_million_input: "1.5", per_million_output: "6.25" },
      "see-1": { kind: "tokens", per_million_input: "2.5", per_million_output: "11.75" },
      "embed-1": { kind: "tokens", per_million_input: "0.45" },
      "rank-1": { kind: "searches", per_thousand_searches: "1.75" },
      "rank-2": { kind: "tokens", per_million_input: "0.7" },
      "voice-1": { kind: "characters", per_million_characters: "90.5", counts: "han_double" },
      "listen-1": {
        kind: "audio_seconds",
        per_second: "0.000085",
        step_seconds: 15,
        minimum_seconds: 30
      }
    }
  }
}

const createLists = Effect.forEach(Object.entries(listTerms), ([name, terms]) =>
  Effect.map(
    createPriceList({ name, ...terms }),
    (id): QuarterList => ({
      id,
      terms: Schema.decodeUnknownSync(PriceListTerms)(terms)
    })
  )
)

/** Each month replayed as it was, and under each list and none, is what was counted by its prices. */
const checkReplays = Effect.fnUntraced(function* (
  customers: ReadonlyArray<Customer>,
  lists: ReadonlyArray<QuarterList>
) {
  const charged = yield* ChargedUnits
  let differences = 0
  for (const month of months) {
    const groups = yield* charged.readMonth(month)
    const expectedBy = (listOf: (customer: Customer) => QuarterList | null) =>
      sumOf(
        customers.flatMap((customer) =>
          (customer.months.get(month)?.charges ?? []).map(({ model, counted }) =>
            chargeUnder(listOf(customer), model, counted)
          )
        )
      )
    const gross = sumOf(
      customers.map((customer) => grossOf(customer.months.get(month) ?? { charges: [] }))
    )
    const termsOf = (id: string | null) => lists.find((list) => list.id === id)?.terms ?? null
    const present = replayUnder(quarterCatalog, groups, termsOf).totals
    assert.strictEqual(present.chargeBeforeNano, gross)
    assert.strictEqual(present.chargeAfterNano, gross)
    assert.strictEqual(
      expectedBy(({ list }) => list),
      gross
    )
    for (const list of [...lists, null]) {
      const { totals } = replayUnder(quarterCatalog, groups, () => list?.terms ?? null)
      assert.strictEqual(
        totals.chargeAfterNano,
        expectedBy(() => list)
      )
      assert.deepInclude(totals, { chargeBeforeNano: gross, unpriced: 0 })
      if (totals.chargeAfterNano !== gross) differences++
    }
    for (const { organizationId, list, months } of customers) {
      const own = yield* charged.readMonthOf(organizationId, month)
      const { totals } = replayUnder(quarterCatalog, own, () => list?.terms ?? null)
      assert.strictEqual(totals.chargeAfterNano, grossOf(months.get(month) ?? { charges: [] }))
    }
  }
  assert.strictEqual(differences, months.length * (lists.length + 1))
})

layer(
  layerTestGateway("postgres", quickSettings, {
    catalogFor: () => quarterCatalogText,
    database: layerDatabaseWithClock()
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)(`the books of ${orders} orders (seed ${seed})`, (it) => {
  it.effect(
    "close to the last unit, month by month",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const lists = yield* createLists
        const { customers, orphans } = yield* liveAQuarter(orders, diceOf(seed), lists)
        yield* sealDueMonths
        const all = customers.flatMap(({ months }) => [...months.values()])
        assert.strictEqual(
          sumOf(all.map(({ charges, failed }) => BigInt(charges.length + failed))),
          BigInt(orders)
        )
        assert.lengthOf([...(customers[0]?.months ?? [])], months.length)
        for (const customer of customers) yield* checkBooks(customer)
        yield* checkReplays(customers, lists)
        const listed = yield* everyPage("/orphans", OrphanView, ({ id }) => id)
        assert.lengthOf(listed, orphans)
        yield* gateway.verify
      }).pipe(onSetClock),
    PATIENCE
  )
})
