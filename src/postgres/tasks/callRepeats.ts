/**
 * Polls that were answered as before, gathered so that many of them are written as one: most of what
 * is said to vendors is the same question with the same answer.
 */

/** A call as it is written; it may stand for further ones with the same end. */
export interface CallItem {
  readonly organization_id: string
  readonly job_id: string
  readonly id: string
  readonly purpose: string
  readonly method: string
  readonly url: string
  readonly status: number | null
  readonly failure: string | null
  readonly outcome: string
  readonly started_at: string
  /** Of the newest call, like the answer. */
  readonly duration_ms: number
  readonly request: unknown
  readonly answer: unknown
  /** How many further calls it stands for, and when the last of them began. */
  readonly repeats: number
  readonly last_at: string
}

interface Gathered {
  readonly item: CallItem
  readonly weight: number
  readonly sinceMillis: number
}

export interface CallRepeats {
  /**
   * What is to be written now: nothing for a repeat, else the call itself, after what the repeats of
   * the one before it came to. `weight` is how many characters the call holds, roughly.
   */
  add(item: CallItem, weight: number, nowMillis: number): ReadonlyArray<CallItem>
  /** What was gathered and began to be at that moment or before, for the writer to take over. */
  take(untilMillis: number): ReadonlyArray<CallItem>
}

/** Of the job it is about. */
export const nameOf = ({ organization_id, job_id }: CallItem): string =>
  `${organization_id} ${job_id}`

/** Remembers the ends of at most `maxJobs` jobs, and holds repeats of at most `maxWeight`. */
export const makeCallRepeats = (maxJobs: number, maxWeight: number): CallRepeats => {
  /** How each job's latest call ended; the one that ended so longest ago comes first. */
  const ends = new Map<string, string>()
  /** Those gathered longest come first. */
  const gathered = new Map<string, Gathered>()
  let held = 0

  const takeOne = (name: string): ReadonlyArray<CallItem> => {
    const one = gathered.get(name)
    if (one === undefined) return []
    gathered.delete(name)
    held -= one.weight
    return [one.item]
  }

  const takeWhile = (wanted: (one: Gathered) => boolean): ReadonlyArray<CallItem> => {
    const taken: Array<CallItem> = []
    for (const [name, one] of gathered) {
      if (!wanted(one)) break
      taken.push(...takeOne(name))
    }
    return taken
  }

  const remember = (name: string, item: CallItem) => {
    ends.delete(name)
    if (item.purpose !== "poll") return
    ends.set(name, item.outcome)
    if (ends.size <= maxJobs) return
    for (const oldest of ends.keys()) {
      ends.delete(oldest)
      break
    }
  }

  return {
    add: (item, weight, nowMillis) => {
      const name = nameOf(item)
      if (item.purpose !== "poll" || ends.get(name) !== item.outcome) {
        remember(name, item)
        return [...takeOne(name), item]
      }
      const before = gathered.get(name)
      held += weight - (before?.weight ?? 0)
      gathered.set(
        name,
        before === undefined
          ? { item, weight, sinceMillis: nowMillis }
          : {
              item: {
                ...before.item,
                duration_ms: item.duration_ms,
                answer: item.answer,
                repeats: before.item.repeats + 1,
                last_at: item.started_at
              },
              weight,
              sinceMillis: before.sinceMillis
            }
      )
      return takeWhile(() => held > maxWeight)
    },
    take: (untilMillis) => takeWhile(({ sinceMillis }) => sinceMillis <= untilMillis)
  }
}
