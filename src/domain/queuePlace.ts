/** The place of an order that waits for a channel with a maximum number of tasks. */
export interface QueuePlace {
  /** The turn in which it gets a place: 1 for the next order. */
  readonly position: number
  /** Seconds until it is expected to be submitted; null where no such video has ended yet. */
  readonly seconds: number | null
}

/** The queue of a channel, as far as its turns depend on it. */
export interface QueueTurns {
  /**
   * The organisations with the number of their orders that wait for a place. The one whose last turn
   * is the longest ago comes first, as the claims of waiting orders take them.
   */
  readonly organizations: ReadonlyArray<{
    readonly organizationId: string
    readonly waiting: number
  }>
  /** The organisation of each place, the oldest place first. */
  readonly places: ReadonlyArray<string>
}

/** An order among those of its organisation that wait: the first one has the rank 1. */
export interface QueuedRank {
  readonly organizationId: string
  readonly rank: number
}

/** The most work for one position: its turns times the organisations that are compared in each. */
const MAX_COMPARISONS = 20_000

/** The position in rounds in which each organisation has one turn, regardless of its places. */
const positionInRounds = ({ organizations }: QueueTurns, { organizationId, rank }: QueuedRank) =>
  organizations.reduce(
    (sum, other) =>
      other.organizationId === organizationId ? sum : sum + Math.min(other.waiting, rank),
    rank
  )

/**
 * The turn in which an order gets a place, if nothing else is ordered and the oldest place is always
 * the next to be freed: each turn is that of the organisation with the fewest places, and of several
 * that of the one whose last turn is the longest ago. Far behind in a queue of many organisations,
 * where the turns would take too long to count, it is the position in rounds in which each
 * organisation has one turn.
 */
export const positionOf = (queue: QueueTurns, maxTasks: number, order: QueuedRank): number => {
  const left = [...queue.organizations]
  const places = [...queue.places]
  const placeCounts = new Map<string, number>()
  const countOf = ({ organizationId }: { readonly organizationId: string }) =>
    placeCounts.get(organizationId) ?? 0
  const addPlace = (organizationId: string, change: 1 | -1) =>
    placeCounts.set(organizationId, countOf({ organizationId }) + change)
  for (const organizationId of places) addPlace(organizationId, 1)

  const maxTurns = MAX_COMPARISONS / Math.max(1, left.length)
  let ownTurns = 0
  let turn = 1
  for (; turn <= maxTurns; turn++) {
    const freed = places.splice(0, Math.max(0, places.length + 1 - maxTasks))
    for (const organizationId of freed) addPlace(organizationId, -1)
    const fewest = Math.min(...left.map(countOf))
    const [next] = left.splice(
      left.findIndex((one) => countOf(one) === fewest),
      1
    )
    if (next === undefined) break
    const { organizationId, waiting } = next
    if (organizationId === order.organizationId) ownTurns += 1
    if (ownTurns === order.rank) return turn
    places.push(organizationId)
    addPlace(organizationId, 1)
    if (waiting > 1) left.push({ organizationId, waiting: waiting - 1 })
  }
  return Math.max(turn, positionInRounds(queue, order))
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
