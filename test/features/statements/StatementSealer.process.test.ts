/** Months that end: when they are sealed, what they are sealed with, and what breaks a seal. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { formatNano } from "../../../src/domain/money/Money.ts"
import { sealDueMonths } from "../../../src/features/statements/StatementSealer.ts"
import { Statements } from "../../../src/features/statements/Statements.ts"
import { statementFile } from "../../../src/features/statements/statementFile.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { Ledger } from "../../../src/services/Ledger.ts"
import { Transfers } from "../../../src/services/money/Transfers.ts"
import {
  layerDatabaseWithClock,
  onSetClock,
  orderIdAt,
  setClock
} from "../../support/databaseClock.ts"
import { layerStoresOn, organization, usageOf } from "../../support/ledger.ts"

type Organization = Effect.Success<ReturnType<typeof organization>>

/** An order that is taken at one time and charged at another. */
const charge = Effect.fnUntraced(function* (
  { hold, close }: Organization,
  { taken, charged, nano }: { taken: string; charged: string; nano: bigint }
) {
  const ledger = yield* Ledger
  yield* setClock(taken)
  const request = hold(nano, { id: orderIdAt(taken) })
  yield* ledger.hold(request)
  yield* setClock(charged)
  yield* ledger.capture({ ...close(request.id), chargeNano: nano, usage: usageOf(nano) })
  return request.id
})

const fileOf = Effect.fnUntraced(function* (organizationId: string, month: string) {
  const statements = yield* Statements
  const statement = yield* statements.read(organizationId, month)
  const text = yield* Stream.mkString(
    statementFile(statement, statements.entries(organizationId, month))
  )
  return { statement, text, sha256: createHash("sha256").update(text).digest("hex") }
})

const monthsOf = Effect.fnUntraced(function* (organizationId: string) {
  const statements = yield* Statements
  const { data } = yield* statements.sealedMonths(organizationId, { after: null, limit: 50 })
  return data.map(({ month, openingNano, closingNano }) => [month, openingNano, closingNano])
})

/** Where the months begin: each row is the last moment of one and the first of the next. */
const edges = {
  UTC: [["2026-09-30T23:59:59.999Z", "2026-10-01T00:00:00Z"]],
  "Asia/Shanghai": [["2026-09-30T15:59:59.999Z", "2026-09-30T16:00:00Z"]],
  // The clocks go back in October: its last day has 25 hours.
  "Europe/Berlin": [
    ["2026-09-30T21:59:59.999Z", "2026-09-30T22:00:00Z"],
    ["2026-10-31T22:59:59.999Z", "2026-10-31T23:00:00Z"]
  ],
  "America/New_York": [["2026-03-01T04:59:59.999Z", "2026-03-01T05:00:00Z"]]
} as const

const stores = (timeZone: string) =>
  Layer.provide(
    layerStoresOn(layerDatabaseWithClock()),
    Layer.succeed(Settings, { ...defaultSettings, timeZone })
  )

for (const [timeZone, rows] of Object.entries(edges)) {
  layer(stores(timeZone), { excludeTestServices: true, timeout: "60 seconds" })(
    `the months of ${timeZone}`,
    (it) => {
      it.effect.each([...rows])("end and begin at %s and %s", ([last, first]) =>
        Effect.gen(function* () {
          const statements = yield* Statements
          yield* setClock(last)
          const own = yield* organization(100n)
          const { organizationId } = own
          yield* charge(own, { taken: last, charged: first, nano: 3n })
          yield* charge(own, { taken: first, charged: first, nano: 5n })
          const [, ended = ""] = /^(\d{4}-\d\d)/.exec(last) ?? []
          const next = `${ended.slice(0, 5)}${String(Number(ended.slice(5)) + 1).padStart(2, "0")}`
          const month = timeZone === "America/New_York" ? "2026-02" : ended
          const after = timeZone === "America/New_York" ? "2026-03" : next
          const before = yield* statements.read(organizationId, month)
          assert.deepStrictEqual(
            [before.openingNano, before.charges.grossNano, before.closingNano],
            [0n, 3n, 97n]
          )
          assert.strictEqual(before.to.toISOString(), new Date(first).toISOString())
          const later = yield* statements.read(organizationId, after)
          assert.deepStrictEqual(
            [later.openingNano, later.charges.grossNano, later.closingNano],
            [97n, 5n, 92n]
          )
          // Each file has what is its month's alone.
          for (const each of [month, after]) {
            const { statement, text } = yield* fileOf(organizationId, each)
            const closing = text.trimEnd().split("\r\n").at(-1) ?? ""
            assert.include(closing, `,0,${formatNano(statement.closingNano)},`)
          }
        }).pipe(onSetClock)
      )
    }
  )
}

// In order of the times they are set in: ids only go forward.
layer(stores("UTC"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the sealing of months",
  (it) => {
    it.effect("a file has every entry, also where they are read in many parts", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const statements = yield* Statements
        yield* setClock("2025-12-10T00:00:00Z")
        const { organizationId } = yield* organization(0n)
        const beginning = orderIdAt("2025-12-11T00:00:00Z").slice(3, 16)
        yield* sql`
          INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference)
          SELECT ${organizationId}, 'tr_' || ${beginning}::text || '-7000-8000-' || lpad(n::text, 12, '0'),
                 'deposit', 'external', 'pool', 1, n::text FROM generate_series(1, 2000) n`
        const read = yield* Stream.runCollect(statements.entries(organizationId, "2025-12"))
        assert.deepStrictEqual(
          read.map(({ reference }) => reference),
          Array.from({ length: 2000 }, (_, index) => `${index + 1}`)
        )
      }).pipe(onSetClock)
    )

    it.effect("a month whose entries do not add up is not sealed, and others are", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        yield* setClock("2026-01-10T00:00:00Z")
        const own = yield* organization(100n)
        const other = yield* organization(100n)
        // A gateway whose clock is a month ahead of the database's.
        const request = own.hold(4n, { id: orderIdAt("2026-02-20T00:00:00Z") })
        yield* ledger.hold(request)
        yield* ledger.capture({ ...own.close(request.id), chargeNano: 4n, usage: usageOf(4n) })
        yield* setClock("2026-02-02T00:00:00Z")
        yield* sealDueMonths
        assert.deepStrictEqual(yield* monthsOf(own.organizationId), [])
        assert.deepStrictEqual(yield* monthsOf(other.organizationId), [["2026-01", 0n, 100n]])
      }).pipe(onSetClock)
    )

    it.effect("a changed row breaks the seal, and the audit tells of changed sums", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        yield* setClock("2026-03-10T00:00:00Z")
        const own = yield* organization(100n)
        const { organizationId } = own
        const id = yield* charge(own, {
          taken: "2026-03-11T00:00:00Z",
          charged: "2026-03-11T00:00:01Z",
          nano: 9n
        })
        yield* setClock("2026-04-02T00:00:00Z")
        yield* sealDueMonths
        const { sha256 } = yield* fileOf(organizationId, "2026-03")
        const changed = Effect.fnUntraced(function* (column: string, value: string) {
          yield* sql`ALTER TABLE orders DISABLE TRIGGER orders_close_once`
          yield* sql`UPDATE orders SET ${sql(column)} = ${sql.literal(value)}
                      WHERE organization_id = ${organizationId} AND id = ${id}`
          yield* sql`ALTER TABLE orders ENABLE TRIGGER orders_close_once`
          return (yield* fileOf(organizationId, "2026-03")).sha256
        })
        assert.notStrictEqual(yield* changed("key_id", "'another'"), sha256)
        assert.strictEqual(yield* changed("key_id", "'key_1'"), sha256)
        assert.notStrictEqual(yield* changed("charge", "8"), sha256)
        const names = (yield* ledger.verifyOf([organizationId])).map(({ detail }) => detail)
        assert.include(names, "sealed month is not what its entries come to")
        yield* changed("charge", "9")
        assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
        yield* Effect.flip(sql`UPDATE sealed_months SET sha256 = ''`)
        yield* Effect.flip(sql`DELETE FROM sealed_months`)
      }).pipe(onSetClock)
    )

    it.effect("a month waits for its open orders, and is charged what they come to", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const statements = yield* Statements
        yield* setClock("2026-05-31T23:00:00Z")
        const { organizationId, hold, close } = yield* organization(100n)
        const request = hold(9n, { id: orderIdAt("2026-05-31T23:00:00Z"), ttlSeconds: 1e6 })
        yield* ledger.hold(request)
        yield* setClock("2026-06-02T00:00:00Z")
        yield* sealDueMonths
        assert.deepStrictEqual(yield* monthsOf(organizationId), [])
        const open = yield* statements.read(organizationId, "2026-05")
        assert.deepStrictEqual([open.openOrders, open.openNano], [1, 9n])
        yield* ledger.capture({ ...close(request.id), chargeNano: 7n, usage: usageOf(7n) })
        yield* sealDueMonths
        assert.deepStrictEqual(yield* monthsOf(organizationId), [["2026-05", 0n, 93n]])
      }).pipe(onSetClock)
    )

    it.effect("each month is sealed when it is over, the next one going on from it", () =>
      Effect.gen(function* () {
        const transfers = yield* Transfers
        yield* setClock("2026-07-10T12:00:00Z")
        const own = yield* organization(1000n)
        const { organizationId } = own
        const july = { taken: "2026-07-20T00:00:00Z", charged: "2026-07-20T00:00:01Z", nano: 30n }
        const corrected = yield* charge(own, july)
        // Nothing happens in August, and September is still running.
        yield* charge(own, {
          taken: "2026-09-05T00:00:00Z",
          charged: "2026-09-05T00:00:01Z",
          nano: 40n
        })
        yield* sealDueMonths
        assert.deepStrictEqual(yield* monthsOf(organizationId), [
          ["2026-08", 970n, 970n],
          ["2026-07", 0n, 970n]
        ])
        const sealed = yield* fileOf(organizationId, "2026-07")
        assert.strictEqual(sealed.statement.seal?.sha256, sealed.sha256)
        assert.include((yield* fileOf(organizationId, "2026-08")).text, sealed.sha256)

        // What comes later stands in the present month, also when it is about a sealed one.
        yield* transfers.adjust({
          organizationId,
          kind: "correction",
          amountNano: 10n,
          reference: "late",
          reason: "why",
          author: "who",
          orderId: corrected
        })
        assert.strictEqual((yield* fileOf(organizationId, "2026-07")).sha256, sealed.sha256)
        const september = yield* fileOf(organizationId, "2026-09")
        assert.deepStrictEqual(
          [september.statement.charges, september.statement.closingNano, september.statement.seal],
          [{ count: 1, grossNano: 40n, returnedNano: 10n }, 940n, null]
        )
        yield* setClock("2026-10-01T00:00:59Z")
        yield* sealDueMonths
        assert.lengthOf(yield* monthsOf(organizationId), 2)
        yield* setClock("2026-10-01T00:01:01Z")
        yield* Effect.all([sealDueMonths, sealDueMonths], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* monthsOf(organizationId), [
          ["2026-09", 970n, 940n],
          ["2026-08", 970n, 970n],
          ["2026-07", 0n, 970n]
        ])
        assert.deepStrictEqual(yield* (yield* Ledger).verifyOf([organizationId]), [])
      }).pipe(onSetClock)
    )
  }
)
