/**
 * The intervals at which the gateway polls tasks at vendors, and at which clients should poll the
 * gateway.
 */

export interface PollPace {
  /** The minimum interval between two polls of one task. */
  readonly askIntervalSeconds: number
  /** The maximum interval between two polls of one task by the poller. */
  readonly maxAskIntervalSeconds: number
}

/** The poll interval as a share of the task's age. */
const SHARE_OF_AGE = 0.1
/**
 * The first interval of a task, as a multiple of the minimum interval. It is above 1, so that
 * jitter applies to young tasks too.
 */
const FIRST_PACE = 1.25
/** The maximum jitter, as a share of the interval. */
const JITTER = 0.2

/**
 * Seconds until the next poll, within both bounds of the pace. The interval grows with the age of
 * the task; `chance`, from 0 up to 1, is the random jitter that spreads tasks which began together.
 */
export const nextPollSeconds = (pace: PollPace, ageSeconds: number, chance: number): number => {
  const { askIntervalSeconds, maxAskIntervalSeconds } = pace
  const intervalSeconds = Math.max(askIntervalSeconds * FIRST_PACE, ageSeconds * SHARE_OF_AGE)
  const jittered = Math.min(intervalSeconds, maxAskIntervalSeconds) * (1 - JITTER * chance)
  return Math.max(askIntervalSeconds, jittered)
}

/**
 * The maximum `Retry-After` that clients are sent, in seconds, however long a task usually takes.
 */
const LONGEST_ABSENCE_SECONDS = 60

/** A task that has not ended, as its client asks for it. */
export interface PolledTask {
  /** Seconds since the vendor accepted the task, or since the order if no vendor has. */
  readonly ageSeconds: number
  /** Whether a vendor has accepted the task: only then has its usual duration begun. */
  readonly isAccepted: boolean
  /** The usual duration of such tasks at their vendor; null if it is unknown. */
  readonly usualSeconds: number | null
}

/**
 * Milliseconds after which a client should poll a task again. The delay is what remains of the usual
 * duration of such tasks. If that time has passed or is unknown, the delay is a share of the task's
 * age. It is never shorter than the minimum interval between polls at the vendor.
 */
export const clientPollMillis = (
  { askIntervalSeconds }: Pick<PollPace, "askIntervalSeconds">,
  { ageSeconds, isAccepted, usualSeconds }: PolledTask
): number => {
  const remainingSeconds = (usualSeconds ?? 0) - (isAccepted ? ageSeconds : 0)
  const waitSeconds = remainingSeconds > 0 ? remainingSeconds : ageSeconds * SHARE_OF_AGE
  const boundedSeconds = Math.max(
    askIntervalSeconds,
    Math.min(waitSeconds, LONGEST_ABSENCE_SECONDS)
  )
  return Math.ceil(boundedSeconds * 1000)
}

/**
 * The maximum pause that a vendor's `Retry-After` can impose, so that a recovered vendor is
 * noticed.
 */
const LONGEST_PAUSE_SECONDS = 300

/** Seconds for which a channel pauses after a vendor's `Retry-After`; 0 without such a header. */
export const pauseSeconds = (retryAfterSeconds: number | null | undefined): number =>
  Math.min(retryAfterSeconds ?? 0, LONGEST_PAUSE_SECONDS)
