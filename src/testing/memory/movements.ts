/** Each movement of money as one step that nothing can come between. */
import { storable } from "../../domain/plainText.ts"
import type { Capture, Closed, HoldRequest, JournalEntry, Release } from "../../services/Ledger.ts"
import type { TaskOutcome } from "../../services/TaskRepo.ts"
import type { Month } from "./calendar.ts"
import {
  addOrphan,
  type Books,
  type MemoryState,
  monthKey,
  overageOf,
  type StoredHold,
  type StoredMonth,
  type StoredTask
} from "./MemoryStore.ts"

export type Held =
  | { readonly _tag: "held" | "known" | "key_used" | "unknown_member" | "stopped" }
  | { readonly _tag: "member_cap_exceeded"; readonly capNano: bigint; readonly usedNano: bigint }
  | { readonly _tag: "insufficient_balance"; readonly availableNano: bigint }

/** Beyond it a pool takes no deposit. */
const MAX_BALANCE_NANO = 4_000_000_000_000_000_000n

const write = (
  { journal }: Books,
  nowMillis: number,
  entry: Omit<JournalEntry, "createdAt">
): void => {
  journal.push({ ...entry, createdAt: new Date(nowMillis) })
}

const transferId = (state: MemoryState): string => {
  state.transfers += 1
  return `tr_${state.transfers}`
}

const monthOf = ({ months }: Books, memberId: string, month: string): StoredMonth => {
  const key = monthKey(memberId, month)
  const known = months.get(key)
  if (known !== undefined) return known
  const fresh = { memberId, month, heldNano: 0n, capturedNano: 0n }
  months.set(key, fresh)
  return fresh
}

const after = (nowMillis: number, seconds: number): number => nowMillis + seconds * 1000

const newTask = (
  { id, ttlSeconds }: HoldRequest,
  ordered: StoredTask["ordered"],
  nowMillis: number
): StoredTask => ({
  id,
  ordered,
  createdAt: nowMillis,
  submitDeadline: after(nowMillis, ordered.submitSeconds),
  deadline: after(nowMillis, ttlSeconds),
  state: "submitting",
  upstreamId: null,
  videoUrl: null,
  completionTokens: null,
  errorCode: null,
  errorMessage: null,
  acceptedAt: null,
  askedAt: null,
  nextPollAt: null,
  unknownSince: null,
  finishedAt: null,
  lease: 0n
})

/** The cap is checked before the pool; a refusal changes nothing. */
export const holdFunds = (
  books: Books,
  request: HoldRequest,
  when: { readonly nowMillis: number; readonly month: Month; readonly keySeconds: number }
): Held => {
  const { id, memberId, amountNano, key, task } = request
  const { nowMillis, month } = when
  if (books.holds.has(id)) return { _tag: "known" }
  const taken = key === null ? undefined : books.requestKeys.get(key.key)
  if (taken !== undefined && taken.expiresAt > nowMillis) return { _tag: "key_used" }
  const member = books.members.get(memberId)
  if (member === undefined) return { _tag: "unknown_member" }
  const used = monthOf(books, memberId, month.first)
  const usedNano = used.heldNano + used.capturedNano
  const capNano = member.monthlyCapNano
  if (capNano !== null && usedNano + amountNano > capNano) {
    return { _tag: "member_cap_exceeded", capNano, usedNano }
  }
  if (books.pool.stoppedReason !== null) return { _tag: "stopped" }
  const availableNano = books.pool.balanceNano - books.pool.heldNano
  if (amountNano > availableNano) return { _tag: "insufficient_balance", availableNano }
  books.holds.set(id, {
    request,
    month: month.first,
    createdAt: nowMillis,
    expiresAt: after(nowMillis, request.ttlSeconds),
    state: "open",
    capturedNano: 0n,
    closedAt: null,
    closedBy: null
  })
  if (task !== null) books.tasks.set(id, newTask(request, task, nowMillis))
  if (key !== null) {
    const expiresAt = after(nowMillis, when.keySeconds)
    books.requestKeys.set(key.key, { ...key, holdId: id, expiresAt, answer: null })
  }
  used.heldNano += amountNano
  books.pool.heldNano += amountNano
  write(books, nowMillis, {
    id: `hold_${id}`,
    kind: "hold",
    amountNano,
    debit: "pool",
    credit: "held",
    holdId: id,
    reference: null
  })
  return { _tag: "held" }
}

/** Whether a close that was decided for the task in some state still applies. */
const applies = (task: StoredTask | undefined, outcome: TaskOutcome | null): boolean => {
  if (outcome === null) return true
  const lease = outcome.state === "succeeded" ? null : (outcome.lease ?? null)
  return task?.state === outcome.from && (lease === null || lease === task.lease)
}

const endTask = (task: StoredTask, outcome: TaskOutcome, nowMillis: number): void => {
  task.state = outcome.state
  task.nextPollAt = null
  task.finishedAt = nowMillis
  if (outcome.state === "succeeded") {
    task.videoUrl = storable(outcome.videoUrl)
    task.completionTokens = outcome.completionTokens
  } else {
    task.errorCode = storable(outcome.errorCode)
    task.errorMessage = storable(outcome.errorMessage)
  }
}

const charge = (
  state: MemoryState,
  books: Books,
  hold: StoredHold,
  { chargeNano, usage }: Capture,
  nowMillis: number
): void => {
  const { id, memberId } = hold.request
  const { keyId, ...detail } = usage
  hold.state = "captured"
  hold.capturedNano = chargeNano
  books.pool.balanceNano -= chargeNano
  monthOf(books, memberId, hold.month).capturedNano += chargeNano
  write(books, nowMillis, {
    id: transferId(state),
    kind: "capture",
    amountNano: chargeNano,
    debit: "pool",
    credit: "revenue",
    holdId: id,
    reference: null
  })
  const createdAt = new Date(nowMillis)
  const record = {
    ...detail,
    inputUnitPriceNano: detail.inputUnitPriceNano ?? null,
    id: `us_${id}`,
    memberId,
    chargeNano,
    createdAt
  }
  books.usage.push({ holdId: id, keyId, record })
}

const settleKeys = (
  { requestKeys }: Books,
  { holdId, answer }: Capture | Release,
  forget: boolean
) => {
  for (const [key, kept] of requestKeys) {
    if (kept.holdId !== holdId) continue
    if (forget) requestKeys.delete(key)
    else kept.answer = answer ?? kept.answer
  }
}

/** Null when there is no such hold. The first close of a hold wins, later ones change nothing. */
export const closeHold = (
  state: MemoryState,
  books: Books,
  request: Capture | Release,
  nowMillis: number
): Closed | null => {
  const hold = books.holds.get(request.holdId)
  if (hold === undefined) return null
  const task = books.tasks.get(request.holdId)
  const won = hold.state === "open" && applies(task, request.task)
  if (won) {
    const { id, memberId, amountNano } = hold.request
    if ("chargeNano" in request) {
      if (request.chargeNano <= 0n) throw new Error("a charge is greater than 0")
      charge(state, books, hold, request, nowMillis)
    } else {
      hold.state = "released"
      if (request.orphan !== null) {
        const { upstreamId } = request.orphan
        const id = upstreamId === null ? null : storable(upstreamId)
        addOrphan(state, hold, { ...request.orphan, upstreamId: id }, nowMillis)
      }
    }
    hold.closedAt = nowMillis
    hold.closedBy = request.by
    books.pool.heldNano -= amountNano
    monthOf(books, memberId, hold.month).heldNano -= amountNano
    write(books, nowMillis, {
      id: `release_${id}`,
      kind: "release",
      amountNano,
      debit: "held",
      credit: "pool",
      holdId: id,
      reference: null
    })
    if (task !== undefined && request.task !== null) endTask(task, request.task, nowMillis)
    settleKeys(books, request, "forgetKey" in request && request.forgetKey)
  }
  return {
    won,
    state: hold.state,
    capturedNano: hold.capturedNano,
    overageNano: overageOf(hold)
  }
}

export const depositFunds = (
  state: MemoryState,
  books: Books,
  amountNano: bigint,
  reference: string,
  nowMillis: number
): "applied" | "repeated" | "mismatch" | "too_large" => {
  const known = books.journal.find(
    (entry) => entry.kind === "deposit" && entry.reference === reference
  )
  if (known !== undefined) return known.amountNano === amountNano ? "repeated" : "mismatch"
  if (books.pool.balanceNano > MAX_BALANCE_NANO - amountNano) return "too_large"
  books.pool.balanceNano += amountNano
  write(books, nowMillis, {
    id: transferId(state),
    kind: "deposit",
    amountNano,
    debit: "external",
    credit: "pool",
    holdId: null,
    reference
  })
  return "applied"
}
