/**
 * Adaptive batches: at most one call is in flight in a lane, and the next one takes whatever queued
 * meanwhile. There is no timer, so a lone caller waits for nobody, and a crowd pays one call.
 */
import { Cause, Deferred, Effect, Exit, FiberSet, Schedule } from "effect"

export interface MicroBatch<Item, Answer> {
  /** Hands one item over and waits for its answer, in the order of arrival within the lane. */
  submit(lane: string, item: Item): Effect.Effect<Answer>
  /** Items of all lanes that no call has taken yet. */
  readonly queued: () => number
}

interface Entry<Item, Answer> {
  readonly item: Item
  readonly answered: Deferred.Deferred<Answer>
  withdrawn: boolean
}

const backOff = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.jittered
)

/**
 * Makes batches that end with the surrounding scope.
 *
 * A call that fails in a way that `passes` is made again with the same items until it succeeds, so
 * an item must have its effect once however often it is sent. Any other failure of several items is
 * met by sending each alone, so that one poisoned item fails alone, as a defect of its caller.
 */
export const makeMicroBatch = Effect.fnUntraced(function* <Item, Answer, E>(options: {
  readonly maxItems: number
  /** Answers in the order of the items. */
  readonly run: (
    lane: string,
    items: ReadonlyArray<Item>
  ) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly passes: (error: E) => boolean
  /**
   * Items whose caller may go away: one that was not sent yet is dropped, the answer of one that was
   * goes to `unwanted`. Others are seen through whoever waits.
   */
  readonly withdrawable: (item: Item) => boolean
  readonly unwanted: (lane: string, item: Item, answer: Answer) => Effect.Effect<void>
}) {
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const lanes = new Map<string, Array<Entry<Item, Answer>>>()
  let waiting = 0

  const take = (queue: Array<Entry<Item, Answer>>) => {
    const batch: Array<Entry<Item, Answer>> = []
    let taken = 0
    while (taken < queue.length && batch.length < options.maxItems) {
      const entry = queue[taken]
      taken++
      if (entry !== undefined && !entry.withdrawn) batch.push(entry)
    }
    queue.splice(0, taken)
    waiting -= taken
    return batch
  }

  const answer = (lane: string, entry: Entry<Item, Answer>, exit: Exit.Exit<Answer>) => {
    Deferred.doneUnsafe(entry.answered, exit)
    if (entry.withdrawn && Exit.isSuccess(exit)) {
      fork(options.unwanted(lane, entry.item, exit.value))
    }
  }

  const send = (lane: string, batch: ReadonlyArray<Entry<Item, Answer>>): Effect.Effect<void> =>
    options
      .run(
        lane,
        batch.map(({ item }) => item)
      )
      .pipe(
        Effect.retry({ while: options.passes, schedule: backOff }),
        Effect.matchCauseEffect({
          onSuccess: (answers) =>
            Effect.sync(() => {
              for (const [index, entry] of batch.entries()) {
                const own = answers[index]
                answer(
                  lane,
                  entry,
                  own === undefined
                    ? Exit.die(new Error("a batch left an item out"))
                    : Exit.succeed(own)
                )
              }
            }),
          onFailure: (cause) => {
            if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
            const [first] = batch
            if (batch.length > 1) {
              return Effect.forEach(batch, (entry) => send(lane, [entry]), { discard: true })
            }
            return Effect.sync(() => {
              if (first !== undefined) answer(lane, first, Exit.die(Cause.squash(cause)))
            })
          }
        })
      )

  const drain = Effect.fnUntraced(function* (lane: string, queue: Array<Entry<Item, Answer>>) {
    while (queue.length > 0) {
      const batch = take(queue)
      if (batch.length > 0) yield* send(lane, batch)
    }
    lanes.delete(lane)
  })

  const submit = (lane: string, item: Item): Effect.Effect<Answer> =>
    Effect.suspend(() => {
      const entry: Entry<Item, Answer> = {
        item,
        answered: Deferred.makeUnsafe(),
        withdrawn: false
      }
      const queue = lanes.get(lane)
      waiting++
      if (queue === undefined) {
        const fresh = [entry]
        lanes.set(lane, fresh)
        fork(drain(lane, fresh))
      } else {
        queue.push(entry)
      }
      const awaited = Deferred.await(entry.answered)
      return options.withdrawable(item)
        ? Effect.onInterrupt(awaited, () =>
            Effect.sync(() => {
              entry.withdrawn = true
            })
          )
        : awaited
    })

  return { submit, queued: () => waiting } satisfies MicroBatch<Item, Answer>
})
