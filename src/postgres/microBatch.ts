/**
 * Adaptive batches: at most one call is in flight in a lane, and the next one takes whatever queued
 * meanwhile. A lone caller waits for nobody, and a crowd pays one call.
 */
import { Cause, Clock, Deferred, Effect, Exit, FiberSet, Schedule, Schema } from "effect"

/** The item was withdrawn, because no answer came within the batch's patience. */
export class TooLate extends Schema.TaggedError<TooLate>()("TooLate", {}) {}

export interface MicroBatch<Item, Answer> {
  /** Hands one item over, in order of arrival within the lane, and sees it through. */
  submit(lane: string, item: Item): Effect.Effect<Answer>
  /**
   * The same, but withdraws the item when its caller goes away or loses patience: one that was not
   * sent yet is dropped, the answer of one that was goes to `unwanted`.
   */
  attempt(lane: string, item: Item): Effect.Effect<Answer, TooLate>
  /** Items of all lanes that no call has taken yet. */
  readonly queued: () => number
}

interface Entry<Item, Answer> {
  readonly item: Item
  readonly answered: Deferred.Deferred<Answer, TooLate>
  /** Null: it waits as long as it takes. */
  readonly lateAt: number | null
  withdrawn: boolean
}

const backOff = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.jittered
)

/** How often late items are looked for. */
const LATE_CHECK_MILLIS = 250

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
   * How long a lane rests after a call with at least that many items, for items nobody is in a hurry
   * for: while a crowd goes on, each call then takes more of them.
   */
  readonly rest?: { readonly afterItems: number; readonly millis: number }
  /** How long attempts wait, and what becomes of the answers nobody waits for any more. */
  readonly attempts?: {
    readonly patienceMillis: number
    readonly unwanted: (lane: string, item: Item, answer: Answer) => Effect.Effect<void>
  }
}) {
  type Waiting = Entry<Item, Answer>
  const { patienceMillis, unwanted } = options.attempts ?? {
    patienceMillis: Number.POSITIVE_INFINITY,
    unwanted: () => Effect.void
  }
  const { rest } = options
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const lanes = new Map<string, Array<Waiting>>()
  const mayBeLate = new Set<Waiting>()
  let waiting = 0

  const take = (queue: Array<Waiting>) => {
    const taken = queue.splice(0, options.maxItems)
    waiting -= taken.length
    return taken.filter(({ withdrawn }) => !withdrawn)
  }

  const answer = (lane: string, entry: Waiting, exit: Exit.Exit<Answer>) => {
    mayBeLate.delete(entry)
    Deferred.doneUnsafe(entry.answered, exit)
    if (entry.withdrawn && Exit.isSuccess(exit)) {
      fork(unwanted(lane, entry.item, exit.value))
    }
  }

  const send = (lane: string, batch: ReadonlyArray<Waiting>): Effect.Effect<void> =>
    options
      .run(
        lane,
        batch.map(({ item }) => item)
      )
      .pipe(
        Effect.retry({ while: options.passes, schedule: backOff }),
        Effect.flatMap((answers) =>
          answers.length === batch.length
            ? Effect.succeed(answers)
            : Effect.die(new Error("a batch left an item out"))
        ),
        Effect.matchCauseEffect({
          onSuccess: (answers) =>
            Effect.sync(() => {
              for (const [index, value] of answers.entries()) {
                const entry = batch[index]
                if (entry !== undefined) answer(lane, entry, Exit.succeed(value))
              }
            }),
          onFailure: (cause) => {
            if (batch.length > 1) {
              return Effect.forEach(batch, (entry) => send(lane, [entry]), { discard: true })
            }
            return Effect.sync(() => {
              for (const entry of batch) answer(lane, entry, Exit.die(Cause.squash(cause)))
            })
          }
        })
      )

  const drain = Effect.fnUntraced(function* (lane: string, queue: Array<Waiting>) {
    while (queue.length > 0) {
      const batch = take(queue)
      if (batch.length > 0) yield* send(lane, batch)
      if (rest !== undefined && batch.length >= rest.afterItems) yield* Effect.sleep(rest.millis)
    }
    lanes.delete(lane)
  })

  const withdraw = (entry: Waiting) => {
    entry.withdrawn = true
    mayBeLate.delete(entry)
  }

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.sync(() => {
        const now = clock.currentTimeMillisUnsafe()
        for (const entry of mayBeLate) {
          // Oldest first: who comes after the first that still has time came later.
          if (entry.lateAt !== null && entry.lateAt > now) break
          withdraw(entry)
          Deferred.doneUnsafe(entry.answered, Exit.fail(new TooLate()))
        }
      }).pipe(Effect.delay(LATE_CHECK_MILLIS))
    )
  )

  const enqueue = (lane: string, item: Item, lateAt: number | null) => {
    const entry: Waiting = { item, answered: Deferred.makeUnsafe(), lateAt, withdrawn: false }
    const queue = lanes.get(lane)
    waiting++
    if (lateAt !== null) mayBeLate.add(entry)
    if (queue === undefined) {
      const fresh = [entry]
      lanes.set(lane, fresh)
      fork(drain(lane, fresh))
    } else {
      queue.push(entry)
    }
    return entry
  }

  return {
    submit: (lane, item) =>
      Effect.suspend(() => Effect.orDie(Deferred.await(enqueue(lane, item, null).answered))),
    attempt: (lane, item) =>
      Effect.suspend(() => {
        const entry = enqueue(lane, item, clock.currentTimeMillisUnsafe() + patienceMillis)
        return Effect.onInterrupt(Deferred.await(entry.answered), () =>
          Effect.sync(() => withdraw(entry))
        )
      }),
    queued: () => waiting
  } satisfies MicroBatch<Item, Answer>
})
