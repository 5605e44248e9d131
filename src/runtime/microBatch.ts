/**
 * Adaptive batches: at most one call is in flight for a lane, and the next one takes whatever queued
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
 * met by sending each alone, so that one poisoned item fails alone, as a defect of its caller. A
 * call for several lanes that fails is made again lane by lane, so that no lane waits for another's
 * trouble.
 */
export const makeMicroBatch = Effect.fnUntraced(function* <Item, Answer, E>(options: {
  readonly maxItems: number
  /** Answers in the order of the items, which come lane by lane. */
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly passes: (error: E) => boolean
  /**
   * Where a call may serve several lanes: how many calls are in flight at a time. While they are,
   * lanes with new items wait, and the next call takes what all of them have.
   */
  readonly calls?: number
  /**
   * How long a lane rests after a call with at least that many items, for items nobody is in a hurry
   * for: while a crowd goes on, each call then takes more of them.
   */
  readonly rest?: { readonly afterItems: number; readonly millis: number }
  /** How long attempts wait, and what becomes of the answers nobody waits for any more. */
  readonly attempts?: {
    readonly patienceMillis: number
    readonly unwanted: (item: Item, answer: Answer) => Effect.Effect<void>
  }
}) {
  type Waiting = Entry<Item, Answer>
  type Batch = ReadonlyArray<Waiting>
  const { patienceMillis, unwanted } = options.attempts ?? {
    patienceMillis: Number.POSITIVE_INFINITY,
    unwanted: () => Effect.void
  }
  const { rest, calls } = options
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  /** What waits in each lane that has something waiting or in flight. */
  const lanes = new Map<string, Array<Waiting>>()
  /** Those with nothing in flight, the one that waits longest first. */
  const ready = new Set<string>()
  const mayBeLate = new Set<Waiting>()
  let waiting = 0
  let inFlight = 0

  const answer = (entry: Waiting, exit: Exit.Exit<Answer>) => {
    mayBeLate.delete(entry)
    Deferred.doneUnsafe(entry.answered, exit)
    if (entry.withdrawn && Exit.isSuccess(exit)) fork(unwanted(entry.item, exit.value))
  }

  /** One try. */
  const deliver = (batch: Batch): Effect.Effect<void, E> =>
    Effect.flatMap(options.run(batch.map(({ item }) => item)), (answers) => {
      if (answers.length !== batch.length) return Effect.die(new Error("a batch left an item out"))
      return Effect.sync(() => {
        for (const [index, value] of answers.entries()) {
          const entry = batch[index]
          if (entry !== undefined) answer(entry, Exit.succeed(value))
        }
      })
    })

  const eachAlone = (batch: Batch, cause: Cause.Cause<E>): Effect.Effect<void> => {
    if (batch.length > 1) {
      return Effect.forEach(batch, (entry) => persist([entry]), { discard: true })
    }
    return Effect.sync(() => {
      for (const entry of batch) answer(entry, Exit.die(Cause.squash(cause)))
    })
  }

  const persist = (batch: Batch): Effect.Effect<void> =>
    deliver(batch).pipe(
      Effect.retry({ while: options.passes, schedule: backOff }),
      Effect.catchCause((cause) => eachAlone(batch, cause))
    )

  const isFree = (lane: string) => {
    const queue = lanes.get(lane) ?? []
    if (queue.length > 0) ready.add(lane)
    else lanes.delete(lane)
  }

  const leave = (lane: string, items: number): void => {
    if (rest === undefined || items < rest.afterItems) {
      isFree(lane)
      return
    }
    const free = Effect.sync(() => {
      isFree(lane)
      callNext()
    })
    fork(Effect.delay(free, rest.millis))
  }

  /** Goes on with a lane whose call failed, in nobody's way. */
  const recover = (lane: string, batch: Batch, again: Effect.Effect<void>): void =>
    void fork(
      Effect.andThen(
        again,
        Effect.sync(() => {
          leave(lane, batch.length)
          callNext()
        })
      )
    )

  const call = (taken: ReadonlyMap<string, Batch>): Effect.Effect<void> =>
    Effect.matchCauseEffect(deliver([...taken.values()].flat()), {
      onSuccess: () =>
        Effect.sync(() => {
          for (const [lane, batch] of taken) leave(lane, batch.length)
        }),
      onFailure: (cause) =>
        Effect.sync(() => {
          const found = Cause.findErrorOption(cause)
          const mayPass = found._tag === "Some" && options.passes(found.value)
          for (const [lane, batch] of taken) {
            recover(
              lane,
              batch,
              taken.size > 1 || mayPass ? persist(batch) : eachAlone(batch, cause)
            )
          }
        })
    })

  const take = (): ReadonlyMap<string, Batch> => {
    const taken = new Map<string, Batch>()
    let room = options.maxItems
    for (const lane of ready) {
      ready.delete(lane)
      const items = lanes.get(lane)?.splice(0, room) ?? []
      waiting -= items.length
      const wanted = items.filter(({ withdrawn }) => !withdrawn)
      if (wanted.length === 0) isFree(lane)
      else taken.set(lane, wanted)
      room -= wanted.length
      if (room === 0 || (calls === undefined && taken.size > 0)) break
    }
    return taken
  }

  const callNext = (): void => {
    while (ready.size > 0 && inFlight < (calls ?? Number.POSITIVE_INFINITY)) {
      const taken = take()
      if (taken.size === 0) continue
      inFlight += 1
      const ended = Effect.sync(() => {
        inFlight -= 1
        callNext()
      })
      fork(Effect.andThen(call(taken), ended))
    }
  }

  const withdraw = (entry: Waiting) => {
    entry.withdrawn = true
    mayBeLate.delete(entry)
  }

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.sync(() => {
        const now = clock.currentTimeMillisUnsafe()
        for (const entry of mayBeLate) {
          if (entry.lateAt !== null && entry.lateAt > now) continue
          withdraw(entry)
          Deferred.doneUnsafe(entry.answered, Exit.fail(new TooLate()))
        }
      }).pipe(Effect.delay(LATE_CHECK_MILLIS))
    )
  )

  const enqueue = (lane: string, item: Item, lateAt: number | null) => {
    const entry: Waiting = {
      item,
      answered: Deferred.makeUnsafe(),
      lateAt,
      withdrawn: false
    }
    waiting++
    if (lateAt !== null) mayBeLate.add(entry)
    const queue = lanes.get(lane)
    if (queue === undefined) {
      lanes.set(lane, [entry])
      ready.add(lane)
      callNext()
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
