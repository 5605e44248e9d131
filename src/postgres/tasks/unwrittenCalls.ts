/**
 * Calls that wait to be written. Most of what is said to vendors is the same question with the same
 * answer: such polls are counted in one row, which is written again once many have come.
 */
import { makeBoundedMap } from "../../runtime/boundedMap.ts"
import type { CallSubject, VendorCall } from "../../services/CallLog.ts"
import type { LoggedCall } from "../../services/TaskHistory.ts"

/** A row as it is to stand; it takes the place of what was written of it before. */
export interface CallRow extends LoggedCall {
  readonly organizationId: string
  readonly jobId: string
  readonly outcome: string
}

interface Gathered {
  readonly row: CallRow
  readonly sinceMillis: number
}

/** Of the job it is about. */
const nameOf = ({ organizationId, jobId }: CallRow): string => `${organizationId} ${jobId}`

/** Remembers the last polls of at most `maxJobs` jobs, and gathers repeats of at most `maxGathered`. */
export const makeUnwrittenCalls = (maxJobs: number, maxGathered: number) => {
  /** The last call of each job that is polled, without its bodies; the longest unasked job first. */
  const lastPolls = makeBoundedMap<CallRow>(maxJobs)
  /** By id, like `gathered`: a row that waits takes what comes on top. */
  const waiting = new Map<string, CallRow>()
  /** Those gathered longest come first. */
  const gathered = new Map<string, Gathered>()

  const remember = (row: CallRow) => {
    if (row.purpose !== "poll") lastPolls.drop(nameOf(row))
    else lastPolls.set(nameOf(row), { ...row, request: null, answer: null })
  }

  const release = (untilMillis: number) => {
    for (const [id, { row, sinceMillis }] of gathered) {
      if (sinceMillis > untilMillis && gathered.size <= maxGathered) return
      gathered.delete(id)
      waiting.set(id, row)
    }
  }

  return {
    /** Rows to be written now. */
    waiting: () => waiting.size,
    add: (id: string, subject: CallSubject, call: VendorCall, nowMillis: number): void => {
      const { organizationId, jobId, channelId, purpose } = subject
      const lastAt = call.startedAt
      const row = { ...call, id, organizationId, jobId, channelId, purpose, repeats: 0, lastAt }
      const last = lastPolls.peek(nameOf(row))
      if (purpose !== "poll" || last?.outcome !== call.outcome) {
        remember(row)
        waiting.set(id, row)
        return
      }
      const { durationMillis, answer } = call
      const again = { ...last, durationMillis, answer, lastAt, repeats: last.repeats + 1 }
      remember(again)
      const unwritten = waiting.get(last.id)
      if (unwritten !== undefined) {
        waiting.set(last.id, { ...again, request: unwritten.request })
        return
      }
      const { sinceMillis = nowMillis } = gathered.get(last.id) ?? {}
      gathered.set(last.id, { row: again, sinceMillis })
      release(Number.NEGATIVE_INFINITY)
    },
    /** Forgets jobs that were not asked for since: most of them have ended. */
    forget: (beforeMillis: number): void =>
      lastPolls.dropWhile(({ lastAt }) => lastAt.getTime() < beforeMillis),
    /** Has rows written that began to be gathered at that moment or before. */
    release,
    /** The rows to be written next, at most so many. */
    take: (most: number): ReadonlyArray<CallRow> => {
      const rows = [...waiting.values()].slice(0, most)
      for (const { id } of rows) waiting.delete(id)
      return rows
    },
    /** Rows that were taken and not written. */
    putBack: (rows: ReadonlyArray<CallRow>): void => {
      for (const row of rows) {
        const newest = waiting.get(row.id) ?? gathered.get(row.id)?.row ?? row
        gathered.delete(row.id)
        waiting.set(row.id, { ...newest, request: row.request })
      }
    }
  }
}
