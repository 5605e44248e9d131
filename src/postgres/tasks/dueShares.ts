/** How a claim of due tasks is shared out among the organisations of a cluster. */
import { Schema } from "effect"

/** The number of due tasks of an organisation on a channel. */
export const DueCount = Schema.Struct({
  organizationId: Schema.String,
  channelId: Schema.String,
  tasks: Schema.Int
})

/**
 * The number of tasks that each organisation may claim on each channel: at most `limit` in all, and
 * at most `roomOf` on a channel. Channels take turns, and on each of them the organisations do. An
 * organisation claims nothing on a channel on which it has no share.
 */
export const shareOut = (
  counts: ReadonlyArray<typeof DueCount.Type>,
  limit: number,
  roomOf: (channelId: string) => number
): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const shares = new Map<string, Map<string, number>>()
  let waiting = [...Map.groupBy(counts, ({ channelId }) => channelId)].map(
    ([channelId, ofChannel]) => ({
      channelId,
      room: roomOf(channelId),
      queue: ofChannel.map(({ organizationId, tasks }) => ({ organizationId, tasks }))
    })
  )
  let left = limit
  while (left > 0) {
    waiting = waiting.filter(({ room, queue }) => room > 0 && queue.length > 0)
    if (waiting.length === 0) break
    for (const channel of waiting.slice(0, left)) {
      const next = channel.queue.shift()
      if (next === undefined) continue
      const byChannel = shares.get(next.organizationId) ?? new Map<string, number>()
      byChannel.set(channel.channelId, (byChannel.get(channel.channelId) ?? 0) + 1)
      shares.set(next.organizationId, byChannel)
      channel.room--
      left--
      if (next.tasks > 1) channel.queue.push({ ...next, tasks: next.tasks - 1 })
    }
  }
  return shares
}
