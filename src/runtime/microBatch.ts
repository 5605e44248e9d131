/**
 * Adaptive batches: at most one call is in flight for a lane, and the next one takes all that queued
 * meanwhile. A lone caller is served at once, and a crowd pays one call.
 */
import { Cause, Deferred, Effect, Exit, FiberSet, Option, Schedule, Schema } from "effect"
import { makeAlarms } from "./alarms.ts"

/** The item was withdrawn, because no answer came within the batch's patience. */
export class TooLate extends Schema.TaggedError<TooLate>()("TooLate", {}) {}

interface Entry<Item, Answer> {
  readonly item: Item
  readonly answered: Deferred.Deferred<Answer, TooLate>
  readonly putOff: () => void
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
   * How many calls are in flight at a time; 1 when left out. While they are, lanes with new items
   * wait, and the next call takes what all of them have.
   */
  readonly calls?: number
  /**
   * How long a lane rests after a call with at least that many items, for items that are in no hurry
   * for: while a crowd goes on, each call then takes more of them.
   */
  readonly rest?: { readonly afterItems: number; readonly millis: number }
  /** How long attempts wait. */
  readonly patienceMillis?: number
  /** What becomes of an answer whose caller no longer waits. */
  readonly unwanted?: (item: Item, answer: Answer) => Effect.Effect<void>
}) {
  type Waiting = Entry<Item, Answer>
  type Batch = ReadonlyArray<Waiting>
  const { rest, calls = 1, patienceMillis = null, unwanted } = options
  const setAlarm = yield* makeAlarms
  const fork = yield* FiberSet.makeRuntime()
  /** What waits in each lane that has something waiting or in flight. */
  const lanes = new Map<string, Array<Waiting>>()
  /** Those with nothing in flight, the one that waits longest first. */
  const ready = new Set<string>()
  let waiting = 0
  let inFlight = 0

  const answer = (entry: Waiting, exit: Exit.Exit<Answer>) => {
    entry.putOff()
    Deferred.doneUnsafe(entry.answered, exit)
    if (entry.withdrawn && Exit.isSuccess(exit) && unwanted !== undefined) {
      fork(unwanted(entry.item, exit.value))
    }
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

  const eachAlone = (batch: Batch, cause: Cause.Cause<E>): Effect.Effect<void> =>
    batch.length > 1
      ? Effect.forEach(batch, (entry) => persist([entry]), { discard: true })
      : Effect.sync(() => {
          for (const entry of batch) answer(entry, Exit.die(Cause.squash(cause)))
        })

  /** Tries until the batch is answered. */
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
    if (rest === undefined || items < rest.afterItems) isFree(lane)
    else goOn(Effect.sleep(rest.millis), () => isFree(lane))
  }

  /** Frees a lane after something that holds no caller up. */
  const goOn = (first: Effect.Effect<void>, free: () => void): void =>
    void fork(
      Effect.map(first, () => {
        free()
        callNext()
      })
    )

  const call = (taken: ReadonlyMap<string, Batch>): Effect.Effect<void> =>
    Effect.map(Effect.exit(deliver([...taken.values()].flat())), (exit) => {
      for (const [lane, batch] of taken) {
        if (Exit.isSuccess(exit)) leave(lane, batch.length)
        else {
          const mayPass = Option.exists(Exit.findErrorOption(exit), options.passes)
          const isWhole = taken.size > 1 || mayPass
          const again = isWhole ? persist(batch) : eachAlone(batch, exit.cause)
          goOn(again, () => leave(lane, batch.length))
        }
      }
      inFlight -= 1
      callNext()
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
      if (room === 0) break
    }
    return taken
  }

  const callNext = (): void => {
    while (ready.size > 0 && inFlight < calls) {
      const taken = take()
      if (taken.size === 0) continue
      inFlight += 1
      fork(call(taken))
    }
  }

  const withdraw = (entry: Waiting) => {
    entry.withdrawn = true
    entry.putOff()
  }

  /** Without patience the item waits for as long as it takes. */
  const enqueue = (lane: string, item: Item, patience: number | null): Waiting => {
    const answered = Deferred.makeUnsafe<Answer, TooLate>()
    const lose = () => {
      withdraw(entry)
      Deferred.doneUnsafe(answered, Exit.fail(new TooLate()))
    }
    const putOff = patience === null ? () => undefined : setAlarm(patience, lose)
    const entry: Waiting = { item, answered, putOff, withdrawn: false }
    waiting++
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
    /** Hands one item over, in order of arrival within the lane, and sees it through. */
    submit: (lane: string, item: Item): Effect.Effect<Answer> =>
      Effect.suspend(() => Effect.orDie(Deferred.await(enqueue(lane, item, null).answered))),
    /**
     * The same, but withdraws the item when its caller goes away or loses patience: one that was not
     * sent yet is dropped, the answer of one that was goes to `unwanted`.
     */
    attempt: (lane: string, item: Item): Effect.Effect<Answer, TooLate> =>
      Effect.suspend(() => {
        const entry = enqueue(lane, item, patienceMillis)
        return Effect.onInterrupt(Deferred.await(entry.answered), () =>
          Effect.sync(() => withdraw(entry))
        )
      }),
    /** Items of all lanes that no call has taken yet. */
    queued: () => waiting
  }
})
