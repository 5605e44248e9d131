/**
 * Movements of money and their journal. Each movement is one synchronous step, which no other fiber
 * can interrupt.
 */
import { DateTime, Equal } from "effect"
import { transferAccounts } from "../../domain/money/transfers.ts"
import { storable } from "../../domain/plainText.ts"
import {
  accountsOf,
  availableOf,
  type Capture,
  type Closed,
  coverOf,
  type HoldRequest,
  type JournalEntry,
  journalId,
  type Reassignment,
  type Release
} from "../../services/Ledger.ts"
import type { HoldOutcome } from "../../services/ledgerAnswers.ts"
import type { TaskOutcome } from "../../services/TaskRepo.ts"
import { notifyOfPool, notifyOfTask } from "../delivery/notifications.ts"
import { addToBudgets, budgetsOf, recordRefusal, refusalOf } from "../money/countedBudgets.ts"
import type { Now } from "../money/storedBudgets.ts"
import {
  type Books,
  byCreation,
  type MemoryState,
  type Moment,
  momentOf,
  monthKey,
  overageOf,
  poolOf,
  type StoredMonth,
  type StoredOrder,
  type StoredTask
} from "./MemoryStore.ts"
import { addOrphan } from "./OrphansMemory.ts"

/** The first day of the current month in the time zone, such as `2026-01-01`. */
export const monthAt = (nowMillis: number, timeZone: string): string =>
  DateTime.makeZonedUnsafe(nowMillis, { timeZone }).pipe(
    DateTime.startOf("month"),
    DateTime.formatIsoDate
  )

const monthOf = ({ months }: Books, memberId: string, firstDay: string): StoredMonth => {
  const key = monthKey(memberId, firstDay)
  const month = months.get(key) ?? { heldNano: 0n, capturedNano: 0n }
  months.set(key, month)
  return month
}

const addSeconds = (nowMillis: number, seconds: number): number => nowMillis + seconds * 1000

const newTask = ({ ttlSeconds, task }: HoldRequest, nowMillis: number): StoredTask | null =>
  task === null
    ? null
    : {
        ordered: task,
        submitDeadline: addSeconds(nowMillis, task.submitSeconds),
        deadline: addSeconds(nowMillis, ttlSeconds),
        state: task.isWaiting === true ? "waiting" : "submitting",
        upstreamId: null,
        accountVersion: null,
        keyName: null,
        videoUrl: null,
        stills: null,
        result: null,
        files: null,
        completionTokens: null,
        errorCode: null,
        errorMessage: null,
        acceptedAt: null,
        askedAt: null,
        cancelSentAt: null,
        nextPollAt: null,
        unknownSince: null,
        finishedAt: null,
        erasedAt: null,
        lease: 0n
      }

/** Creates a hold. Budgets are checked before the pool; a refusal changes nothing. */
export const holdFunds = (
  state: MemoryState,
  books: Books,
  request: HoldRequest,
  closeTime: Now & { readonly keySeconds: number }
): HoldOutcome => {
  const { id, memberId, amountNano, exposureNano = amountNano, key } = request
  const { nowMillis, timeZone } = closeTime
  const answer = (outcome: HoldOutcome["outcome"], amounts: Partial<HoldOutcome> = {}) => ({
    outcome,
    available: 0n,
    budget: null,
    ...amounts
  })
  if (books.orders.has(id)) return answer("known")
  const storedKey = key === null ? undefined : books.requestKeys.get(key.key)
  if (storedKey !== undefined && storedKey.expiresAt > nowMillis) return answer("key_used")
  if (!books.members.has(memberId)) return answer("unknown_member")
  const countsIn = [...budgetsOf(books, request, closeTime)]
  const refusal = refusalOf(countsIn, amountNano, closeTime)
  if (refusal !== null) {
    recordRefusal(state, books, refusal.exceeded, closeTime)
    const { budget } = refusal
    return answer("budget_exceeded", { budget })
  }
  if (books.pool.stoppedReason !== null) return answer("stopped")
  const available = availableOf(poolOf(books))
  if (amountNano > available) return answer("insufficient_balance", { available })
  const cover = coverOf(poolOf(books))
  if (cover !== null && amountNano > cover) return answer("overexposed", { available: cover })
  const month = monthAt(nowMillis, timeZone)
  books.orders.set(id, {
    request,
    job: request.job,
    cost: request.cost ?? null,
    costNano: null,
    vendorBill: null,
    reportedCostNano: null,
    refusals: [],
    failure: null,
    month,
    countsIn,
    held: momentOf(state, nowMillis),
    expiresAt: addSeconds(nowMillis, request.ttlSeconds),
    task: newTask(request, nowMillis),
    state: "open",
    chargeNano: 0n,
    usage: null,
    call: null,
    ended: null,
    closedBy: null
  })
  if (key !== null) {
    const expiresAt = addSeconds(nowMillis, closeTime.keySeconds)
    books.requestKeys.set(key.key, { ...key, holdId: id, expiresAt, answer: null })
  }
  monthOf(books, memberId, month).heldNano += amountNano
  addToBudgets(state, books, countsIn, { heldNano: amountNano, capturedNano: 0n }, closeTime)
  books.pool.heldNano += amountNano
  books.pool.uncoveredNano += exposureNano - amountNano
  return answer("held")
}

/** Whether the task still has the state and the lease for which the close was decided. */
const isApplicable = (task: StoredTask | null, outcome: TaskOutcome | null): boolean => {
  if (outcome === null) return true
  const lease = outcome.state === "succeeded" ? null : (outcome.lease ?? null)
  return task?.state === outcome.from && (lease === null || lease === task.lease)
}

const endTask = (task: StoredTask, outcome: TaskOutcome, nowMillis: number): void => {
  task.state = outcome.state
  task.nextPollAt = null
  task.finishedAt = nowMillis
  if (outcome.state === "succeeded" && outcome.from === "submitting") {
    task.result = JSON.stringify(outcome.result)
    task.files = outcome.files ?? null
  } else if (outcome.state === "succeeded") {
    task.videoUrl = storable(outcome.videoUrl)
    task.stills = outcome.stills ?? null
    task.completionTokens = outcome.completionTokens
  } else {
    task.errorCode = storable(outcome.errorCode)
    task.errorMessage = storable(outcome.errorMessage)
  }
}

/**
 * Stores the response under the order's idempotency key, or deletes the key so that a repeat
 * creates a new order.
 */
const settleKeys = ({ requestKeys }: Books, request: Capture | Release) => {
  for (const [key, storedRequest] of requestKeys) {
    if (storedRequest.holdId !== request.holdId) continue
    if ("forgetKey" in request && request.forgetKey) requestKeys.delete(key)
    else storedRequest.answer = request.answer ?? storedRequest.answer
  }
}

/**
 * Assigns an open order to the next channel; false where the order is not open. A repeat changes
 * nothing.
 */
export const reassignOrder = (
  { orders }: Books,
  { holdId, job, cost, refusal }: Reassignment,
  nowMillis: number
): boolean => {
  const order = orders.get(holdId)
  if (order?.state !== "open") return false
  if (!Equal.equals(order.job, job)) {
    order.refusals.push({ ...order.job, ...refusal, at: new Date(nowMillis) })
    order.job = job
    order.cost = cost
    if (order.task !== null) order.task.lease = 0n
  }
  return true
}

const closeOrder = (
  state: MemoryState,
  books: Books,
  order: StoredOrder,
  request: Capture | Release,
  now: Now
): void => {
  const { nowMillis } = now
  const { memberId, amountNano, exposureNano = amountNano } = order.request
  if ("chargeNano" in request) {
    if (request.chargeNano <= 0n) throw new Error("a charge is greater than 0")
    order.state = "captured"
    order.chargeNano = request.chargeNano
    order.costNano = request.costNano ?? null
    order.vendorBill = request.vendorBill ?? null
    order.reportedCostNano = request.reportedCostNano ?? null
    order.usage = request.usage
    order.call = request.call ?? null
  } else {
    order.state = "released"
    order.failure = request.failure ?? null
  }
  const orphan = request.orphan ?? null
  if (orphan !== null) addOrphan(state, order, orphan, nowMillis)
  order.ended = momentOf(state, nowMillis)
  order.closedBy = request.by
  const month = monthOf(books, memberId, order.month)
  month.heldNano -= amountNano
  month.capturedNano += order.chargeNano
  const amounts = { heldNano: -amountNano, capturedNano: order.chargeNano }
  addToBudgets(state, books, order.countsIn, amounts, now)
  books.pool.heldNano -= amountNano
  books.pool.uncoveredNano -= exposureNano - amountNano
  books.pool.balanceNano -= order.chargeNano
  notifyOfPool(state, books, nowMillis)
  if (order.task !== null && request.task !== null) {
    endTask(order.task, request.task, nowMillis)
    notifyOfTask(state, order, order.task, nowMillis)
  }
  settleKeys(books, request)
}

/**
 * Closes the hold of an order; null where there is no such order. The first close wins, and later
 * ones change nothing.
 */
export const closeHold = (
  state: MemoryState,
  books: Books,
  request: Capture | Release,
  now: Now
): Closed | null => {
  const order = books.orders.get(request.holdId)
  if (order === undefined) return null
  const hasWon = order.state === "open" && isApplicable(order.task, request.task)
  if (hasWon) closeOrder(state, books, order, request, now)
  return {
    won: hasWon,
    state: order.state,
    capturedNano: order.chargeNano,
    overageNano: overageOf(order)
  }
}

/** All entries of the journal, sorted by the creation of their order or transfer, oldest first. */
export const journalOf = ({ transfers, orders }: Books): ReadonlyArray<JournalEntry> => {
  const transferEntries = transfers.map(({ orderId, ...transfer }) => {
    const accounts = transferAccounts[transfer.kind]
    const entries: ReadonlyArray<JournalEntry> = [
      { ...transfer, ...accounts, holdId: null, correctedId: orderId }
    ]
    return { id: transfer.id, entries }
  })
  const orderEntries = [...orders.values()].map(({ request, held, ended, chargeNano }) => {
    const entry = (kind: keyof typeof accountsOf, amountNano: bigint, { at }: Moment) => {
      const { id: holdId } = request
      const id = journalId(kind, holdId)
      return {
        id,
        kind,
        amountNano,
        ...accountsOf[kind],
        holdId,
        reference: null,
        reason: null,
        author: null,
        correctedId: null,
        createdAt: at
      }
    }
    const entries = [entry("hold", request.amountNano, held)]
    if (ended !== null && chargeNano > 0n) entries.push(entry("capture", chargeNano, ended))
    if (ended !== null) entries.push(entry("release", request.amountNano, ended))
    return { id: request.id, entries }
  })
  return [...transferEntries, ...orderEntries]
    .toSorted(byCreation)
    .flatMap(({ entries }) => entries)
}
