/**
 * Interleaved rounds: in each round every contender of a case is measured alone, one after the
 * other.
 */
import { Array as Arr, Console, Effect } from "effect"
import { type LoadPlan, type LoadRequest, runLoad } from "../measure/load.ts"
import { busyBetween, forgetPeak, peakMegabytes, readUsage } from "../measure/usage.ts"
import { type Row, rowOf, type Window, windowOf } from "../measure/window.ts"
import { awake, type Subject, type SubjectKind } from "../subjects/subject.ts"
import type { Vendor } from "../subjects/vendorControl.ts"
import { BenchFailed, type World } from "../subjects/world.ts"

export interface Case {
  readonly name: string
  readonly connections: number
  readonly until: LoadPlan["until"]
  readonly kinds: ReadonlyArray<SubjectKind>
  /** When the gateway's ledger must contain the charge of each request. */
  readonly charged: "with the answer" | "when the task ends" | "never"
  /**
   * The number of requests that one request counts for in the warm-up: a response in many chunks
   * runs the same code many times.
   */
  readonly warmsAs?: number
  /** Named kinds of load, measured in turn on one subject. Most cases have one. */
  readonly loads: ReadonlyArray<{
    readonly suffix: string
    requests(subject: Subject, vendor: Vendor): Effect.Effect<ReadonlyArray<LoadRequest>>
  }>
  /** Cleans up after the case, for example ends its open tasks. */
  readonly after?: (subject: Subject, vendor: Vendor) => Effect.Effect<void>
}

/** The share of the window's time that is a ramp, before requests are counted. */
const RAMP_SHARE = 1 / 3
/** The connections of every warm-up: a single connection would take minutes. */
const WARM_UP_CONNECTIONS = 64
/** The time limit of a warm-up. A slower subject is measured less warm, and the run reports it. */
const WARM_UP_SECONDS = 60

interface Contender {
  readonly name: string
  readonly subject: Subject
  readonly requests: ReadonlyArray<LoadRequest>
}

const load = (measured: Case, { name, subject, requests }: Contender, plan: Partial<LoadPlan>) =>
  Effect.tryPromise({
    try: () =>
      runLoad({
        url: subject.url,
        requests,
        connections: measured.connections,
        until: measured.until,
        warmUpSeconds: 0,
        seconds: 0,
        ...plan
      }),
    catch: (cause) => new BenchFailed({ message: `${measured.name}, ${name}: ${String(cause)}` })
  })

/** Runs the load, then checks that the gateway's ledger has one more charge for each response. */
const proven = Effect.fnUntraced(function* (
  { charged, name }: Case,
  { subject: { books } }: Contender,
  work: Effect.Effect<{ readonly answered: number }, BenchFailed>
) {
  if (books === null) return void (yield* work)
  const before = yield* books.charges
  const { answered } = yield* work
  if (charged === "when the task ends") yield* books.settled
  const more = (yield* books.charges) - before
  const expected = charged === "never" ? 0 : answered
  if (more !== expected) {
    return yield* new BenchFailed({
      message: `${name}: ${answered} answers and ${more} charges, where ${expected} are due`
    })
  }
})

/**
 * Warms up a subject: V8 compiles only frequently used code, and the first seconds of a process say
 * nothing about one that runs for weeks.
 */
const warmUp = Effect.fnUntraced(function* (measured: Case, contender: Contender, wanted: number) {
  const processes = Math.max(1, contender.subject.processes.length)
  const requestsAtMost = Math.ceil((wanted * processes) / (measured.warmsAs ?? 1))
  const work = load(measured, contender, {
    connections: WARM_UP_CONNECTIONS,
    seconds: WARM_UP_SECONDS,
    requestsAtMost
  }).pipe(
    Effect.tap(({ answered }) =>
      answered < requestsAtMost
        ? Console.error(
            `${measured.name}, ${contender.name}: warmed by ${answered} of ${requestsAtMost} requests in ${WARM_UP_SECONDS} s`
          )
        : Effect.void
    )
  )
  yield* proven(measured, contender, work)
})

const runWindow = Effect.fnUntraced(function* (
  measured: Case,
  contender: Contender,
  { options: { seconds }, server, vendor }: World
) {
  const { subject } = contender
  const pids = subject.processes.map(({ pid }) => pid)
  const usage = Effect.promise(() =>
    readUsage({ subject: pids, vendor: vendor.pid, postgres: server.pid })
  )
  let window = windowOf({})
  const work = Effect.gen(function* () {
    const fresh = yield* Effect.promise(() => Promise.all(pids.map(forgetPeak)))
    const [logBefore, before] = [yield* server.logEnd, yield* usage]
    const result = yield* load(measured, contender, {
      warmUpSeconds: seconds * RAMP_SHARE,
      seconds
    })
    const after = yield* usage
    // The settlement of a task is a part of the cost of its order.
    const isSettledLater = measured.charged === "when the task ends"
    if (isSettledLater && subject.books !== null) yield* subject.books.settled
    const settled = yield* usage
    const { answered, ...figures } = result
    const peaks = yield* Effect.promise(() => Promise.all(pids.map(peakMegabytes)))
    window = windowOf({
      ...figures,
      ...busyBetween(before, after),
      ...(fresh.length > 0 && fresh.every(Boolean)
        ? { peakMegabytes: peaks.reduce((total, one) => total + one, 0) }
        : {}),
      subjectMillis: ((settled.subject - before.subject) * 1000) / answered,
      postgresMillis: ((settled.postgres - before.postgres) * 1000) / answered,
      logBytes: ((yield* server.logEnd) - logBefore) / answered
    })
    return result
  })
  yield* proven(measured, contender, work)
  return window
})

/** Runs a case on the subjects that take part in it. */
export const runRounds = Effect.fnUntraced(function* (
  measured: Case,
  subjects: ReadonlyArray<Subject>,
  world: World
) {
  const { options, vendor } = world
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
  for (const contender of contenders) {
    yield* awake(contender.subject, warmUp(measured, contender, options.warmUpRequests))
  }
  const windows = new Map<string, Array<Window>>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    // The order rotates, so that each contender is at every place, and follows on itself, equally
    // often.
    for (const contender of Arr.rotate(contenders, round)) {
      const window = yield* awake(contender.subject, runWindow(measured, contender, world))
      windows.get(contender.name)?.push(window)
    }
  }
  for (const subject of takingPart) {
    yield* awake(subject, measured.after?.(subject, vendor) ?? Effect.void)
  }
  yield* Console.error(`${measured.name} done`)
  return [...windows].map(([name, rounds]): Row => rowOf(measured.name, name, rounds))
})
