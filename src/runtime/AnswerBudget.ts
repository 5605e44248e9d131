/**
 * The memory budget of answers, by owner: an organisation, an operator, or the address of a client
 * without a key. Bytes count from the moment they are in memory until they have left the process or
 * their request is over, whichever comes first. Clients that do not read therefore hold a bounded
 * number of bytes. A large answer of a vendor is not read before its bytes are reserved.
 */
import { Context, Effect, FiberSet, Layer } from "effect"
import { onScopeEnd } from "./onScopeEnd.ts"
import { Settings } from "./Settings.ts"

/** The maximum share of the budget for one owner, so that room is left for the others. */
const OWNER_SHARE = 0.5
/**
 * The share of the budget below which an owner may still begin answers while the budget is used up.
 */
const SMALL_SHARE = 1 / 64

/** The bytes of one answer, reserved before it is read. */
export interface Reservation {
  /** Whether the reservation waits for room. */
  isWaiting(): boolean
  /** Grows to the number of received bytes, if they exceed the expected number. */
  growTo(arrivedBytes: number): void
  /** Begins immediately, whether or not there is room. */
  begin(): void
  /** Releases the bytes. Repeated calls have no effect. */
  release(): void
}

/** The bytes of one request's answer. */
export interface AnswerCount {
  readonly owner: () => string
  /** Moves the bytes counted so far, and later ones, to another owner. */
  assign(owner: string): void
  isAssigned(): boolean
  /** Whether the owner may begin another answer. */
  hasRoom(): boolean
  /**
   * Whether reservations wait for room that this owner occupies, so that the owner's stalled
   * clients are disconnected sooner.
   */
  isPressed(): boolean
  grow(bytes: number): void
  shrink(bytes: number): void
  /**
   * Reserves bytes for the owner, in addition to the bytes of this answer, and calls `begin` when
   * there is room.
   */
  reserve(bytes: number, begin: () => void): Reservation
  /** Calls back when the request is over; immediately if it already is. */
  onClose(callback: () => void): void
  /** Ends the request and releases its bytes. */
  close(): void
}

interface Waiter {
  readonly owner: string
  readonly bytes: () => number
  readonly begin: () => void
}

export type AnswerBudget = Effect.Success<ReturnType<typeof makeAnswerBudget>>

export const makeAnswerBudget = Effect.fnUntraced(function* (budgetBytes: number) {
  const fork = yield* FiberSet.makeRuntime()
  const ownerBytes = Math.floor(budgetBytes * OWNER_SHARE)
  const countedBytes = new Map<string, number>()
  const reservations = new Map<string, number>()
  /** The waiting reservations in order of arrival. */
  const waiters = new Set<Waiter>()
  let totalBytes = 0
  let reservationCount = 0
  let isAdmitting = false

  const bytesOf = (owner: string): number => countedBytes.get(owner) ?? 0
  const add = (amounts: Map<string, number>, owner: string, delta: number): void => {
    const nextAmount = (amounts.get(owner) ?? 0) + delta
    if (nextAmount > 0) amounts.set(owner, nextAmount)
    else amounts.delete(owner)
  }
  const change = (owner: string, delta: number): void => {
    add(countedBytes, owner, delta)
    totalBytes += delta
    if (delta >= 0 || waiters.size === 0 || isAdmitting) return
    isAdmitting = true
    // One pass admits reservations for everything that is released in this turn of the event loop.
    fork(
      Effect.map(Effect.yieldNow, () => {
        isAdmitting = false
        admit()
      })
    )
  }
  const changeReservations = (owner: string, delta: 1 | -1): void => {
    add(reservations, owner, delta)
    reservationCount += delta
  }

  // The only reservation of an owner always fits into the owner's share, whatever its size;
  // otherwise it would wait forever.
  const fitsShare = (owner: string, bytes: number): boolean =>
    !reservations.has(owner) || bytesOf(owner) + bytes <= ownerBytes
  const fitsBudget = (bytes: number): boolean =>
    reservationCount === 0 || totalBytes + bytes <= budgetBytes
  const fits = (owner: string, bytes: number): boolean =>
    fitsShare(owner, bytes) && fitsBudget(bytes)

  /** Starts the waiting reservations that fit; the owner with the fewest bytes comes first. */
  const admit = (): void => {
    while (true) {
      let nextAmount: Waiter | null = null
      for (const waiter of waiters) {
        const isFirst = nextAmount === null || bytesOf(waiter.owner) < bytesOf(nextAmount.owner)
        if (isFirst && fits(waiter.owner, waiter.bytes())) nextAmount = waiter
      }
      if (nextAmount === null) return
      nextAmount.begin()
    }
  }

  const reserve = (owner: string, expected: number, onRoom: () => void): Reservation => {
    let bytes = expected
    let state: "waiting" | "counted" | "released" = "waiting"
    const begin = (): void => {
      if (state !== "waiting") return
      waiters.delete(waiter)
      state = "counted"
      changeReservations(owner, 1)
      change(owner, bytes)
      onRoom()
    }
    const waiter: Waiter = { owner, bytes: () => bytes, begin }
    if (fits(owner, bytes)) begin()
    else waiters.add(waiter)
    return {
      isWaiting: () => state === "waiting",
      growTo: (arrivedBytes) => {
        const delta = Math.max(0, arrivedBytes - bytes)
        bytes += delta
        if (state === "counted") change(owner, delta)
      },
      begin,
      release: () => {
        waiters.delete(waiter)
        const wasCounted = state === "counted"
        state = "released"
        if (!wasCounted) return
        changeReservations(owner, -1)
        change(owner, -bytes)
      }
    }
  }

  const open = (firstOwner: string): AnswerCount => {
    let owner = firstOwner
    let bytes = 0
    let isAssigned = false
    let isClosed = false
    const closeCallbacks: Array<() => void> = []
    const grow = (delta: number): void => {
      if (isClosed) return
      bytes += delta
      change(owner, delta)
    }
    return {
      owner: () => owner,
      assign: (nextAmount) => {
        if (!isClosed && bytes > 0) {
          change(owner, -bytes)
          change(nextAmount, bytes)
        }
        owner = nextAmount
        isAssigned = true
      },
      isAssigned: () => isAssigned,
      hasRoom: () => {
        const current = bytesOf(owner)
        return (
          current < ownerBytes && (totalBytes < budgetBytes || current < budgetBytes * SMALL_SHARE)
        )
      },
      isPressed: () => {
        for (const waiter of waiters) {
          if (waiter.owner === owner || fitsShare(waiter.owner, waiter.bytes())) return true
        }
        return false
      },
      grow,
      shrink: (delta) => grow(-delta),
      reserve: (expected, begin) => reserve(owner, expected, begin),
      onClose: (callback) => {
        if (isClosed) callback()
        else closeCallbacks.push(callback)
      },
      close: () => {
        if (isClosed) return
        if (bytes > 0) change(owner, -bytes)
        isClosed = true
        for (const callback of closeCallbacks) callback()
      }
    }
  }

  return {
    open,
    bytes: () => totalBytes,
    /** The number of vendors' answers that wait for room. */
    waiting: () => waiters.size
  }
})

/** The budget of this process. */
export class Answers extends Context.Service<Answers, AnswerBudget>()("gateway/runtime/Answers") {}

export const layerAnswers = Layer.effect(
  Answers,
  Effect.flatMap(Settings, ({ answerBudgetBytes }) => makeAnswerBudget(answerBudgetBytes))
)

/** The answer of the current request; null if no client waits for one. */
export const CurrentAnswer = Context.Reference<AnswerCount | null>(
  "gateway/runtime/CurrentAnswer",
  {
    defaultValue: () => null
  }
)

/**
 * Reserves room for an answer that arrives in chunks, until the scope closes. The returned function
 * takes the number of bytes in memory, and waits if there is no room for them.
 */
export const makeStreamReservation = Effect.gen(function* () {
  const answer = yield* CurrentAnswer
  let reservation: Reservation | null = null
  const release = () => {
    reservation?.release()
    reservation = null
  }
  yield* onScopeEnd(() => Effect.sync(release))
  return (bytes: number): Effect.Effect<void> => {
    if (answer === null) return Effect.void
    if (bytes === 0) {
      release()
      return Effect.void
    }
    if (reservation !== null) {
      reservation.growTo(bytes)
      return Effect.void
    }
    return Effect.callback<void>((resume) => {
      reservation = answer.reserve(bytes, () => resume(Effect.void))
    })
  }
})
