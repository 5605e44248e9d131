/** Interleaved rounds: each contender of a case alone, one after the other, again and again. */
import { Console, Effect, Schema } from "effect"
import type { Case } from "./cases.ts"
import { type LoadRequest, runLoad } from "./load.ts"
import { forgetPeak, peakMegabytes, processorSeconds } from "./machine.ts"
import { median } from "./stats.ts"
import type { Subject } from "./subject.ts"
import type { Vendor } from "./vendorControl.ts"

/** A figure of it would mean nothing. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", {
  message: Schema.String
}) {}

/** Times are milliseconds. */
export interface Window {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Null where there is none, or the system does not tell. */
  readonly peakMegabytes: number | null
  /** Share of a core that the subject had, of the whole window with its warm-up. */
  readonly core: number | null
}

export interface Row {
  readonly case: string
  readonly subject: string
  readonly rounds: ReadonlyArray<Window>
  /** Of memory, the most of all rounds. */
  readonly median: Window
}

export interface RoundPlan {
  readonly rounds: number
  readonly seconds: number
  /** Of load on each contender before the first round. */
  readonly warmUpSeconds: number
}

const WARM_UP_SHARE = 1 / 3

/** Lets the subject run for the while, and stops it again, so that it takes nothing from others. */
export const awake = <A, E, R>(
  { process }: Subject,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  process === null
    ? work
    : Effect.acquireUseRelease(
        process.kill("SIGCONT"),
        () => work,
        () => process.kill("SIGSTOP")
      )

interface Contender {
  readonly name: string
  readonly subject: Subject
  readonly requests: ReadonlyArray<LoadRequest>
}

/** Our books must have as many charges more as requests were answered. */
const proveWhole = Effect.fnUntraced(function* (
  { charged, name }: Case,
  { subject }: Contender,
  before: number,
  answered: number
) {
  const { books } = subject
  if (books === null) return
  if (charged === "when the task ends") yield* books.settled
  const more = (yield* books.charges) - before
  const expected = charged === "never" ? 0 : answered
  if (more !== expected) {
    return yield* new BenchFailed({
      message: `${name}: ${answered} answers and ${more} charges, where ${expected} are due`
    })
  }
})

const runWindow = Effect.fnUntraced(function* (
  measured: Case,
  contender: Contender,
  seconds: number
) {
  const { subject, requests } = contender
  const pid = subject.process?.pid ?? null
  const before = yield* subject.books?.charges ?? Effect.succeed(0)
  const { result, ...used } = yield* Effect.tryPromise({
    try: async () => {
      const isPeakFresh = pid !== null && (await forgetPeak(pid))
      const [startedAt, coreBefore] = [performance.now(), pid && (await processorSeconds(pid))]
      const result = await runLoad({
        url: subject.url,
        requests,
        connections: measured.connections,
        warmUpSeconds: seconds * WARM_UP_SHARE,
        seconds,
        until: measured.until
      })
      const coreAfter = pid && (await processorSeconds(pid))
      const took = (performance.now() - startedAt) / 1000
      return {
        result,
        peakMegabytes: isPeakFresh ? await peakMegabytes(pid) : null,
        core: coreBefore === null || coreAfter === null ? null : (coreAfter - coreBefore) / took
      }
    },
    catch: (cause) =>
      new BenchFailed({ message: `${measured.name}, ${contender.name}: ${String(cause)}` })
  })
  yield* proveWhole(measured, contender, before, result.answered)
  const { answered: _, ...figures } = result
  return { ...figures, ...used } satisfies Window
})

/** Of memory it is the most of all rounds. */
const medianOf = (windows: ReadonlyArray<Window>): Window => {
  const peaks = windows.flatMap((window) => window.peakMegabytes ?? [])
  const cores = windows.flatMap(({ core }) => core ?? [])
  return {
    perSecond: median(windows.map(({ perSecond }) => perSecond)),
    p50: median(windows.map(({ p50 }) => p50)),
    p99: median(windows.map(({ p99 }) => p99)),
    peakMegabytes: peaks.length === 0 ? null : Math.max(...peaks),
    core: cores.length === 0 ? null : median(cores)
  }
}

/** Runs the case on those of the subjects that take part in it. */
export const runRounds = Effect.fnUntraced(function* (
  measured: Case,
  subjects: ReadonlyArray<Subject>,
  vendor: Vendor,
  plan: RoundPlan
) {
  const takingPart = subjects.filter(({ kind }) => measured.kinds.includes(kind))
  const contenders: Array<Contender> = []
  for (const subject of takingPart) {
    for (const { suffix, requests } of measured.loads) {
      contenders.push({
        name: `${subject.name}${suffix}`,
        subject,
        requests: yield* awake(subject, requests(subject, vendor))
      })
    }
  }
  const windows = new Map<Contender, Array<Window>>(contenders.map((one) => [one, []]))
  // Of a process that serves for weeks the first seconds tell nothing, so they are not one of the rounds.
  const first = plan.rounds > 1 ? 0 : 1
  for (let round = first; round <= plan.rounds; round++) {
    const seconds = round === 0 ? plan.warmUpSeconds / (1 + WARM_UP_SHARE) : plan.seconds
    // Who runs first in one round runs last in the next, so that nobody has the better half of them.
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const window = yield* awake(contender.subject, runWindow(measured, contender, seconds))
      if (round > 0) windows.get(contender)?.push(window)
    }
  }
  for (const subject of takingPart) {
    yield* awake(subject, measured.after?.(subject, vendor) ?? Effect.void)
  }
  yield* Console.error(`${measured.name} done`)
  return contenders.map(({ name }, index): Row => {
    const contender = contenders[index]
    const rounds = (contender && windows.get(contender)) ?? []
    return { case: measured.name, subject: name, rounds, median: medianOf(rounds) }
  })
})
