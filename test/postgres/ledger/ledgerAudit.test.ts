import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerStores } from "../../../src/gateway.ts"
import { Access } from "../../../src/services/Access.ts"
import { Ledger, type UsageEntry, type Violation } from "../../../src/services/Ledger.ts"
import type { NewTask } from "../../../src/services/TaskRepo.ts"
import { layerDatabase } from "../../support/databases.ts"
import { layerLedgerOn, ordered } from "../../support/ledger.ts"

const usage: UsageEntry = {
  input: 0n,
  output: 1n,
  unit: "image",
  unitPriceNano: 15n,
  basis: "requested_images"
}

/** 2 tokens in and 1 out. */
const text: UsageEntry = {
  ...usage,
  input: 2n,
  unit: "token",
  unitPriceNano: 9n,
  inputUnitPriceNano: 3n,
  basis: "upstream_usage"
}

const task: NewTask = {
  listedProtocol: "vp_a",
  summary: {},
  submitSeconds: 60
}

const key = { key: "k", fingerprint: "f" }

/** An organisation with one captured image whose vendor reported its bill, one captured text, one released image, one task and one open hold. */
const books = Effect.gen(function* () {
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Test")
  const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano: 500n })
  yield* ledger.deposit(organizationId, 1000n, "first")
  const job = { channelId: "ch", protocol: "vp_a", upstreamModel: "u" }
  const request = {
    organizationId,
    memberId,
    ...ordered,
    amountNano: 10n,
    ttlSeconds: 60,
    quote: {},
    job,
    key: null
  }
  const close = { organizationId, by: "sweep" as const, task: null, answer: null }
  for (const id of ["written", "released", "open"]) {
    yield* ledger.hold({ ...request, id, task: null, key: null })
  }
  const billed = { ...job, billUnitPrice: "0.000000003" }
  yield* ledger.hold({ ...request, id: "captured", job: billed, task: null, key: null })
  yield* ledger.hold({ ...request, id: "submitting", task, key })
  // One and a half units at 3 nano-units are 4.5, of which the fraction counts as a whole.
  yield* ledger.capture({
    ...close,
    holdId: "captured",
    chargeNano: 15n,
    usage,
    vendorBill: { amountNano: 1_500_000_000n, unit: "credit" },
    reportedCostNano: 5n
  })
  yield* ledger.capture({ ...close, holdId: "written", chargeNano: 15n, usage: text })
  yield* ledger.release({ ...close, holdId: "released", orphan: null, forgetKey: false })
  return { organizationId, close }
})

/** The books, all of whose rows an audit has read. */
const auditedBooks = Effect.gen(function* () {
  const ledger = yield* Ledger
  yield* books
  yield* ledger.verifyOf(yield* ledger.suspects(60))
})

const open = "ALTER TABLE transfers DISABLE TRIGGER ALL; ALTER TABLE orders DISABLE TRIGGER ALL"

/** What is late, and no fault of the books. */
const delays = [
  "UPDATE orders SET expires_at = now() - interval '2 hours' WHERE id = 'open'",
  "UPDATE tasks SET submit_deadline = now() - interval '2 hours'"
] as const

/** What a hand could do to the rows, and the invariant that must notice. */
const tamperings = [
  ["I1", "UPDATE pools SET balance = balance + 1"],
  ["I1", "DELETE FROM transfers"],
  ["I1", "UPDATE transfers SET organization_id = 'nobody'"],
  ["I1", "DELETE FROM pools"],
  ["I1", "INSERT INTO organizations (id, name) VALUES ('org_bare', 'Bare')"],
  ["I2", "UPDATE pools SET held = held + 1"],
  ["I2", "UPDATE orders SET hold = hold + 1 WHERE id = 'open'"],
  ["I2", "UPDATE orders SET organization_id = 'nobody' WHERE id = 'open'"],
  ["I2", "UPDATE pools SET uncovered = uncovered + 1"],
  ["I2", "UPDATE orders SET exposure = hold + 1 WHERE id = 'open'"],
  ["I4", "UPDATE orders SET exposure = hold + 1 WHERE id = 'open'"],
  ["I2", "UPDATE orders_settled SET before = now() + interval '1 hour'"],
  ["I2", "DELETE FROM orders WHERE id = 'open'"],
  ["I3", "UPDATE member_months SET held = held + 1"],
  ["I3", "UPDATE member_months SET captured = captured + 1"],
  ["I3", "DELETE FROM member_months"],
  ["I3", "UPDATE budget_uses SET held = held + 1"],
  ["I3", "UPDATE orders SET counts_in = NULL WHERE id = 'open'"],
  ["I1", "DELETE FROM orders WHERE id = 'captured'"],
  ["I3", "DELETE FROM orders WHERE id = 'captured'"],
  ["I1", "UPDATE orders SET charge = 14, unit_price = 14 WHERE id = 'captured'"],
  ["I3", "UPDATE orders SET charge = 14, unit_price = 14 WHERE id = 'captured'"],
  ["I3", "UPDATE orders SET month = month - interval '1 month' WHERE id = 'captured'"],
  ["I4", "UPDATE orders SET charge = 14 WHERE charge > 0"],
  ["I4", "UPDATE orders SET reported_cost = 4 WHERE vendor_bill IS NOT NULL"],
  ["I4", "UPDATE orders SET reported_cost = NULL"],
  [
    "I4",
    `UPDATE orders SET vendor_bill = '{"unit": "credit", "amount": "2"}' WHERE reported_cost = 5`
  ],
  ["I4", "UPDATE orders SET job = job - 'billUnitPrice' WHERE reported_cost = 5"],
  ["I4", "UPDATE orders SET unit_price = 11 WHERE charge > 0"],
  ["I4", "UPDATE orders SET unit_price = 11 WHERE id = 'captured'"],
  ["I4", "UPDATE orders SET input_unit_price = 4 WHERE id = 'written'"],
  ...[
    { kind: "cached_input", units: "1", unitPriceNano: "2" },
    { kind: "audio_output", units: "1", unitPriceNano: "8" },
    // More units than there are, at a price that leaves the charge as it is.
    { kind: "cached_input", units: "3", unitPriceNano: "3" },
    { kind: "audio_output", units: "-1", unitPriceNano: "9" },
    // Beside the units, and more than is charged.
    { kind: "reference", units: "1", unitPriceNano: "1" },
    // No surcharge is in the quote, and this one leaves the charge as it is.
    { kind: "reference", units: "1", unitPriceNano: "0" }
  ].map(
    (part) =>
      ["I4", `UPDATE orders SET parts = '${JSON.stringify([part])}' WHERE id = 'written'`] as const
  ),
  // The surcharge of the quote is no part of the charge.
  [
    "I4",
    `UPDATE orders SET quote = '{"surcharge": {"references": 2, "beyond": 1, "nanoPerReference": "1"}}'
      WHERE id = 'captured'`
  ],
  // The price of the part is not that of the quote.
  [
    "I4",
    `UPDATE orders SET unit_price = 14, parts = '[{"kind": "reference", "units": "1", "unitPriceNano": "1"}]',
            quote = '{"surcharge": {"references": 2, "beyond": 1, "nanoPerReference": "2"}}'
      WHERE id = 'captured'`
  ],
  ["I4", "UPDATE orders SET quote = '{\"holdNano\": \"11\"}' WHERE id = 'open'"],
  ["I5", "UPDATE pools SET balance = -100"],
  [
    "I7",
    "UPDATE tasks SET state = 'rejected', error_code = 'x', finished_at = now() WHERE id = 'submitting'"
  ],
  [
    "I7",
    "UPDATE tasks SET id = 'captured', state = 'rejected', error_code = 'x', finished_at = now()"
  ],
  ["I7", "UPDATE tasks SET id = 'released' WHERE id = 'submitting'"],
  ["I7", "UPDATE tasks SET id = 'nothing' WHERE id = 'submitting'"],
  ["I9", "UPDATE idempotency_keys SET order_id = 'nothing'"],
  // With sums that are right.
  ["I4", `UPDATE orders SET charge = CASE id WHEN 'captured' THEN 14 ELSE 16 END WHERE charge > 0`],
  [
    "I5",
    `WITH spent AS (
       INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason, author)
       SELECT organization_id, 'tr_back', 'withdrawal', 'pool', 'external', 2000, 'back', 'x', 'y'
         FROM pools)
     UPDATE pools SET balance = balance - 2000`
  ],
  [
    "I4",
    `WITH given AS (
       INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason,
                              author, order_id)
       SELECT organization_id, 'tr_back', 'correction', 'revenue', 'pool', charge + 1, 'back', 'x',
              'y', id
         FROM orders WHERE id = 'captured')
     UPDATE pools p SET balance = p.balance + o.charge + 1 FROM orders o
      WHERE o.id = 'captured' AND o.organization_id = p.organization_id`
  ],
  [
    "I4",
    `WITH given AS (
       INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason,
                              author, order_id)
       SELECT organization_id, 'tr_back', 'correction', 'revenue', 'pool', 1, 'back', 'x', 'y',
              'nothing'
         FROM pools)
     UPDATE pools SET balance = balance + 1`
  ]
] as const

/** What only all rows of an organisation tell, which is read in its turn. */
const summed = [
  "UPDATE budget_uses SET captured = captured + 1",
  "UPDATE usage_sums SET count = count + 1 WHERE step = 'hour'",
  "UPDATE usage_sums SET failed = failed - 1 WHERE step = 'day'",
  "UPDATE usage_sums SET charge = charge + 1 WHERE step = 'month'",
  "UPDATE usage_sums SET returned = 1 WHERE step = 'month'",
  "UPDATE usage_sums SET images = 0, tokens = 0",
  "DELETE FROM usage_sums"
] as const

for (const kind of ["embedded", "postgres"] as const) {
  const secrets = { masterKey: Redacted.make(new Uint8Array(32)), adminToken: null }
  const stores = layerStores(secrets).pipe(Layer.provideMerge(layerDatabase(kind)))
  const prepared = Layer.effectDiscard(auditedBooks).pipe(Layer.provideMerge(stores))
  layer(prepared, { excludeTestServices: true, timeout: "60 seconds" })(
    `the audit (${kind})`,
    (it) => {
      it.effect("finds nothing in sound books", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          assert.deepEqual(yield* ledger.verify, [])
          assert.deepEqual(yield* ledger.suspects(60), [])
        })
      )

      it.effect.each(tamperings)("%s notices: %s", ([invariant, tampering]) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const tampered = Effect.gen(function* () {
            for (const statement of [...open.split(";"), tampering]) yield* sql.unsafe(statement)
            const suspects = yield* ledger.suspects(60)
            return yield* Effect.fail({
              all: yield* ledger.verify,
              recent: yield* ledger.verifyOf(suspects)
            })
          })
          const found = yield* Effect.flip(sql.withTransaction(tampered))
          const none: ReadonlyArray<Violation> = []
          const { all, recent } = "all" in found ? found : { all: none, recent: none }
          assert.include(
            all.map((violation) => violation.invariant),
            invariant
          )
          assert.sameDeepMembers([...recent], [...all])
        })
      )

      it.effect.each(summed)("sums are compared with their orders: %s", (statement) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const tampered = Effect.gen(function* () {
            yield* sql.unsafe(statement)
            return yield* Effect.fail({ found: yield* ledger.verify })
          })
          const failed = yield* Effect.flip(sql.withTransaction(tampered))
          const found = "found" in failed ? failed.found : []
          assert.sameMembers([...new Set(found.map(({ invariant }) => invariant))], ["I3"])
        })
      )

      it.effect.each(delays)("nothing is wrong with what is late: %s", (delay) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const delayed = Effect.gen(function* () {
            yield* sql.unsafe(delay)
            const suspects = yield* ledger.suspects(60)
            return yield* Effect.fail({ suspects, violations: yield* ledger.verify })
          })
          assert.deepEqual(yield* Effect.flip(sql.withTransaction(delayed)), {
            suspects: [],
            violations: []
          })
        })
      )

      it.effect("what the journal and the usage detail tell cannot be changed or deleted", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const statement of [
            "UPDATE transfers SET amount = 1",
            "DELETE FROM transfers",
            "UPDATE orders SET unit_price = 1 WHERE id = 'captured'",
            "UPDATE orders SET state = 'open', closed_at = NULL WHERE id = 'released'",
            "DELETE FROM orders WHERE id = 'open'"
          ]) {
            assert.strictEqual((yield* Effect.exit(sql.unsafe(statement)))._tag, "Failure")
          }
        })
      )
    }
  )
}

/** Every row as if it had been written so much earlier. */
const aged = (sql: SqlClient.SqlClient, time: string) =>
  Effect.forEach(
    [
      ...open.split(";"),
      `UPDATE transfers SET created_at = created_at - interval '${time}'`,
      `UPDATE orders SET created_at = created_at - interval '${time}',
              closed_at = closed_at - interval '${time}'`,
      `UPDATE orders_settled SET before = before - interval '${time}'`
    ],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )

// The statements are the same on the embedded database, which runs them above.
describe.each(["postgres"] as const)(
  "an audit of what happened since the last one (%s)",
  (kind) => {
    /** On a database of its own. */
    const apart = Effect.provide(layerLedgerOn(kind))

    it.live(
      "adds what is new to what it summed up, and sees a sum that is wrong",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const { organizationId, close } = yield* books
          // Summed up when they were all there was, and then little by little.
          yield* aged(sql, "10 minutes")
          yield* ledger.verifyOf(yield* ledger.suspects(60))
          yield* ledger.capture({ ...close, holdId: "open", chargeNano: 15n, usage })
          assert.deepEqual(yield* ledger.suspects(60), [])
          yield* aged(sql, "1 hour")
          yield* sql`UPDATE ledger_audited SET through = now() - interval '30 minutes'`
          yield* ledger.verifyOf([organizationId])
          assert.deepEqual(yield* ledger.suspects(60), [])

          yield* sql`UPDATE pools SET balance = balance - 1`
          assert.deepEqual(yield* ledger.suspects(60), [organizationId])
          const found = yield* ledger.verifyOf([organizationId])
          assert.deepEqual(
            found.map(({ invariant }) => invariant),
            ["I1"]
          )
          // What was found does not become the sum that is right.
          assert.deepEqual(yield* ledger.suspects(60), [organizationId])
        }).pipe(apart),
      60_000
    )

    it.live(
      "moves on by itself, and what it leaves behind stays in the sums",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const { organizationId, close } = yield* books
          yield* ledger.verifyOf(yield* ledger.suspects(60))
          const sums = sql<{ moved: string; captured: string | null; recent: number }>`
              SELECT a.moved::text, (SELECT sum(captured)::text FROM ledger_audited_months) AS captured,
                     (SELECT count(*)::int FROM orders, ledger_audited
                       WHERE closed_at >= through) AS recent
                FROM ledger_audited_pools a WHERE a.organization_id = ${organizationId}`
          assert.deepEqual(yield* sums, [{ moved: "0", captured: null, recent: 3 }])
          // Between the last look and this one.
          yield* aged(sql, "10 minutes")
          yield* sql`UPDATE ledger_audited SET through = now() - interval '1 hour'`
          assert.deepEqual(yield* ledger.suspects(60), [])
          assert.deepEqual(yield* sums, [{ moved: "970", captured: "30", recent: 0 }])
          assert.deepEqual(yield* ledger.suspects(60), [])

          yield* ledger.deposit(organizationId, 5n, "second")
          yield* ledger.capture({ ...close, holdId: "open", chargeNano: 15n, usage })
          yield* sql`UPDATE ledger_audited SET through = now() - interval '5 minutes'`
          yield* sql`
            UPDATE transfers SET created_at = now() - interval '3 minutes'
             WHERE reference = 'second'`
          yield* sql`UPDATE orders SET closed_at = now() - interval '3 minutes' WHERE id = 'open'`
          assert.deepEqual(yield* ledger.suspects(60), [])
          assert.deepEqual(yield* sums, [{ moved: "960", captured: "45", recent: 0 }])
          assert.deepEqual(yield* ledger.suspects(60), [])
        }).pipe(apart),
      60_000
    )

    it.live(
      "takes a row that came late for what it is, once all rows were read",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const { organizationId } = yield* books
          yield* ledger.verifyOf(yield* ledger.suspects(60))
          yield* ledger.deposit(organizationId, 5n, "late")
          yield* aged(sql, "1 hour")
          assert.deepEqual(yield* ledger.suspects(60), [organizationId])
          assert.deepEqual(yield* ledger.verifyOf([organizationId]), [])
          assert.deepEqual(yield* ledger.suspects(60), [])
        }).pipe(apart),
      60_000
    )

    it.live(
      "reads old rows again in turn, and keeps looking at who may not spend",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const { organizationId } = yield* books
          yield* aged(sql, "1 hour")
          yield* ledger.verifyOf(yield* ledger.suspects(60))
          yield* sql`UPDATE orders SET unit_price = 14 WHERE charge > 0`
          assert.deepEqual(yield* ledger.suspects(60), [])
          yield* sql`
              UPDATE ledger_audited_pools SET verified_at = verified_at - interval '1 day'`
          assert.deepEqual(yield* ledger.suspects(60), [organizationId])
          assert.notDeepEqual(yield* ledger.verifyOf([organizationId]), [])
          assert.deepEqual(yield* ledger.suspects(60), [])
          yield* ledger.stopSpending(new Map([[organizationId, "I4"]]))
          assert.deepEqual(yield* ledger.suspects(60), [organizationId])
        }).pipe(apart),
      60_000
    )
  }
)
