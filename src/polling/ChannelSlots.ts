/** How many questions this gateway has open at each channel's vendor. */
import { Effect, Latch } from "effect"

export interface ChannelSlots {
  /** Open questions by channel; channels without any are left out. */
  readonly asked: ReadonlyMap<string, number>
  /** Whether the channel has as many as it may. */
  isFull(channelId: string): boolean
  /** Counts one question before it begins; `give` ends it. */
  take(channelId: string): void
  give(channelId: string): void
  /**
   * Waits until a channel that was full has emptied again, so that one wake-up brings many questions,
   * not one. A channel that emptied since the last `expect` counts.
   */
  readonly room: Effect.Effect<void>
  /** Forgets the room there was until now: its caller is about to look. */
  readonly expect: Effect.Effect<void>
}

/**
 * At most `bound` open questions by channel; the counts are this process's own. A channel has emptied
 * when it has no more open than `emptyAt` says.
 */
export const makeChannelSlots = (
  bound: number,
  emptyAt: (channelId: string) => number = () => bound / 2
): Effect.Effect<ChannelSlots> =>
  Effect.map(Latch.make(false), (emptied) => {
    const asked = new Map<string, number>()
    const full = new Set<string>()
    const countOf = (channelId: string): number => asked.get(channelId) ?? 0
    return {
      asked,
      isFull: (channelId) => countOf(channelId) >= bound,
      take: (channelId) => {
        const count = countOf(channelId) + 1
        asked.set(channelId, count)
        if (count >= bound) full.add(channelId)
      },
      give: (channelId) => {
        const count = countOf(channelId) - 1
        if (count > 0) asked.set(channelId, count)
        else asked.delete(channelId)
        if (count <= emptyAt(channelId) && full.delete(channelId)) emptied.openUnsafe()
      },
      room: emptied.await,
      expect: Effect.asVoid(emptied.close)
    }
  })
