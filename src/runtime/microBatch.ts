/**
 * Adaptive batches: at most one call is in flight per lane, and the next call takes all items
 * queued meanwhile. A single caller is served immediately, and many concurrent callers share one
 * call.
 */
import { Cause, Deferred, Effect, Exit, FiberSet, Option, Schema } from "effect"
import { makeAlarms } from "./alarms.ts"
import { transientBackoff } from "./databaseErrors.ts"

/** The item was withdrawn, because no answer arrived within the batch's `patienceMillis`. */
export class BatchTimeout extends Schema.TaggedError<BatchTimeout>()("BatchTimeout", {}) {}

interface Entry<Item, Answer> {
  readonly item: Item
  readonly answer: Deferred.Deferred<Answer, BatchTimeout>
  readonly cancelTimer: () => void
  isWithdrawn: boolean
}

/**
 * Makes batches that end with the surrounding scope.
 *
 * A call that fails with a transient error is retried with the same items until it succeeds, so
 * items must be idempotent. After any other failure of a call with several items, each item is sent
 * alone, so that one poisoned item fails alone, as a defect of its caller. A failed call for
 * several lanes is retried lane by lane, so that no lane waits for the failure of another.
 */
export const makeMicroBatch = Effect.fnUntraced(function* <Item, Answer, E>(options: {
  readonly maxItems: number
  /** Makes one call; returns the answers in the order of the items, which are grouped by lane. */
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly isTransient: (error: E) => boolean
  /**
   * The maximum number of calls in flight; 1 if missing. While all are in flight, lanes with new
   * items wait, and the next call takes the items of all of them.
   */
  readonly concurrency?: number
  /** Whether a call takes the items of one lane only. */
  readonly oneLaneACall?: boolean
  /**
   * The pause of a lane after a call with at least `minItems` items. It is meant for items that are
   * not urgent: while many items arrive, each call then takes more of them.
   */
  readonly cooldown?: { readonly minItems: number; readonly millis: number }
  /** The time-out of `attempt`. */
  readonly patienceMillis?: number
  /** Handles an answer whose caller has stopped waiting. */
  readonly onAbandonedAnswer?: (item: Item, answer: Answer) => Effect.Effect<void>
}) {
  type Pending = Entry<Item, Answer>
  type Batch = ReadonlyArray<Pending>
  const { cooldown, concurrency = 1, patienceMillis = null, onAbandonedAnswer } = options
  const setAlarm = yield* makeAlarms
  const fork = yield* FiberSet.makeRuntime()
  /** The queue of each lane that has items queued or in flight. */
  const lanes = new Map<string, Array<Pending>>()
  /** Lanes with items and no call in flight, the longest-waiting lane first. */
  const readyLanes = new Set<string>()
  let queuedCount = 0
  let inFlightCount = 0

  const settle = (entry: Pending, exit: Exit.Exit<Answer>) => {
    entry.cancelTimer()
    Deferred.doneUnsafe(entry.answer, exit)
    if (entry.isWithdrawn && Exit.isSuccess(exit) && onAbandonedAnswer !== undefined) {
      fork(onAbandonedAnswer(entry.item, exit.value))
    }
  }

  /** Makes one call for the batch. */
  const deliver = (batch: Batch): Effect.Effect<void, E> =>
    Effect.flatMap(options.run(batch.map(({ item }) => item)), (answers) => {
      if (answers.length !== batch.length) return Effect.die(new Error("a batch left an item out"))
      return Effect.sync(() => {
        for (const [index, value] of answers.entries()) {
          const entry = batch[index]
          if (entry !== undefined) settle(entry, Exit.succeed(value))
        }
      })
    })

  const deliverOneByOne = (batch: Batch, cause: Cause.Cause<E>): Effect.Effect<void> =>
    batch.length > 1
      ? Effect.forEach(batch, (entry) => deliverWithRetry([entry]), { discard: true })
      : Effect.sync(() => {
          for (const entry of batch) settle(entry, Exit.die(Cause.squash(cause)))
        })

  /** Retries until every item of the batch is settled. */
  const deliverWithRetry = (batch: Batch): Effect.Effect<void> =>
    deliver(batch).pipe(
      Effect.retry({ while: options.isTransient, schedule: transientBackoff }),
      Effect.catchCause((cause) => deliverOneByOne(batch, cause))
    )

  const markIdle = (lane: string) => {
    const queue = lanes.get(lane) ?? []
    if (queue.length > 0) readyLanes.add(lane)
    else lanes.delete(lane)
  }

  const releaseLane = (lane: string, itemCount: number): void => {
    if (cooldown === undefined || itemCount < cooldown.minItems) markIdle(lane)
    else continueWith(Effect.sleep(cooldown.millis), () => markIdle(lane))
  }

  /** Runs an effect and then releases its lane. Other lanes do not wait for the effect. */
  const continueWith = (effect: Effect.Effect<void>, markFree: () => void): void =>
    void fork(
      Effect.map(effect, () => {
        markFree()
        startCalls()
      })
    )

  const call = (batches: ReadonlyMap<string, Batch>): Effect.Effect<void> =>
    Effect.map(Effect.exit(deliver([...batches.values()].flat())), (exit) => {
      for (const [lane, batch] of batches) {
        if (Exit.isSuccess(exit)) releaseLane(lane, batch.length)
        else {
          const isTransient = Option.exists(Exit.findErrorOption(exit), options.isTransient)
          const mayRetryWhole = batches.size > 1 || isTransient
          const retry = mayRetryWhole ? deliverWithRetry(batch) : deliverOneByOne(batch, exit.cause)
          continueWith(retry, () => releaseLane(lane, batch.length))
        }
      }
      inFlightCount -= 1
      startCalls()
    })

  /** Takes the items of the next call from the queues. */
  const dequeue = (): ReadonlyMap<string, Batch> => {
    const batches = new Map<string, Batch>()
    let capacity = options.maxItems
    for (const lane of readyLanes) {
      readyLanes.delete(lane)
      const entries = lanes.get(lane)?.splice(0, capacity) ?? []
      queuedCount -= entries.length
      const batch = entries.filter(({ isWithdrawn }) => !isWithdrawn)
      if (batch.length === 0) markIdle(lane)
      else batches.set(lane, batch)
      capacity -= batch.length
      if (capacity === 0 || (options.oneLaneACall === true && batches.size > 0)) break
    }
    return batches
  }

  const startCalls = (): void => {
    while (readyLanes.size > 0 && inFlightCount < concurrency) {
      const batches = dequeue()
      if (batches.size === 0) continue
      inFlightCount += 1
      fork(call(batches))
    }
  }

  const withdraw = (entry: Pending) => {
    entry.isWithdrawn = true
    entry.cancelTimer()
  }

  /**
   * Adds the item to its lane; with `timeoutMillis`, the item is withdrawn if no answer has arrived
   * by then.
   */
  const enqueue = (lane: string, item: Item, timeoutMillis: number | null): Pending => {
    const answer = Deferred.makeUnsafe<Answer, BatchTimeout>()
    const timeOut = () => {
      withdraw(entry)
      Deferred.doneUnsafe(answer, Exit.fail(new BatchTimeout()))
    }
    const cancelTimer = timeoutMillis === null ? () => undefined : setAlarm(timeoutMillis, timeOut)
    const entry: Pending = { item, answer, cancelTimer, isWithdrawn: false }
    queuedCount++
    const queue = lanes.get(lane)
    if (queue === undefined) {
      lanes.set(lane, [entry])
      readyLanes.add(lane)
      startCalls()
    } else {
      queue.push(entry)
    }
    return entry
  }

  return {
    /**
     * Adds one item, in order of arrival within the lane, and waits for its answer without a
     * time-out.
     */
    submit: (lane: string, item: Item): Effect.Effect<Answer> =>
      Effect.suspend(() => Effect.orDie(Deferred.await(enqueue(lane, item, null).answer))),
    /**
     * Like `submit`, but withdraws the item if its caller is interrupted or `patienceMillis` have
     * passed: an item that was not sent yet is dropped, and the answer to a sent item goes to
     * `onAbandonedAnswer`.
     */
    attempt: (lane: string, item: Item): Effect.Effect<Answer, BatchTimeout> =>
      Effect.suspend(() => {
        const entry = enqueue(lane, item, patienceMillis)
        return Effect.onInterrupt(Deferred.await(entry.answer), () =>
          Effect.sync(() => withdraw(entry))
        )
      }),
    /** The number of items of all lanes that no call has taken yet. */
    queuedCount: () => queuedCount
  }
})
