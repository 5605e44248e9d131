/**
 * A queue of large answers with a budget of bytes. Vendors answer many orders at the same pace, so all
 * images would be in memory at once; read a few at a time, the first are delivered to their clients
 * before the last are read from their sockets.
 */

/** One large answer, from the moment its size passes the limit. */
export type LargeAnswer = ReturnType<LargeAnswers["enter"]>

export type LargeAnswers = ReturnType<typeof makeLargeAnswers>

export const makeLargeAnswers = ({
  budgetBytes,
  maxWaitMillis
}: {
  /**
   * Bytes of the answers that are read at once. A single answer is read whatever its size, and to its
   * end, so that no two answers wait for each other.
   */
  readonly budgetBytes: number
  /** The longest time that an answer waits in the queue, and that it counts after its end. */
  readonly maxWaitMillis: number
}) => {
  /** In order of arrival. */
  const waiting = new Set<{ readonly bytes: () => number; readonly begin: () => void }>()
  let readingBytes = 0

  const hasRoomFor = (bytes: number): boolean =>
    readingBytes === 0 || readingBytes + bytes <= budgetBytes

  const admit = (): void => {
    for (const { bytes, begin } of waiting) {
      if (!hasRoomFor(bytes())) return
      begin()
    }
  }

  /**
   * Queues an answer of `expectedBytes`, which waits no longer than `ownWaitMillis` and the queue's own
   * limit. It may be read at once, or when `resume` is called: never before this returns, nor from
   * within another answer's calls.
   */
  const enter = (expectedBytes: number, resume: () => void, ownWaitMillis = maxWaitMillis) => {
    let bytes = expectedBytes
    let state: "waiting" | "reading" | "released" = "waiting"
    let timer: NodeJS.Timeout | undefined
    /** Dropped as soon as possible, because its closure holds a large answer. */
    let pendingResume: (() => void) | null = resume
    const stopWaiting = (): void => {
      clearTimeout(timer)
      waiting.delete(entry)
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
        // A running HTTP parser must not be asked to read from another connection.
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
    if ((waiting.size === 0 && hasRoomFor(bytes)) || ownWaitMillis <= 0) {
      begin()
      pendingResume = null
    } else {
      waiting.add(entry)
      startTimer(ownWaitMillis, entry.begin)
    }
    return {
      /** False while it waits in the queue. */
      isReading: () => state === "reading",
      /** Counts arrived bytes beyond the expected ones. */
      noteArrived: (arrivedBytes: number): void => {
        const extraBytes = Math.max(0, arrivedBytes - bytes)
        bytes += extraBytes
        if (state === "reading") readingBytes += extraBytes
      },
      /** The answer was read to its end; it counts until it is released, but at most `maxWaitMillis`. */
      end: (): void => {
        if (state === "released") return
        if (state === "waiting") begin()
        startTimer(maxWaitMillis, release)
      },
      /** Frees its bytes in the budget. May be called again. */
      release
    }
  }

  return { enter }
}
