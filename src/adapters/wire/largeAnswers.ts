/**
 * A queue of large answers with a byte budget. Vendors answer many orders at the same pace, so
 * without the queue all images would be in memory at the same time. The queue lets only a few
 * answers be read at a time: the first ones are delivered to their clients before the last ones are
 * read from their sockets.
 */

/** A large answer in the queue, which it enters when its size exceeds the limit. */
export type LargeAnswer = ReturnType<LargeAnswers["enter"]>

export type LargeAnswers = ReturnType<typeof makeLargeAnswers>

export const makeLargeAnswers = ({
  budgetBytes,
  maxWaitMillis
}: {
  /**
   * The maximum number of bytes of the answers that are read at the same time. An answer of any
   * size is read if no other answer is being read. Once begun, every answer is read to its end, so
   * that no two answers wait for each other.
   */
  readonly budgetBytes: number
  /** The maximum time that an answer waits in the queue, and that its bytes count after its end. */
  readonly maxWaitMillis: number
}) => {
  /** The waiting answers in order of arrival. */
  const waitingAnswers = new Set<{ readonly bytes: () => number; readonly begin: () => void }>()
  let readingBytes = 0

  const hasRoomFor = (bytes: number): boolean =>
    readingBytes === 0 || readingBytes + bytes <= budgetBytes

  const admit = (): void => {
    for (const { bytes, begin } of waitingAnswers) {
      if (!hasRoomFor(bytes())) return
      begin()
    }
  }

  /**
   * Queues an answer of `expectedBytes`, which waits for `ownWaitMillis` or the limit of the queue,
   * whichever is shorter. The answer may be read immediately, or when `resume` is called. `resume`
   * is never called before `enter` returns, nor from within the calls of another answer.
   */
  const enter = (expectedBytes: number, resume: () => void, ownWaitMillis = maxWaitMillis) => {
    let bytes = expectedBytes
    let state: "waiting" | "reading" | "released" = "waiting"
    let timer: NodeJS.Timeout | undefined
    /**
     * The callback `resume`; null as soon as it is not needed, because its closure holds a large
     * answer.
     */
    let pendingResume: (() => void) | null = resume
    const stopWaiting = (): void => {
      clearTimeout(timer)
      waitingAnswers.delete(entry)
    }
    const begin = (): void => {
      stopWaiting()
      state = "reading"
      readingBytes += bytes
    }
    const entry = {
      bytes: () => bytes,
      begin: () => {
        begin()
        // The callback is called in a microtask, because reading from another connection must not
        // start while an HTTP parser runs.
        queueMicrotask(() => {
          if (state === "reading") pendingResume?.()
          pendingResume = null
        })
      }
    }
    const release = (): void => {
      stopWaiting()
      if (state === "reading") readingBytes -= bytes
      state = "released"
      pendingResume = null
      admit()
    }
    const startTimer = (millis: number, callback: () => void): void => {
      timer = setTimeout(callback, Math.min(millis, maxWaitMillis)).unref()
    }
    if ((waitingAnswers.size === 0 && hasRoomFor(bytes)) || ownWaitMillis <= 0) {
      begin()
      pendingResume = null
    } else {
      waitingAnswers.add(entry)
      startTimer(ownWaitMillis, entry.begin)
    }
    return {
      /** Whether the answer may be read; false while it waits in the queue. */
      isReading: () => state === "reading",
      /** Counts received bytes beyond the expected ones. */
      noteArrived: (arrivedBytes: number): void => {
        const extraBytes = Math.max(0, arrivedBytes - bytes)
        bytes += extraBytes
        if (state === "reading") readingBytes += extraBytes
      },
      /**
       * Records that the answer was read to its end; its bytes count until `release`, but at most
       * `maxWaitMillis`.
       */
      end: (): void => {
        if (state === "released") return
        if (state === "waiting") begin()
        startTimer(maxWaitMillis, release)
      },
      /** Releases the bytes of the answer in the budget. Repeated calls are allowed. */
      release
    }
  }

  return { enter }
}
