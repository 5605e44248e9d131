/** When to ask a vendor about a task again. */

export interface PollPace {
  /** Shortest time between two questions about one task. */
  readonly askIntervalSeconds: number
  /** Longest time between two of the poller's questions about one task. */
  readonly maxAskIntervalSeconds: number
}

/** A question every tenth of the task's age. */
const SHARE_OF_AGE = 0.1
/** The youngest tasks' pace, in ask intervals: above 1, so that they too can be spread. */
const FIRST_PACE = 1.25
/** The part of a pace that chance may take away. */
const JITTER = 0.2

/**
 * Seconds until the next question, within both bounds of the pace. The older the task, the longer;
 * `chance`, from 0 up to 1, spreads tasks that began together.
 */
export const nextPollSeconds = (pace: PollPace, ageSeconds: number, chance: number): number => {
  const { askIntervalSeconds, maxAskIntervalSeconds } = pace
  const intervalSeconds = Math.max(askIntervalSeconds * FIRST_PACE, ageSeconds * SHARE_OF_AGE)
  const jittered = Math.min(intervalSeconds, maxAskIntervalSeconds) * (1 - JITTER * chance)
  return Math.max(askIntervalSeconds, jittered)
}

/** No client is sent away for longer, however long a task usually takes. */
const LONGEST_ABSENCE_SECONDS = 60

/**
 * Milliseconds after which a client should ask about a running task again: when tasks of its kind
 * usually end, and once that has passed or is not known (`usualSeconds` null), a share of its age.
 * Never sooner than the vendor is asked again.
 */
export const clientPollMillis = (
  { askIntervalSeconds }: Pick<PollPace, "askIntervalSeconds">,
  task: { readonly ageSeconds: number; readonly usualSeconds: number | null }
): number => {
  const remainingSeconds = (task.usualSeconds ?? 0) - task.ageSeconds
  const waitSeconds = remainingSeconds > 0 ? remainingSeconds : task.ageSeconds * SHARE_OF_AGE
  const boundedSeconds = Math.max(
    askIntervalSeconds,
    Math.min(waitSeconds, LONGEST_ABSENCE_SECONDS)
  )
  return Math.ceil(boundedSeconds * 1000)
}

/** A vendor may ask for silence, but not for so long that its return goes unnoticed. */
const LONGEST_PAUSE_SECONDS = 300

/** Seconds a channel is left alone for a vendor's `Retry-After`; 0 when it named none. */
export const pauseSeconds = (retryAfterSeconds: number | null | undefined): number =>
  Math.min(retryAfterSeconds ?? 0, LONGEST_PAUSE_SECONDS)
