/**
 * Damages the books at the end of a world, in one place at a time and each time in a transaction
 * that is rolled back: the audit has to tell each kind of damage.
 */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { readAudit } from "../chaos/books.ts"
import type { Operator } from "../chaos/customers.ts"
import { send } from "../chaos/http.ts"
import { open, type Verdict } from "../chaos/judges/verdict.ts"
import type { Customer } from "../chaos/witness.ts"

/** Changes one row, the first by its key. */
const changeOne = (table: string, change: string, key: string, condition = "true") => `
  UPDATE ${table} SET ${change}
   WHERE ctid = (SELECT ctid FROM ${table} WHERE ${condition} ORDER BY ${key} LIMIT 1)
  RETURNING 1`

const changeOrder = (change: string, condition = "state = 'captured'") =>
  changeOne("orders", change, "id", condition)
const changePool = (change: string) => changeOne("pools", change, "organization_id")

/** Gives back the charge of an order and a unit of nothing, in all sums but those of usage. */
const correctAboveCharge = `
  WITH charged AS (
    SELECT * FROM orders WHERE state = 'captured' ORDER BY id LIMIT 1
  ), given AS (
    INSERT INTO transfers (organization_id, id, kind, debit, credit, amount, reference, reason,
                           author, order_id)
    SELECT organization_id, 'tr_tamper', 'correction', 'revenue', 'pool',
           charge + 1 - coalesce((SELECT sum(t.amount) FROM transfers t
                                   WHERE t.organization_id = c.organization_id
                                     AND t.order_id = c.id), 0),
           'tamper', 'tamper', 'tamper', id
      FROM charged c RETURNING organization_id, amount
  )
  UPDATE pools p SET balance = p.balance + g.amount FROM given g
   WHERE p.organization_id = g.organization_id RETURNING 1`

const reopen = `state = 'open', charge = 0, closed_at = NULL, closed_by = NULL, cost = NULL,
  vendor_bill = NULL, reported_cost = NULL, failure = NULL`
const surcharge = `{"surcharge": {"references": 2, "beyond": 1, "nanoPerReference": "1"}}`

/** What the audit has to say, and the damage of which it has to say it. */
const damages: ReadonlyArray<readonly [detail: string, damage: string]> = [
  ["pool balance is not the fold of its transfers", changePool("balance = balance + 1")],
  ["held is not the sum of open holds", changePool("held = held + 1")],
  [
    "uncovered is not what open orders can come to above their holds",
    changePool("uncovered = uncovered + 1")
  ],
  ["pool is below zero by more than its overage", changePool("balance = -1000000000000000000")],
  [
    "member month is not the sum of its orders",
    changeOne("member_months", "captured = captured + 1", "member_id, month")
  ],
  [
    "use of a budget is not the sum of its orders",
    changeOne("budget_uses", "held = held + 1", "id")
  ],
  [
    "use of a budget is not the sum of its orders",
    changeOne("budget_uses", "captured = captured + 1", "id")
  ],
  ...["count", "failed", "charge", "returned"].map(
    (column) =>
      [
        "usage is not summed up as its orders are",
        changeOne(
          "usage_sums",
          `${column} = ${column} + 1`,
          "step, start, key_id, model, channel_id",
          "tag_name = ''"
        )
      ] as const
  ),
  ["exposure is not that of its quote", changeOrder("exposure = hold + 1", "exposure IS NULL")],
  ["hold is not the amount of its quote", changeOrder("hold = hold + 1", "exposure IS NULL")],
  [
    "charge is not units times price",
    changeOrder("charge = charge + 1", "state = 'captured' AND input = 0")
  ],
  ["surcharge is not that of its quote", changeOrder(`quote = quote || '${surcharge}'`)],
  ["corrections are not of a charge, or above it", correctAboveCharge],
  [
    "open order that no sweep can find",
    `WITH swept AS (UPDATE orders_settled SET before = 'infinity'),
          forgotten AS (DELETE FROM lingering_orders)
     ${changeOrder(reopen, "NOT is_task AND state <> 'open'")}`
  ]
]

const judgeDamages = Effect.fnUntraced(function* (): Effect.fn.Return<
  Verdict,
  never,
  Effect.Services<typeof readAudit> | SqlClient.SqlClient
> {
  const sql = yield* SqlClient.SqlClient
  const docket = open("T1", "the audit tells each kind of damage")
  for (const [detail, damage] of damages) {
    const damaged = Effect.gen(function* () {
      // Neither triggers nor foreign keys see the damage.
      yield* sql`SET LOCAL session_replication_role = replica`
      const rows = yield* sql.unsafe(damage)
      const told = rows.length === 0 ? null : yield* readAudit
      return yield* Effect.fail({ told })
    })
    const end = yield* Effect.flip(sql.withTransaction(damaged))
    if (!("told" in end)) return yield* Effect.die(end)
    // A world may have no row to damage.
    if (end.told === null) continue
    const isTold = end.told.some((line) => line.endsWith(`: ${detail}`))
    docket.look(isTold ? null : `${detail} is not told, but ${end.told.join("; ")}`)
  }
  return docket.verdict
})

const judgeClosedOrders = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  const docket = open("T2", "an order that is closed cannot be changed")
  const change = Effect.gen(function* () {
    const rows = yield* sql.unsafe(changeOrder("charge = charge + 1"))
    return yield* Effect.fail({ isChanged: rows.length > 0 })
  })
  const end = yield* Effect.flip(sql.withTransaction(change))
  docket.look("isChanged" in end && end.isChanged ? "a charge was changed" : null)
  return docket.verdict
})

/** Stops the spending of an organisation for good, which then takes no order. */
const judgeStop = Effect.fnUntraced(function* ({ gatewayUrl }: Operator, customer: Customer) {
  const sql = yield* SqlClient.SqlClient
  const docket = open("T3", "an organisation whose spending is stopped takes no order")
  yield* Effect.orDie(sql`
    UPDATE pools SET stopped_at = now(), stopped_reason = 'tampered'
     WHERE organization_id = ${customer.organizationId}`)
  const answer = yield* Effect.option(
    send(`${gatewayUrl}/v1/images/generations`, {
      key: customer.key,
      json: { model: "paint-10", prompt: "nothing at all", n: 1 }
    })
  )
  const rows = yield* Effect.orDie(sql`
    SELECT FROM pools
     WHERE organization_id = ${customer.organizationId} AND stopped_at IS NOT NULL`)
  if (answer._tag === "Some" && rows.length > 0) {
    const { status } = answer.value
    docket.look(status < 300 ? `an order was answered ${status}` : null)
  }
  return docket.verdict
})

/** What is found when the books are damaged, after everything else has been judged. */
export const judgeTampering = Effect.fnUntraced(function* (
  operator: Operator,
  customer: Customer | undefined
): Effect.fn.Return<
  ReadonlyArray<Verdict>,
  never,
  Effect.Services<typeof readAudit> | SqlClient.SqlClient | HttpClient.HttpClient
> {
  return [
    yield* judgeDamages(),
    yield* judgeClosedOrders(),
    ...(customer === undefined ? [] : [yield* judgeStop(operator, customer)])
  ]
})
