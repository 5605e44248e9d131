/**
 * Whose turn it is, of large answers that come at once. Vendors answer a crowd at the same pace, so
 * all of its images would be in memory together; taken some at a time, the first are with their
 * clients before the last are read off their sockets.
 */

/** One large answer, from the time it was found large. */
export type LargeAnswer = ReturnType<LargeAnswers["enter"]>

export type LargeAnswers = ReturnType<typeof makeLargeAnswers>

export const makeLargeAnswers = ({
  budgetBytes,
  patienceMillis
}: {
  /**
   * Bytes of the answers whose turn it is. One that is alone has its turn whatever its size, and
   * keeps it to its end, so that no two wait for each other.
   */
  readonly budgetBytes: number
  /** How long an answer waits for others at most, and how long it counts after its end. */
  readonly patienceMillis: number
}) => {
  /** In the order they came. */
  const waiting = new Set<{ readonly bytes: () => number; readonly begin: () => void }>()
  let taken = 0

  const isRoomFor = (bytes: number): boolean => taken === 0 || taken + bytes <= budgetBytes

  const admit = (): void => {
    for (const { bytes, begin } of waiting) {
      if (!isRoomFor(bytes())) return
      begin()
    }
  }

  /**
   * Gets in line with an answer of that many bytes, which waits no longer for its turn than it may,
   * nor than the others. It may be read at once, or when `goOn` is called: never before this returns,
   * nor from within another answer's calls.
   */
  const enter = (expected: number, goOn: () => void, mayWaitMillis = patienceMillis) => {
    let bytes = expected
    let state: "waiting" | "reading" | "left" = "waiting"
    let patience: NodeJS.Timeout | undefined
    /** Kept no longer than it is needed, as what it stands for is large. */
    let wake: (() => void) | null = goOn
    const stopWaiting = (): void => {
      clearTimeout(patience)
      waiting.delete(entry)
    }
    const begin = (): void => {
      stopWaiting()
      state = "reading"
      taken += bytes
    }
    const entry = {
      bytes: () => bytes,
      begin: () => {
        begin()
        // The HTTP parser that is at work must not be asked to read for another connection.
        queueMicrotask(() => {
          if (state === "reading") wake?.()
          wake = null
        })
      }
    }
    const leave = (): void => {
      stopWaiting()
      if (state === "reading") taken -= bytes
      state = "left"
      wake = null
      admit()
    }
    const after = (millis: number, then: () => void): void => {
      patience = setTimeout(then, Math.min(millis, patienceMillis)).unref()
    }
    if ((waiting.size === 0 && isRoomFor(bytes)) || mayWaitMillis <= 0) {
      begin()
      wake = null
    } else {
      waiting.add(entry)
      after(mayWaitMillis, entry.begin)
    }
    return {
      /** False until its turn has come. */
      isReading: () => state === "reading",
      /** Counts what has arrived of it where that is more than was expected. */
      reach: (arrived: number): void => {
        const more = Math.max(0, arrived - bytes)
        bytes += more
        if (state === "reading") taken += more
      },
      /** It was read to its end, and counts until it leaves, but no longer than others are patient. */
      end: (): void => {
        if (state === "left") return
        if (state === "waiting") begin()
        after(patienceMillis, leave)
      },
      /** It is in memory no more. May be called again. */
      leave
    }
  }

  return { enter }
}
