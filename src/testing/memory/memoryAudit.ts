/** The invariants of the books, recomputed from what the movements have left. */
import { Schema } from "effect"
import type { Violation } from "../../services/Ledger.ts"
import { type Books, monthKey, overageOf } from "./MemoryStore.ts"

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

const isQuote = Schema.is(Schema.Struct({ holdNano: Schema.String }))

type Note = (invariant: string, detail: string, subject: string) => void

const checkPool = (books: Books, note: Note): void => {
  const { balanceNano, heldNano } = books.pool
  const holds = [...books.holds.values()]
  const folded = books.journal.map(({ kind, amountNano }) =>
    kind === "deposit" ? amountNano : kind === "capture" ? -amountNano : 0n
  )
  if (balanceNano !== sum(folded)) {
    note("I1", "pool balance is not the fold of its transfers", books.id)
  }
  const open = holds.filter(({ state }) => state === "open")
  if (heldNano !== sum(open.map(({ request }) => request.amountNano))) {
    note("I2", "held is not the sum of open holds", books.id)
  }
  if (balanceNano - heldNano < 0n && balanceNano - heldNano + sum(holds.map(overageOf)) < 0n) {
    note("I5", "pool is below zero by more than its overage", books.id)
  }
}

const checkMonths = (books: Books, note: Note): void => {
  const byMonth = Map.groupBy(books.holds.values(), ({ request, month }) =>
    monthKey(request.memberId, month)
  )
  for (const [key, month] of books.months) {
    const holds = byMonth.get(key) ?? []
    const held = holds.flatMap(({ state, request }) =>
      state === "open" ? [request.amountNano] : []
    )
    if (
      month.heldNano !== sum(held) ||
      month.capturedNano !== sum(holds.map(({ capturedNano }) => capturedNano))
    ) {
      note("I3", "member month is not the sum of its holds", key)
    }
  }
  for (const [key, holds] of byMonth) {
    if (books.months.has(key)) continue
    for (const { request } of holds) note("I3", "hold without its member month", request.id)
  }
}

const checkHolds = (books: Books, note: Note): void => {
  const captures = Map.groupBy(
    books.journal.filter(({ kind }) => kind === "capture"),
    ({ holdId }) => holdId
  )
  const usage = Map.groupBy(books.usage, ({ holdId }) => holdId)
  for (const [id, { request, state, capturedNano }] of books.holds) {
    const expected = state === "captured" ? [capturedNano] : []
    const agrees = (amounts: ReadonlyArray<bigint>): boolean =>
      amounts.length === expected.length && amounts[0] === expected[0]
    if (!agrees((captures.get(id) ?? []).map(({ amountNano }) => amountNano))) {
      note("I4", "captured hold without exactly one capture of its amount", id)
    }
    if (!agrees((usage.get(id) ?? []).map(({ record }) => record.chargeNano))) {
      note("I4", "captured hold without its usage record", id)
    }
    if (isQuote(request.quote) && request.quote.holdNano !== String(request.amountNano)) {
      note("I4", "hold is not the amount of its quote", id)
    }
  }
}

const checkTasks = (books: Books, note: Note): void => {
  for (const [id, task] of books.tasks) {
    const hold = books.holds.get(id)
    const isOpen = task.state === "submitting" || task.state === "processing"
    if (hold === undefined) {
      note("I7", "task without its hold", id)
    } else if (hold.state === "open") {
      if (!isOpen) note("I7", "finished task with an open hold", id)
    } else if (isOpen || (hold.state === "captured") !== (task.state === "succeeded")) {
      note("I7", "task and hold disagree on the outcome", id)
    }
  }
}

const checkLinks = ({ holds, journal, usage, requestKeys }: Books, note: Note): void => {
  for (const { kind, holdId } of journal) {
    if (kind === "capture" && !holds.has(holdId ?? "")) {
      note("I4", "capture without its hold", holdId ?? "")
    }
  }
  for (const { holdId, record } of usage) {
    if (!holds.has(holdId)) note("I4", "usage record without its hold", record.id)
    const { input, output, unitPriceNano, chargeNano, id } = record
    if (input === 0n && chargeNano !== output * unitPriceNano) {
      note("I4", "charge is not units times price", id)
    }
  }
  for (const { holdId } of requestKeys.values()) {
    if (!holds.has(holdId)) note("I9", "idempotency key without its hold", holdId)
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
  checkHolds(books, note)
  checkTasks(books, note)
  checkLinks(books, note)
  return found
}
