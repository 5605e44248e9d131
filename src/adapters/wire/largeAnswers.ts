/**
 * Whose turn it is, of large answers that come at once. Vendors answer a crowd at the same pace, so
 * all of its images would be in memory together; taken some at a time, the first are with their
 * clients before the last are read off their sockets.
 */

/** One large answer, from the time it was found large. */
export interface LargeAnswer {
  /** False until its turn has come. */
  readonly isReading: boolean
  /** Counts what has arrived of it where that is more than was expected. */
  readonly reach: (bytes: number) => void
  /** It was read to its end, and counts until it leaves, but no longer than others are patient. */
  readonly end: () => void
  /** It is in memory no more. May be called again. */
  readonly leave: () => void
}

export interface LargeAnswers {
  /**
   * Gets in line with an answer of that many bytes. It may be read at once, or when `goOn` is called:
   * never before this returns, nor from within another answer's calls.
   */
  readonly enter: (
    bytes: number,
    goOn: () => void,
    /** How long it may wait for its turn; no longer than the others anyway. */
    mayWaitMillis?: number
  ) => LargeAnswer
}

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
}): LargeAnswers => {
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

  return {
    enter: (expected, goOn, mayWaitMillis = patienceMillis) => {
      let bytes = expected
      let state: "waiting" | "reading" | "left" = "waiting"
      let patience: NodeJS.Timeout | null = null
      /** Kept no longer than it is needed, as what it stands for is large. */
      let wake: (() => void) | null = goOn
      const begin = (): void => {
        if (patience !== null) clearTimeout(patience)
        waiting.delete(entry)
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
        if (patience !== null) clearTimeout(patience)
        waiting.delete(entry)
        if (state === "reading") taken -= bytes
        state = "left"
        wake = null
        admit()
      }
      const after = (millis: number, then: () => void): void => {
        patience = setTimeout(then, Math.min(millis, patienceMillis))
        patience.unref()
      }
      if ((waiting.size === 0 && isRoomFor(bytes)) || mayWaitMillis <= 0) {
        begin()
        wake = null
      } else {
        waiting.add(entry)
        after(mayWaitMillis, entry.begin)
      }
      return {
        get isReading() {
          return state === "reading"
        },
        reach: (arrived) => {
          const more = Math.max(0, arrived - bytes)
          bytes += more
          if (state === "reading") taken += more
        },
        end: () => {
          if (state === "left") return
          if (state === "waiting") begin()
          after(patienceMillis, leave)
        },
        leave
      }
    }
  }
}
