/** The invariants of the books, recomputed from what the movements have left. */
import { Schema } from "effect"
import type { Violation } from "../../services/Ledger.ts"
import type { StoredUse } from "../money/storedBudgets.ts"
import { type Books, monthKey, overageOf, type StoredOrder } from "./MemoryStore.ts"

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

const isQuote = Schema.is(
  Schema.Struct({ holdNano: Schema.String, exposureNano: Schema.optionalKey(Schema.String) })
)

type Note = (invariant: string, detail: string, subject: string) => void

const heldOf = (orders: ReadonlyArray<StoredOrder>): bigint =>
  sum(orders.map(({ state, request }) => (state === "open" ? request.amountNano : 0n)))

/** The most that an order can come to above its hold. */
const excessOf = ({ request: { amountNano, exposureNano = amountNano } }: StoredOrder): bigint =>
  exposureNano - amountNano

const chargedOf = (orders: ReadonlyArray<StoredOrder>): bigint =>
  sum(orders.map(({ chargeNano }) => chargeNano))

const checkPool = ({ id, pool, transfers, orders }: Books, note: Note): void => {
  const { balanceNano, heldNano, uncoveredNano } = pool
  const all = [...orders.values()]
  const moved = transfers.map(({ kind, amountNano }) =>
    kind === "withdrawal" ? -amountNano : amountNano
  )
  if (balanceNano !== sum(moved) - chargedOf(all)) {
    note("I1", "pool balance is not the fold of its transfers", id)
  }
  if (heldNano !== heldOf(all)) note("I2", "held is not the sum of open holds", id)
  const open = all.filter(({ state }) => state === "open")
  if (uncoveredNano !== sum(open.map(excessOf))) {
    note("I2", "uncovered is not what open orders can come to above their holds", id)
  }
  if (balanceNano - heldNano < 0n && balanceNano - heldNano + sum(all.map(overageOf)) < 0n) {
    note("I5", "pool is below zero by more than its overage", id)
  }
}

const checkMonths = ({ months, orders }: Books, note: Note): void => {
  const byMonth = Map.groupBy(orders.values(), ({ request, month }) =>
    monthKey(request.memberId, month)
  )
  for (const [key, { heldNano, capturedNano }] of months) {
    const own = byMonth.get(key) ?? []
    if (heldNano !== heldOf(own) || capturedNano !== chargedOf(own)) {
      note("I3", "member month is not the sum of its orders", key)
    }
  }
  for (const [key, own] of byMonth) {
    if (months.has(key)) continue
    for (const { request } of own) note("I3", "order without its member month", request.id)
  }
}

const checkBudgets = ({ budgets, orders }: Books, note: Note): void => {
  const held = new Map<StoredUse, bigint>()
  for (const { state, request, countsIn } of orders.values()) {
    for (const { use } of state === "open" ? countsIn : []) {
      held.set(use, (held.get(use) ?? 0n) + request.amountNano)
    }
  }
  for (const { id, uses } of budgets.values()) {
    for (const use of uses.values()) {
      if (use.heldNano !== (held.get(use) ?? 0n)) {
        note("I3", "use of a budget is not the sum of its orders", id)
      }
    }
  }
}

const endsOf = { open: ["submitting", "processing"], captured: ["succeeded"] } as const

const checkOrder = (id: string, order: StoredOrder, note: Note): void => {
  const { request, state, chargeNano, usage, ended, task } = order
  const isCaptured = state === "captured"
  if (
    (state === "open") !== (ended === null) ||
    isCaptured !== chargeNano > 0n ||
    isCaptured !== (usage !== null)
  ) {
    note("I4", "closed order without an end of its amounts", id)
  }
  if (isQuote(request.quote) && request.quote.holdNano !== String(request.amountNano)) {
    note("I4", "hold is not the amount of its quote", id)
  }
  if (isQuote(request.quote)) {
    const { exposureNano = request.quote.holdNano } = request.quote
    if (exposureNano !== String(request.exposureNano ?? request.amountNano)) {
      note("I4", "exposure is not that of its quote", id)
    }
  }
  if (usage !== null && usage.input === 0n && chargeNano !== usage.output * usage.unitPriceNano) {
    note("I4", "charge is not units times price", id)
  }
  const ends: ReadonlyArray<string> = state === "released" ? ["failed", "rejected"] : endsOf[state]
  if (task !== null && !ends.includes(task.state)) {
    note("I7", "task and order disagree on the outcome", id)
  }
}

/** Of one organisation; an empty list is healthy. */
export const auditBooks = (books: Books): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const note: Note = (invariant, detail, subject) => {
    found.push({ invariant, organizationId: books.id, subject, detail })
  }
  checkPool(books, note)
  checkMonths(books, note)
  checkBudgets(books, note)
  for (const [id, order] of books.orders) checkOrder(id, order, note)
  for (const { holdId } of books.requestKeys.values()) {
    if (!books.orders.has(holdId)) note("I9", "idempotency key without its order", holdId)
  }
  return found
}
