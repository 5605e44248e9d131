/** A worker's side of the connection to its primary process. */
import { Deferred, Effect, Schema } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Grant } from "../runtime/RequestRates.ts"
import type { Machine } from "../services/Machine.ts"
import { makeLeasedRates } from "./leasedRates.ts"
import { type ToPrimary, ToWorker } from "./messages.ts"

const decode = Schema.decodeUnknownSync(ToWorker)

export interface Primary {
  readonly machine: (typeof Machine)["Service"]
  /** Tells that this worker listens. */
  readonly ready: (url: string) => Effect.Effect<void>
  /** Waits until the primary wants this worker to end. */
  readonly stopAsked: Effect.Effect<void>
  /** Lets go of the primary, which ends the process. */
  readonly leave: Effect.Effect<void>
}

const send = (message: ToPrimary): void => {
  // Of a primary that is gone Node tells by ending this process, which leaves nobody waiting.
  process.send?.(message, () => undefined)
}

/** Questions to the primary by their number, and who waits for the answer. */
const makeQuestions = <A>() => {
  const waiting = new Map<number, (answer: A) => void>()
  let asked = 0
  return {
    ask: (question: (id: number) => ToPrimary): Promise<A> =>
      new Promise((resolve) => {
        asked++
        waiting.set(asked, resolve)
        send(question(asked))
      }),
    answer: (id: number, answer: A): void => {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    }
  }
}

export const connectToPrimary = Effect.fnUntraced(function* (workers: number) {
  const context = yield* Effect.context<never>()
  const stop = yield* Deferred.make<void>()
  const grants = makeQuestions<Grant>()
  const scrapes = makeQuestions<string>()

  process.on("message", (said: unknown) => {
    const message = decode(said)
    switch (message.type) {
      case "stop":
        Deferred.doneUnsafe(stop, Effect.void)
        return
      case "granted":
        grants.answer(message.id, message)
        return
      case "scraped":
        scrapes.answer(message.id, message.text)
        return
      case "collect": {
        const text = PrometheusMetrics.formatUnsafe(context)
        send({ type: "collected", round: message.round, text })
      }
    }
  })

  const primary: Primary = {
    machine: {
      makeRequestRates: () =>
        makeLeasedRates({
          workers,
          ask: (owner, perMinute, wanted) =>
            grants.ask((id) => ({ type: "take", id, owner, perMinute, wanted }))
        }),
      metrics: Effect.promise(() => scrapes.ask((id) => ({ type: "scrape", id })))
    },
    ready: (url) => Effect.sync(() => send({ type: "ready", url })),
    stopAsked: Deferred.await(stop),
    leave: Effect.sync(() => process.disconnect?.())
  }
  return primary
})
