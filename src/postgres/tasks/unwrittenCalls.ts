/**
 * The queue of calls that wait to be written. Most calls are polls with the same answer as before:
 * such polls are counted in one row, which is written again after some time.
 */
import { makeBoundedMap } from "../../runtime/boundedMap.ts"
import type { CallSubject, VendorCall } from "../../services/CallLog.ts"
import type { LoggedCall } from "../../services/TaskHistory.ts"

/** A row to write; it replaces the row with the same id. */
export interface CallRow extends LoggedCall {
  readonly organizationId: string
  readonly jobId: string
  readonly outcome: string
}

interface GatheredPolls {
  readonly row: CallRow
  readonly sinceMillis: number
}

/** The key of the call's job in the maps. */
const jobKey = ({ organizationId, jobId }: CallRow): string => `${organizationId} ${jobId}`

/**
 * Caches the last polls of at most `maxJobs` jobs, and gathers repeats in at most `maxGathered`
 * rows.
 */
export const makeUnwrittenCalls = (maxJobs: number, maxGathered: number) => {
  /**
   * The last poll of each job, without its bodies; the job whose last poll is the oldest comes
   * first.
   */
  const lastPolls = makeBoundedMap<CallRow>(maxJobs)
  /** Rows to write, by id. Repeats of a waiting poll are added to its row. */
  const waitingRows = new Map<string, CallRow>()
  /**
   * Rows that gather repeats, by id; the row that has gathered for the longest time comes first.
   */
  const gatheredPolls = new Map<string, GatheredPolls>()

  const remember = (row: CallRow) => {
    if (row.purpose !== "poll") lastPolls.drop(jobKey(row))
    else lastPolls.set(jobKey(row), { ...row, request: null, answer: null })
  }

  const release = (untilMillis: number) => {
    for (const [id, { row, sinceMillis }] of gatheredPolls) {
      if (sinceMillis > untilMillis && gatheredPolls.size <= maxGathered) return
      gatheredPolls.delete(id)
      waitingRows.set(id, row)
    }
  }

  return {
    /** The number of rows that wait to be written. */
    waiting: () => waitingRows.size,
    add: (id: string, subject: CallSubject, call: VendorCall, nowMillis: number): void => {
      const { organizationId, jobId, channelId, purpose } = subject
      const lastAt = call.startedAt
      const row = { ...call, id, organizationId, jobId, channelId, purpose, repeats: 0, lastAt }
      const last = lastPolls.peek(jobKey(row))
      if (purpose !== "poll" || last?.outcome !== call.outcome) {
        remember(row)
        waitingRows.set(id, row)
        return
      }
      const { durationMillis, answer } = call
      const repeat = { ...last, durationMillis, answer, lastAt, repeats: last.repeats + 1 }
      remember(repeat)
      const waitingRow = waitingRows.get(last.id)
      if (waitingRow !== undefined) {
        waitingRows.set(last.id, { ...repeat, request: waitingRow.request })
        return
      }
      const { sinceMillis = nowMillis } = gatheredPolls.get(last.id) ?? {}
      gatheredPolls.set(last.id, { row: repeat, sinceMillis })
      release(Number.NEGATIVE_INFINITY)
    },
    /** Removes the cached polls from before the time; most of their jobs have ended. */
    forget: (beforeMillis: number): void =>
      lastPolls.dropWhile(({ lastAt }) => lastAt.getTime() < beforeMillis),
    /** Moves the rows that began to gather at `untilMillis` or before to the rows to write. */
    release,
    /** Removes up to `limit` rows from the queue, to be written. */
    take: (limit: number): ReadonlyArray<CallRow> => {
      const rows = [...waitingRows.values()].slice(0, limit)
      for (const { id } of rows) waitingRows.delete(id)
      return rows
    },
    /**
     * Puts rows whose write was interrupted back into the queue, with the repeats that were counted
     * in the meantime.
     */
    putBack: (rows: ReadonlyArray<CallRow>): void => {
      for (const row of rows) {
        const newest = waitingRows.get(row.id) ?? gatheredPolls.get(row.id)?.row ?? row
        gatheredPolls.delete(row.id)
        waitingRows.set(row.id, { ...newest, request: row.request })
      }
    }
  }
}
