/** Errors that say when to come again, and orders that are kept open meanwhile. */
import { Deferred, Effect, Fiber, Queue } from "effect"
import type { HttpAnswer } from "../../support/http.ts"
import type { Asked, Facts, Json, Said } from "./Row.ts"
import { Surface } from "./Surface.ts"

/** The headers of a wait; `millis` where it is known more exactly. */
export const waitHeaders = (seconds: number, millis = seconds * 1000) => ({
  "retry-after": `${seconds}`,
  "retry-after-ms": `${millis}`
})

/** Body and headers of a wait of whole seconds. */
export const waiting = (seconds: number): { more: Json; headers: Record<string, string> } => ({
  more: { retry_after: seconds },
  headers: waitHeaders(seconds)
})

/** The answered value where it may be so, and otherwise one that shows what was expected. */
const within = (value: number, least: number, most: number): number =>
  value >= least && value <= most ? value : most

/** A key that has used up its minute, which began some time ago. */
export const minuteUsed = ({ wait, waitMillis }: Facts): Said => {
  const millis = within(waitMillis, 1, 60_000)
  const least = Math.ceil(millis / 1000)
  const seconds = within(wait, least, least)
  return {
    message: `The requests of this key are limited to 1 a minute; the next may come in ${seconds} s`,
    more: { retry_after: seconds },
    headers: waitHeaders(seconds, millis)
  }
}

const nextMonth = (millis: number) => {
  const date = new Date(millis)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** The wait is as long as the month at the moment of the request, in begun seconds. */
export const overCap =
  (cap: string, used: string, required: string) =>
  (facts: Facts): Said => {
    const [before, after] = facts.between
    const begins = nextMonth(before)
    const longest = Math.ceil((begins - before) / 1000)
    const shortest = Math.ceil((begins - after) / 1000)
    const wait = within(facts.wait, shortest, longest)
    return {
      message: `This request needs ${required} CNY; of this month's cap of ${cap}, ${used} is used. The next month begins at ${new Date(begins).toISOString()}`,
      more: { cap, used, required, retry_after: wait },
      headers: { ...waitHeaders(wait), "x-should-retry": "false" }
    }
  }

/**
 * Returns when the vendor has them all, which it keeps until the scope closes. That ends when they
 * are answered, as they have their places until then.
 */
export const keepOpen = Effect.fnUntraced(function* (orders: ReadonlyArray<Asked>) {
  const { vendor, call } = yield* Surface
  const arrivals = yield* Queue.unbounded<void>()
  const letGo = yield* Deferred.make<void>()
  const kept: Array<Fiber.Fiber<HttpAnswer>> = []
  const answered = Effect.suspend(() => Fiber.awaitAll(kept))
  yield* Effect.acquireRelease(
    vendor({ does: "hold", asked: () => Queue.offerUnsafe(arrivals, undefined), letGo }),
    () =>
      Deferred.succeed(letGo, undefined).pipe(
        Effect.andThen(answered),
        Effect.andThen(vendor({ does: "deliver" }))
      )
  )
  for (const { path, who: _, ...options } of orders) {
    kept.push(yield* Effect.forkDetach(call(path, options), { startImmediately: true }))
    yield* Queue.take(arrivals)
  }
})
