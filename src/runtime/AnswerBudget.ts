/**
 * The bytes of answers that are in memory, by owner: an organisation, an operator, or the address of a
 * client without a key. They count from the moment they are in memory until they have left the process
 * or their request is over, whichever comes first, so that clients that do not read can hold only so
 * much. A large answer of a vendor is not read before there is room for it.
 */
import { Context, Effect, Layer } from "effect"
import { Settings } from "./Settings.ts"

/** Of all bytes: so that one owner leaves room for the others. */
const SHARE_OF_ANSWERS = 0.5
/** While all room is taken, an owner with less than this part of it may still begin answers. */
const SMALL_PART = 1 / 64

/** Bytes of one answer that are counted before it is read. */
export interface Reservation {
  /** Whether there is no room for it yet. */
  isWaiting(): boolean
  /** Counts what has arrived of it where that is more than was expected. */
  reach(arrived: number): void
  /** Begins now, whether or not there is room. */
  begin(): void
  /** It is in memory no more. May be called again. */
  leave(): void
}

/** The bytes of one request's answer. */
export interface AnswerCount {
  readonly owner: () => string
  /** Counts what there is, and what comes, for another owner. */
  assign(owner: string): void
  isAssigned(): boolean
  /** Whether the owner may begin another answer. */
  hasRoom(): boolean
  /** Whether answers of the owner wait for room, so that clients that take nothing are in the way. */
  isPressed(): boolean
  grow(bytes: number): void
  shrink(bytes: number): void
  /** Makes room for so many bytes of the owner, beside what counts here, and calls back when there is. */
  reserve(bytes: number, begin: () => void): Reservation
  /** Calls back when the request is over; at once where it is. */
  onClose(run: () => void): void
  /** The request is over: nothing of it counts any more. */
  close(): void
}

interface Waiter {
  readonly owner: string
  readonly bytes: () => number
  readonly begin: () => void
}

export type AnswerBudget = ReturnType<typeof makeAnswerBudget>

export const makeAnswerBudget = (budgetBytes: number) => {
  const each = Math.floor(budgetBytes * SHARE_OF_ANSWERS)
  const counted = new Map<string, number>()
  const reservations = new Map<string, number>()
  /** In the order they came. */
  const waiting = new Set<Waiter>()
  let all = 0
  let allReservations = 0
  let isAdmitting = false

  const bytesOf = (owner: string): number => counted.get(owner) ?? 0
  const add = (amounts: Map<string, number>, owner: string, by: number): void => {
    const left = (amounts.get(owner) ?? 0) + by
    if (left > 0) amounts.set(owner, left)
    else amounts.delete(owner)
  }
  const change = (owner: string, by: number): void => {
    add(counted, owner, by)
    all += by
    if (by >= 0 || waiting.size === 0 || isAdmitting) return
    isAdmitting = true
    // Once for all that leaves in this turn of the event loop.
    setImmediate(() => {
      isAdmitting = false
      admit()
    })
  }
  const changeReservations = (owner: string, by: 1 | -1): void => {
    add(reservations, owner, by)
    allReservations += by
  }

  // One that is alone has room whatever its size, or it would wait for ever.
  const fitsShare = (owner: string, bytes: number): boolean =>
    !reservations.has(owner) || bytesOf(owner) + bytes <= each
  const fitsAll = (bytes: number): boolean => allReservations === 0 || all + bytes <= budgetBytes
  const isRoomFor = (owner: string, bytes: number): boolean =>
    fitsShare(owner, bytes) && fitsAll(bytes)

  /** Gives free room to those who wait; the owner that has least comes first. */
  const admit = (): void => {
    while (true) {
      let next: Waiter | null = null
      for (const waiter of waiting) {
        const isFirst = next === null || bytesOf(waiter.owner) < bytesOf(next.owner)
        if (isFirst && isRoomFor(waiter.owner, waiter.bytes())) next = waiter
      }
      if (next === null) return
      next.begin()
    }
  }

  const reserve = (owner: string, expected: number, whenThereIsRoom: () => void): Reservation => {
    let bytes = expected
    let state: "waiting" | "counted" | "left" = "waiting"
    const begin = (): void => {
      if (state !== "waiting") return
      waiting.delete(waiter)
      state = "counted"
      changeReservations(owner, 1)
      change(owner, bytes)
      whenThereIsRoom()
    }
    const waiter: Waiter = { owner, bytes: () => bytes, begin }
    if (isRoomFor(owner, bytes)) begin()
    else waiting.add(waiter)
    return {
      isWaiting: () => state === "waiting",
      reach: (arrived) => {
        const more = Math.max(0, arrived - bytes)
        bytes += more
        if (state === "counted") change(owner, more)
      },
      begin,
      leave: () => {
        waiting.delete(waiter)
        const wasCounted = state === "counted"
        state = "left"
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
    const atClose: Array<() => void> = []
    const grow = (more: number): void => {
      if (isClosed) return
      bytes += more
      change(owner, more)
    }
    return {
      owner: () => owner,
      assign: (next) => {
        if (!isClosed && bytes > 0) {
          change(owner, -bytes)
          change(next, bytes)
        }
        owner = next
        isAssigned = true
      },
      isAssigned: () => isAssigned,
      hasRoom: () => {
        const own = bytesOf(owner)
        return own < each && (all < budgetBytes || own < budgetBytes * SMALL_PART)
      },
      isPressed: () => {
        for (const waiter of waiting) {
          if (waiter.owner === owner || fitsShare(waiter.owner, waiter.bytes())) return true
        }
        return false
      },
      grow,
      shrink: (less) => grow(-less),
      reserve: (expected, begin) => reserve(owner, expected, begin),
      onClose: (run) => {
        if (isClosed) run()
        else atClose.push(run)
      },
      close: () => {
        if (isClosed) return
        if (bytes > 0) change(owner, -bytes)
        isClosed = true
        for (const run of atClose) run()
      }
    }
  }

  return {
    open,
    /** Bytes that count at the moment. */
    bytes: () => all,
    /** Answers of vendors that wait for room. */
    waiting: () => waiting.size
  }
}

/** The budget of this process. */
export class Answers extends Context.Service<Answers, AnswerBudget>()("gateway/runtime/Answers") {}

export const layerAnswers = Layer.effect(
  Answers,
  Effect.map(Settings, ({ answerBudgetBytes }) => makeAnswerBudget(answerBudgetBytes))
)

/** The answer of the request that is being handled; null where nobody waits for one. */
export const CurrentAnswer = Context.Reference<AnswerCount | null>(
  "gateway/runtime/CurrentAnswer",
  {
    defaultValue: () => null
  }
)

/**
 * Makes room for what comes of an answer piece by piece, as long as the scope is open: an effect that
 * takes the bytes that are in memory, and waits where there is no room for them.
 */
export const makeRoom = Effect.gen(function* () {
  const answer = yield* CurrentAnswer
  let reservation: Reservation | null = null
  const leave = () => {
    reservation?.leave()
    reservation = null
  }
  yield* Effect.addFinalizer(() => Effect.sync(leave))
  return (bytes: number): Effect.Effect<void> => {
    if (answer === null) return Effect.void
    if (bytes === 0) {
      leave()
      return Effect.void
    }
    if (reservation !== null) {
      reservation.reach(bytes)
      return Effect.void
    }
    return Effect.callback<void>((resume) => {
      reservation = answer.reserve(bytes, () => resume(Effect.void))
    })
  }
})
