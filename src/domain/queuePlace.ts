/** The place of an order that waits for a channel with a maximum number of tasks. */
export interface QueuePlace {
  /** The number of orders that get a place before it, itself included. */
  readonly position: number
  /** Seconds until it is expected to be submitted; null where no such video has ended yet. */
  readonly seconds: number | null
}

/** The place at a position of a queue, where each task of the channel takes its usual time. */
export const queuePlace = (
  position: number,
  maxTasks: number,
  usualSeconds: number | null
): QueuePlace => ({
  position,
  seconds: usualSeconds === null ? null : Math.ceil((position / maxTasks) * usualSeconds)
})
