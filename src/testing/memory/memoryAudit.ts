/**
 * Checks the invariants of an organisation's money by computing all sums again from its orders and
 * transfers.
 */
import { Result, Schema } from "effect"
import { amountBeside, amountWithParts, bySide } from "../../domain/money/chargeParts.ts"
import { parseNano } from "../../domain/money/Money.ts"
import { reportedCostOf } from "../../domain/money/vendorBill.ts"
import type { UsageEntry, Violation } from "../../services/Ledger.ts"
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

type AddViolation = (invariant: string, detail: string, subject: string) => void

const heldOf = (orders: ReadonlyArray<StoredOrder>): bigint =>
  sum(orders.map(({ state, request }) => (state === "open" ? request.amountNano : 0n)))

/** The amount by which the charge of an order may exceed its hold. */
const excessOf = ({ request: { amountNano, exposureNano = amountNano } }: StoredOrder): bigint =>
  exposureNano - amountNano

const chargedOf = (orders: ReadonlyArray<StoredOrder>): bigint =>
  sum(orders.map(({ chargeNano }) => chargeNano))

const checkPool = ({ id, pool, transfers, orders }: Books, addViolation: AddViolation): void => {
  const { balanceNano, heldNano, uncoveredNano, highestOverdraftNano } = pool
  const all = [...orders.values()]
  const signedAmounts = transfers.map(({ kind, amountNano }) =>
    kind === "withdrawal" ? -amountNano : amountNano
  )
  if (balanceNano !== sum(signedAmounts) - chargedOf(all)) {
    addViolation("I1", "pool balance is not the fold of its transfers", id)
  }
  if (heldNano !== heldOf(all)) addViolation("I2", "held is not the sum of open holds", id)
  const openOrders = all.filter(({ state }) => state === "open")
  if (uncoveredNano !== sum(openOrders.map(excessOf))) {
    addViolation("I2", "uncovered is not what open orders can come to above their holds", id)
  }
  const free = balanceNano - heldNano
  if (free < 0n && free + sum(all.map(overageOf)) + highestOverdraftNano < 0n) {
    addViolation("I5", "pool is below zero by more than its overage", id)
  }
}

const checkMonths = ({ months, orders }: Books, addViolation: AddViolation): void => {
  const byMonth = Map.groupBy(orders.values(), ({ request, month }) =>
    monthKey(request.memberId, month)
  )
  for (const [key, { heldNano, capturedNano }] of months) {
    const monthOrders = byMonth.get(key) ?? []
    if (heldNano !== heldOf(monthOrders) || capturedNano !== chargedOf(monthOrders)) {
      addViolation("I3", "member month is not the sum of its orders", key)
    }
  }
  for (const [key, monthOrders] of byMonth) {
    if (months.has(key)) continue
    for (const { request } of monthOrders)
      addViolation("I3", "order without its member month", request.id)
  }
}

const checkBudgets = ({ budgets, orders }: Books, addViolation: AddViolation): void => {
  const heldByUse = new Map<StoredUse, bigint>()
  for (const { state, request, countsIn } of orders.values()) {
    for (const { use } of state === "open" ? countsIn : []) {
      heldByUse.set(use, (heldByUse.get(use) ?? 0n) + request.amountNano)
    }
  }
  for (const { id, uses } of budgets.values()) {
    for (const use of uses.values()) {
      if (use.heldNano !== (heldByUse.get(use) ?? 0n)) {
        addViolation("I3", "use of a budget is not the sum of its orders", id)
      }
    }
  }
}

const taskStatesOf = {
  open: ["waiting", "submitting", "processing"],
  captured: ["succeeded"],
  released: ["failed", "rejected"]
} as const

/** The price of the units of a charge, with those of its parts. */
const amountOf = ({
  input,
  output,
  unitPriceNano,
  inputUnitPriceNano = 0n,
  parts = []
}: UsageEntry): bigint => {
  const { inputParts, outputParts, besideParts } = bySide(parts)
  return (
    amountWithParts({ units: input, unitPriceNano: inputUnitPriceNano }, inputParts) +
    amountWithParts({ units: output, unitPriceNano }, outputParts) +
    amountBeside(besideParts)
  )
}

const checkQuote = (id: string, { request }: StoredOrder, addViolation: AddViolation): void => {
  const { quote, amountNano, exposureNano = amountNano } = request
  if (!isQuote(quote)) return
  if (quote.holdNano !== String(amountNano)) {
    addViolation("I4", "hold is not the amount of its quote", id)
  }
  if ((quote.exposureNano ?? quote.holdNano) !== String(exposureNano)) {
    addViolation("I4", "exposure is not that of its quote", id)
  }
}

const checkOrder = (id: string, order: StoredOrder, addViolation: AddViolation): void => {
  const { state, chargeNano, usage, ended, task, job, vendorBill, reportedCostNano } = order
  const isCaptured = state === "captured"
  if (
    (state === "open") !== (ended === null) ||
    isCaptured !== chargeNano > 0n ||
    isCaptured !== (usage !== null)
  ) {
    addViolation("I4", "closed order without an end of its amounts", id)
  }
  checkQuote(id, order, addViolation)
  const isPriced = usage?.input === 0n || usage?.inputUnitPriceNano !== undefined
  if (usage !== null && isPriced && chargeNano !== amountOf(usage)) {
    addViolation("I4", "charge is not units times price", id)
  }
  const priceNano = parseNano(job.billUnitPrice ?? "").pipe(Result.getOrElse(() => null))
  if (reportedCostNano !== reportedCostOf(vendorBill ?? undefined, priceNano)) {
    addViolation("I4", "reported cost is not the vendor's bill at its unit price", id)
  }
  const taskStates: ReadonlyArray<string> = taskStatesOf[state]
  if (task !== null && !taskStates.includes(task.state)) {
    addViolation("I7", "task and order disagree on the outcome", id)
  }
}

/** Audits one organisation; the list is empty where all invariants hold. */
export const auditBooks = (books: Books): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const addViolation: AddViolation = (invariant, detail, subject) => {
    violations.push({ invariant, organizationId: books.id, subject, detail })
  }
  checkPool(books, addViolation)
  checkMonths(books, addViolation)
  checkBudgets(books, addViolation)
  for (const [id, order] of books.orders) checkOrder(id, order, addViolation)
  for (const { holdId } of books.requestKeys.values()) {
    if (!books.orders.has(holdId)) addViolation("I9", "idempotency key without its order", holdId)
  }
  return violations
}
