/** I1 to I7 and the refunds, computed from the table rows and not with the gateway's own audit. */
import type { Books, Transfer } from "../books.ts"
import { unreadHolds } from "./orders.ts"
import { groupBy, open, sum, type Verdict } from "./verdict.ts"

/** The final states of a task. */
const finalStates = new Set(["succeeded", "failed", "rejected"])

/** The transfers out of the pool; all others are into it. */
const outgoing = new Set(["capture", "withdrawal"])

const isSound = ({ amount, kind, debit, credit }: Transfer): boolean => {
  if (amount <= 0n) return false
  return outgoing.has(kind)
    ? debit === "pool" && credit !== "pool"
    : credit === "pool" && debit !== "pool"
}

const judgeBalances = (books: Books): Verdict => {
  const docket = open("I1", "balance = what went in - what went out; every transfer is sound")
  for (const transfer of books.transfers) {
    const name = `transfer ${transfer.hold_id ?? transfer.reference}`
    docket.look(isSound(transfer) ? null : name)
  }
  const transfersOf = groupBy(books.transfers, (row) => row.organization_id)
  for (const { organization_id: id, balance } of books.pools) {
    const transfers = transfersOf.get(id) ?? []
    const expected = sum(
      transfers.map(({ kind, amount }) => (outgoing.has(kind) ? -amount : amount))
    )
    docket.look(balance === expected ? null : `${id} has ${balance}, not ${expected}`)
  }
  return docket.verdict
}

const judgeOpenHolds = (books: Books): Verdict => {
  const docket = open("I2", "nothing is held in the end, and no hold is open")
  for (const { organization_id, held } of books.pools) {
    docket.look(held === 0n ? null : `${organization_id} still holds ${held}`)
  }
  for (const { id, state } of books.holds) docket.look(state === "open" ? `${id} is open` : null)
  return docket.verdict
}

const judgeMonths = (books: Books): Verdict => {
  const docket = open("I3", "a member's month is the sum of its holds")
  const holdsOf = groupBy(books.holds, (row) => `${row.member_id} ${row.month}`)
  for (const { member_id, month, held, captured, cap } of books.months) {
    const holds = holdsOf.get(`${member_id} ${month}`) ?? []
    const expected = sum(holds.map((hold) => hold.captured))
    const overage = sum(holds.map((hold) => hold.overage))
    docket.look(
      held === 0n && captured === expected
        ? null
        : `${member_id} has ${held} and ${captured}, not 0 and ${expected}`
    )
    docket.look(cap === null || expected - overage <= cap ? null : `${member_id} is above its cap`)
  }
  return docket.verdict
}

const judgeCaptures = (books: Books): Verdict => {
  const docket = open("I4", "captured once, by one transfer and one usage record of the amount")
  const transfersOf = groupBy(books.transfers, (row) => row.hold_id ?? "")
  const usageOf = groupBy(books.usage, (row) => row.hold_id)
  for (const { id, state, captured } of books.holds) {
    if (state !== "captured") continue
    const transfers = transfersOf.get(id) ?? []
    const usage = usageOf.get(id) ?? []
    const charged = sum(transfers.map(({ amount }) => amount))
    const recorded = sum(usage.map(({ charge }) => charge))
    const isOnce = transfers.length === 1 && usage.length === 1
    const isEqual = charged === captured && recorded === captured && charged > 0n
    docket.look(isOnce && isEqual ? null : `${id}: ${captured}, ${charged}, ${recorded}`)
  }
  return docket.verdict
}

const judgeReleases = (books: Books): Verdict => {
  const docket = open("refund", "a hold that was not captured is back in full")
  const charged = new Set([...books.transfers, ...books.usage].map(({ hold_id }) => hold_id))
  for (const { id, state, captured } of books.holds) {
    if (state === "captured") continue
    const isBack = state === "released" && captured === 0n && !charged.has(id)
    docket.look(isBack ? null : `${id} is ${state}`)
  }
  return docket.verdict
}

const judgeOverage = (books: Books): Verdict => {
  const docket = open(
    "I5",
    "overage is what was charged above the hold; only it and credit make debts"
  )
  const holdsOf = groupBy(books.holds, (row) => row.organization_id)
  for (const { organization_id: id, balance, highest_overdraft } of books.pools) {
    const overage = sum((holdsOf.get(id) ?? []).map((hold) => hold.overage))
    docket.look(
      balance + overage + highest_overdraft >= 0n ? null : `${id} owes ${-balance} of ${overage}`
    )
  }
  for (const { id, captured, amount, overage } of books.holds) {
    const expected = captured > amount ? captured - amount : 0n
    docket.look(overage === expected ? null : `${id}: overage ${overage}, not ${expected}`)
  }
  return docket.verdict
}

const judgeTasks = (books: Books): Verdict => {
  const docket = open("I7", "a task is finished, and its hold closed the same way")
  const tasks = new Map(books.tasks.map((task) => [task.id, task]))
  const unread = unreadHolds(books)
  for (const { id, state } of books.holds) {
    const task = tasks.get(id)
    if (task === undefined) continue
    // Images whose answer could not be read are charged, and their task has failed.
    const isCharged = task.state === "succeeded" || (task.state === "failed" && unread.has(id))
    const isSame = (state === "captured") === isCharged
    docket.look(
      finalStates.has(task.state) && isSame ? null : `${id} is ${task.state}, its hold ${state}`
    )
  }
  return docket.verdict
}

export const judgeLedger = (books: Books): ReadonlyArray<Verdict> => [
  judgeBalances(books),
  judgeOpenHolds(books),
  judgeMonths(books),
  judgeCaptures(books),
  judgeOverage(books),
  judgeTasks(books),
  judgeReleases(books)
]
