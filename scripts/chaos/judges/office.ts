/** What operators did during the run: it holds from their answer on, and none of it is lost. */
import { NANO_PER_UNIT } from "../../../src/domain/money/Money.ts"
import type { Books, Hold } from "../books.ts"
import type { Budget, BudgetChange, Witness } from "../witness.ts"
import { open, sum, type Verdict } from "./verdict.ts"

/** Within this time a gateway has heard of a revoked key. */
const HEARD_MILLIS = 1000

const judgeKeys = ({ keys, keyUses }: Witness): ReadonlyArray<Verdict> => {
  const valid = open("K1", "a key opens until it is revoked")
  const revoked = open("K2", "a revoked key opens nothing a second after the answer")
  const keyOf = new Map(keys.map((key) => [key.id, key]))
  for (const { keyId, startedAt, endedAt, status } of keyUses) {
    const key = keyOf.get(keyId)
    if (key === undefined || endedAt <= key.revokedFrom) {
      valid.look(status === 401 ? `${keyId} is refused` : null)
    }
    const late = key?.revokedAt == null ? 0 : startedAt - key.revokedAt
    if (late >= HEARD_MILLIS) {
      revoked.look(status < 300 ? `${keyId} opens ${late} ms after it was revoked` : null)
    }
  }
  return [valid.verdict, revoked.verdict]
}

/**
 * The longest time, in milliseconds, from the start of a statement to its commit: it may wait for
 * another gateway that is paused in a transaction. A lost change may come as late.
 */
const LATE_MILLIS = 10_000

/** The largest amount that the budget may have had at any time from `from` to `to`. */
const mostBetween = ({ changes, firstAmount }: Budget, from: number, to: number): bigint => {
  const isOver = (index: number): boolean => {
    const end = changes[index + 1]?.endedAt ?? null
    return end !== null && end + LATE_MILLIS < from
  }
  const first: BudgetChange = { amountNano: firstAmount * NANO_PER_UNIT, startedAt: 0, endedAt: 0 }
  const begun = changes.filter(({ startedAt }) => startedAt <= to)
  const candidates = [
    ...((changes[0]?.endedAt ?? to) < from ? [] : [first]),
    ...begun.filter((_, index) => !isOver(index))
  ]
  return candidates.reduce((most, { amountNano }) => (amountNano > most ? amountNano : most), 0n)
}

/** The least that the hold counted in its budget until a while after `at`, without its overage. */
const leastUse = ({ amount, captured, closed_at }: Hold, at: number): bigint => {
  const isOpen = closed_at === null || closed_at.getTime() > at + LATE_MILLIS
  return isOpen || amount < captured ? amount : captured
}

/**
 * Judges each hold by the time at which the last of the holds that began until then was committed:
 * all of them, less what was returned meanwhile, fitted into the budget then.
 */
const judgeBudgets = (books: Books, { budgets }: Witness): Verdict => {
  const docket = open("B1", "an order is taken only within the budgets of its time")
  for (const budget of budgets) {
    const holds = books.holds.filter(
      ({ organization_id, member_id }) =>
        organization_id === budget.organizationId &&
        (budget.memberId === null || member_id === budget.memberId)
    )
    for (const { id, created_at } of holds) {
      const at = created_at.getTime()
      const used = sum(
        holds.flatMap((hold) => (hold.created_at.getTime() <= at ? [leastUse(hold, at)] : []))
      )
      const most = mostBetween(budget, at, at + LATE_MILLIS)
      docket.look(used <= most ? null : `${id} is taken at ${used} of ${most} of ${budget.id}`)
    }
  }
  return docket.verdict
}

const judgeCatalog = ({ catalogs }: Books, { catalogChanges }: Witness): Verdict => {
  const docket = open("O1", "a change of the catalog stays, whoever changes something else")
  for (const desk of ["name", "cost"] as const) {
    const changes = catalogChanges.filter((change) => change.desk === desk)
    const values = changes.map(({ value }) => value)
    const places = catalogs.map((version) => values.indexOf(version[desk] ?? ""))
    places.forEach((place, index) => {
      const before = places[index - 1] ?? -1
      docket.look(place >= before ? null : `${desk}: version ${catalogs[index]?.version} is older`)
    })
    changes.forEach(({ value, acknowledged }, index) => {
      if (acknowledged) docket.look(places.includes(index) ? null : `${desk}: ${value} is lost`)
    })
  }
  return docket.verdict
}

const judgeRefusals = ({ office }: Witness): Verdict => {
  const docket = open("O2", "no valid request of an operator is refused")
  for (const refusal of office) docket.look(refusal)
  return docket.verdict
}

export const judgeOffice = (books: Books, witness: Witness): ReadonlyArray<Verdict> => [
  judgeCatalog(books, witness),
  judgeRefusals(witness),
  ...judgeKeys(witness),
  judgeBudgets(books, witness)
]
