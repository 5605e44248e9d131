/**
 * The primary process: starts the workers, replaces those that die, and ends them all. Each worker is
 * a whole gateway, and they accept from one listening socket.
 */
import cluster, { type Worker } from "node:cluster"
import { Console, Deferred, Duration, Effect, Schema } from "effect"
import { makeRequestRates } from "../runtime/RequestRates.ts"
import { ToPrimary, type ToWorker } from "./messages.ts"
import { makeScrapes } from "./scrapes.ts"

/** A worker that lived so long was well. */
const WELL_SECONDS = 30
const MAX_DELAY_SECONDS = 10
/** While nobody listens: that many starts in a row that came to nothing are no accident. */
const MAX_FAILED_STARTS = 5

export class WorkersFailed extends Schema.TaggedError<WorkersFailed>()("WorkersFailed", {
  message: Schema.String
}) {}

/** How long to wait before the next start, after so many early deaths in a row. */
export const delayAfter = (earlyDeaths: number): Duration.Duration =>
  earlyDeaths <= 1
    ? Duration.zero
    : Duration.seconds(Math.min(MAX_DELAY_SECONDS, 0.5 * 2 ** (earlyDeaths - 2)))

interface End {
  readonly code: number | null
  readonly signal: string | null
  /** It had come so far as to listen. */
  readonly listened: boolean
}

interface Running {
  readonly worker: Worker
  readonly end: Deferred.Deferred<End>
}

const wordsOf = ({ code, signal }: End): string => signal ?? `code ${code}`

const decode = Schema.decodeUnknownSync(ToPrimary)

/** Runs `count` workers until it is interrupted; fails when they cannot be kept running. */
export const superviseWorkers = Effect.fnUntraced(function* (count: number) {
  const context = yield* Effect.context<never>()
  const rates = makeRequestRates()
  const scrapes = makeScrapes()
  const listening = new Map<number, Worker>()
  const allListen = yield* Deferred.make<string>()
  let failedStarts = 0

  const send = (worker: Worker | undefined, message: ToWorker): void => {
    // One that is about to end cannot be told anything, and its end is noticed.
    if (worker?.isConnected()) worker.send(message, () => undefined)
  }

  const hear = async (worker: Worker, said: unknown): Promise<void> => {
    const message = decode(said)
    switch (message.type) {
      case "ready":
        listening.set(worker.id, worker)
        failedStarts = 0
        if (Deferred.isDoneUnsafe(allListen)) {
          Effect.runForkWith(context)(Effect.logInfo("the worker in its place listens"))
        } else if (listening.size === count) {
          Deferred.doneUnsafe(allListen, Effect.succeed(message.url))
        }
        return
      case "take": {
        const { id, owner, perMinute, wanted } = message
        const grant = Effect.runSyncWith(context)(rates.takeSome(owner, perMinute, wanted))
        return send(worker, { type: "granted", id, ...grant })
      }
      case "scrape": {
        const text = await scrapes.scrape(new Set(listening.keys()), (id, round) =>
          send(listening.get(id), { type: "collect", round })
        )
        return send(worker, { type: "scraped", id: message.id, text })
      }
      case "collected":
        return scrapes.collected(worker.id, message.round, message.text)
    }
  }

  // Where the primary hands connections out, the one on its way to a worker that dies stays open for
  // ever and unanswered. A socket that all accept from loses none, and the idle ones are the quickest.
  cluster.schedulingPolicy = cluster.SCHED_NONE

  const start = Effect.sync((): Running => {
    const worker = cluster.fork()
    const end = Deferred.makeUnsafe<End>()
    const ended = (code: number | null, signal: string | null): void => {
      const listened = listening.delete(worker.id)
      scrapes.ended(worker.id)
      Deferred.doneUnsafe(end, Effect.succeed({ code, signal, listened }))
    }
    worker.on("message", (said: unknown) => void hear(worker, said))
    worker.once("exit", ended)
    worker.on("error", () => {
      // It never became a process, so it has no exit either.
      if (worker.process.pid === undefined) ended(null, null)
    })
    return { worker, end }
  })

  const stop = ({ worker, end }: Running) =>
    Effect.sync(() => send(worker, { type: "stop" })).pipe(Effect.andThen(Deferred.await(end)))

  const runOne = Effect.acquireUseRelease(start, ({ end }) => Deferred.await(end), stop)

  /** Keeps one place filled. */
  const keep = Effect.gen(function* () {
    let earlyDeaths = 0
    for (;;) {
      const [lived, end] = yield* Effect.timed(runOne)
      if (!end.listened) failedStarts++
      if (
        !Deferred.isDoneUnsafe(allListen) ||
        (listening.size === 0 && failedStarts >= MAX_FAILED_STARTS)
      ) {
        return yield* new WorkersFailed({ message: `a worker ended with ${wordsOf(end)}` })
      }
      earlyDeaths = Duration.toSeconds(lived) < WELL_SECONDS ? earlyDeaths + 1 : 0
      yield* Effect.logError(`a worker ended with ${wordsOf(end)}; another takes its place`)
      yield* Effect.sleep(delayAfter(earlyDeaths))
    }
  })

  const announce = Effect.flatMap(Deferred.await(allListen), (url) =>
    Console.log(`media-gateway listens on ${url}`)
  )
  yield* Effect.forkScoped(announce)
  return yield* Effect.forEach(Array.from({ length: count }), () => keep, {
    concurrency: "unbounded",
    discard: true
  })
}, Effect.scoped)
