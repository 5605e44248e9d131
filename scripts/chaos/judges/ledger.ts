/** I1 to I7 and the refunds, computed from the rows and not from the gateway's own view. */
import type { Books } from "../books.ts"
import { groupBy, open, sum, type Verdict } from "./verdict.ts"

const closed = new Set(["succeeded", "failed", "rejected"])

export const judgeLedger = (books: Books): ReadonlyArray<Verdict> => {
  const i1 = open("I1", "balance = deposits - captures; every transfer is sound")
  const i2 = open("I2", "nothing is held in the end, and no hold is open")
  const i3 = open("I3", "a member's month is the sum of its holds")
  const i4 = open("I4", "captured once, by one transfer and one usage record of the amount")
  const i5 = open("I5", "overage is what was charged above the hold; only it makes debts")
  const i7 = open("I7", "a task is finished, and its hold closed the same way")
  const refunds = open("refund", "a hold that was not captured is back in full")

  const transfersOf = groupBy(books.transfers, (row) => row.organization_id)
  const holdsOf = groupBy(books.holds, (row) => row.organization_id)
  const holdsOfMonth = groupBy(books.holds, (row) => `${row.member_id} ${row.month}`)
  const transfersOfHold = groupBy(books.transfers, (row) => row.hold_id ?? "")
  const usageOfHold = groupBy(books.usage, (row) => row.hold_id)
  const tasks = new Map(books.tasks.map((task) => [task.id, task]))

  for (const transfer of books.transfers) {
    const sound =
      transfer.amount > 0n &&
      (transfer.kind === "deposit"
        ? transfer.credit === "pool" && transfer.debit !== "pool"
        : transfer.debit === "pool" && transfer.credit !== "pool")
    i1.look(sound ? null : `transfer ${transfer.hold_id ?? transfer.reference}`)
  }
  for (const pool of books.pools) {
    const id = pool.organization_id
    const transfers = transfersOf.get(id) ?? []
    const of = (kind: string) =>
      sum(transfers.flatMap((row) => (row.kind === kind ? [row.amount] : [])))
    const expected = of("deposit") - of("capture")
    i1.look(pool.balance === expected ? null : `${id} has ${pool.balance}, not ${expected}`)
    i2.look(pool.held === 0n ? null : `${id} still holds ${pool.held}`)
    const overage = sum((holdsOf.get(id) ?? []).map((hold) => hold.overage))
    i5.look(pool.balance + overage >= 0n ? null : `${id} owes ${-pool.balance} of ${overage}`)
  }
  for (const month of books.months) {
    const holds = holdsOfMonth.get(`${month.member_id} ${month.month}`) ?? []
    const captured = sum(holds.map((hold) => hold.captured))
    const overage = sum(holds.map((hold) => hold.overage))
    const { member_id, cap } = month
    i3.look(
      month.held === 0n && month.captured === captured
        ? null
        : `${member_id} has ${month.held} and ${month.captured}, not 0 and ${captured}`
    )
    i3.look(cap === null || captured - overage <= cap ? null : `${member_id} is above its cap`)
  }
  for (const hold of books.holds) {
    const transfers = transfersOfHold.get(hold.id) ?? []
    const usage = usageOfHold.get(hold.id) ?? []
    const charged = sum(transfers.map(({ amount }) => amount))
    const recorded = sum(usage.map(({ charge }) => charge))
    i2.look(hold.state === "open" ? `${hold.id} is open` : null)
    if (hold.state === "captured") {
      const once = transfers.length === 1 && usage.length === 1
      const same = charged === hold.captured && recorded === hold.captured && charged > 0n
      i4.look(once && same ? null : `${hold.id}: ${hold.captured}, ${charged}, ${recorded}`)
    } else {
      const back = hold.captured === 0n && transfers.length + usage.length === 0
      refunds.look(hold.state === "released" && back ? null : `${hold.id} is ${hold.state}`)
    }
    const above = hold.captured > hold.amount ? hold.captured - hold.amount : 0n
    i5.look(hold.overage === above ? null : `${hold.id}: overage ${hold.overage}, not ${above}`)
    const task = tasks.get(hold.id)
    if (task !== undefined) {
      const agree =
        closed.has(task.state) && (hold.state === "captured") === (task.state === "succeeded")
      i7.look(agree ? null : `${task.id} is ${task.state}, its hold ${hold.state}`)
    }
  }
  return [i1, i2, i3, i4, i5, i7, refunds].map(({ verdict }) => verdict)
}
