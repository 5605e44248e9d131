/**
 * The balance of an organisation over time, computed backwards through its journal from the present
 * balance. A charge counts at the time of its order, as in the journal and the statements, so the
 * balance is exact even if only a part of the journal is loaded. A hold counts from the time it was
 * taken.
 */
import type { JournalEntry } from "../../../../features/catalog/AdminApi.ts"
import { nanoOf } from "../../../parts/money/decimals.ts"

export type JournalLine = typeof JournalEntry.Type

export interface HistoryPoint {
  readonly at: string
  readonly balance: bigint
  readonly held: bigint
}

export interface BalanceHistory {
  /** The points in ascending order; the last one is the present. */
  readonly points: ReadonlyArray<HistoryPoint>
  /**
   * The balance before the first journal entry, which must be zero; null until the whole journal is
   * loaded.
   */
  readonly remainder: bigint | null
}

interface Moment {
  readonly at: string
  readonly change: bigint
  readonly hold: bigint
  /** The time at which the hold was released; null while it is open. */
  readonly releasedAt: string | null
}

/**
 * The change of the balance by a journal line. Holds do not change it, since the balance includes
 * held money.
 */
const changeOf = ({ kind, amount, credit }: JournalLine): bigint => {
  if (kind === "hold" || kind === "release") return 0n
  return credit === "pool" ? nanoOf(amount) : -nanoOf(amount)
}

/**
 * The lines of one order are adjacent, with the hold last; null where the hold is on a later page.
 */
const momentOf = (lines: ReadonlyArray<JournalLine>): Moment | null => {
  const hold = lines.find(({ kind }) => kind === "hold")
  const [first] = lines
  if (first === undefined || (first.hold_id !== null && hold === undefined)) return null
  return {
    at: (hold ?? first).created_at,
    change: lines.reduce((sum, line) => sum + changeOf(line), 0n),
    hold: hold === undefined ? 0n : nanoOf(hold.amount),
    releasedAt: lines.find(({ kind }) => kind === "release")?.created_at ?? null
  }
}

const momentsOf = (lines: ReadonlyArray<JournalLine>): ReadonlyArray<Moment> => {
  const groups: Array<Array<JournalLine>> = []
  for (const line of lines) {
    const last = groups.at(-1)
    if (line.hold_id !== null && last?.[0]?.hold_id === line.hold_id) last.push(line)
    else groups.push([line])
  }
  return groups.map(momentOf).filter((moment) => moment !== null)
}

export const historyOf = (
  lines: ReadonlyArray<JournalLine>,
  present: { readonly at: string; readonly balance: string; readonly held: string },
  isComplete: boolean
): BalanceHistory => {
  const moments = momentsOf(lines)
  const balances = new Map<string, bigint>()
  let balance = nanoOf(present.balance)
  let newer = present.at
  // Of several entries at the same time the newest counts. Where clocks differ, the order of the
  // journal is kept.
  for (const { at, change } of moments) {
    newer = at < newer ? at : newer
    if (!balances.has(newer)) balances.set(newer, balance)
    balance -= change
  }
  const start = balance
  const holds = new Map<string, bigint>()
  let base = nanoOf(present.held)
  for (const { at, hold, releasedAt } of moments) {
    holds.set(at, (holds.get(at) ?? 0n) + hold)
    if (releasedAt === null) base -= hold
    else holds.set(releasedAt, (holds.get(releasedAt) ?? 0n) - hold)
  }
  let held = base
  balance = start
  const points: Array<HistoryPoint> = []
  for (const at of [...new Set([...balances.keys(), ...holds.keys()])].toSorted()) {
    balance = balances.get(at) ?? balance
    held += holds.get(at) ?? 0n
    points.push({ at, balance, held })
  }
  points.push({ at: present.at, balance: nanoOf(present.balance), held: nanoOf(present.held) })
  return { points, remainder: isComplete ? start : null }
}
