/**
 * Soak test: starts PostgreSQL, a cheap vendor and one gateway, orders a constant number of video
 * tasks per minute regardless of the responses, and watches the gateway's memory. Each client waits
 * for its video; images and chats are ordered too. Exits with 1 when memory grew by more than a
 * tenth, money stayed held, a response was an error or the ledger is inconsistent.
 *
 *   npm run soak -- --minutes 30 --per-minute 2000
 */
import { readFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Clock, Console, Duration, Effect, Fiber, FiberSet, Schedule, Schema } from "effect"
import { call } from "../test/support/http.ts"
import { chatOrder, createVideo, imageOrder } from "./bench/cases/cases.ts"
import type { LoadRequest } from "./bench/measure/load.ts"
import { placeProcesses } from "./bench/measure/machine.ts"
import { median } from "./bench/measure/stats.ts"
import { startOurs } from "./bench/subjects/ours.ts"
import { openServer } from "./bench/subjects/server.ts"
import type { Subject } from "./bench/subjects/subject.ts"
import { startVendor } from "./bench/subjects/vendorControl.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    "per-minute": { type: "string", default: "2000" },
    "task-seconds": { type: "string", default: "20" }
  }
})
const plan = {
  minutes: Number(values.minutes),
  perMinute: Number(values["per-minute"]),
  taskSeconds: Number(values["task-seconds"])
}

const MAX_GROWTH = 0.1
/** The minimum number of samples of a run. */
const SAMPLES = 60
const MAX_SAMPLE_SECONDS = 5
/** The share of the time in which caches fill and code is compiled. Memory is compared after it. */
const SETTLED_SHARE = 1 / 3
/**
 * The share of the remaining time whose memory is compared: at the start and at the end of that
 * time.
 */
const COMPARED_SHARE = 1 / 5
const WAIT_SECONDS = 60

const Video = Schema.Struct({ task_status: Schema.String })

interface Sample {
  /** Seconds since the start. */
  readonly seconds: number
  readonly megabytes: number
}

const residentMegabytes = (pid: number) =>
  Effect.promise(async () => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(
      await readFile(`/proc/${pid}/status`, "utf8")
    ) ?? [null, "NaN"]
    return Number(kilobytes) / 1024
  })

const ordered = (subject: Subject, { path, headers, body }: LoadRequest) =>
  Effect.flatMap(
    call(`${subject.url}${path}`, { headers, ...(body === null ? {} : { body }) }),
    ({ status, text }) =>
      status === 200 ? Effect.void : Effect.die(new Error(`${status} ${text}`))
  )

/** Orders a video and waits for it, as the API reference recommends. */
const filmed = Effect.fnUntraced(function* (subject: Subject) {
  const id = yield* createVideo(subject)
  const look = call(`${subject.url}/v1/videos/${id}?wait=${WAIT_SECONDS}`, {
    headers: subject.headers
  }).pipe(
    Effect.flatMap(({ body }) => Schema.decodeUnknownEffect(Video)(body)),
    Effect.orDie
  )
  const { task_status } = yield* Effect.repeat(look, {
    until: ({ task_status }) => task_status !== "processing"
  })
  if (task_status !== "succeeded") return yield* Effect.die(new Error(`${id} ${task_status}`))
})

const between = (samples: ReadonlyArray<Sample>, from: number, to: number): number =>
  median(
    samples
      .filter(({ seconds }) => seconds >= from && seconds < to)
      .map(({ megabytes }) => megabytes)
  )

const program = Effect.gen(function* () {
  const server = yield* openServer(null)
  const vendor = yield* startVendor
  yield* vendor.takes(plan.taskSeconds * 1000)
  const placement = yield* Effect.promise(() => placeProcesses(false))
  const subject = yield* startOurs({ placement, server, vendor }, { name: "ours" })
  const { books } = subject
  const pid = subject.processes[0]?.pid ?? 0
  const clients = yield* FiberSet.make<void, never>()
  const counts = { orders: 0, bad: 0 }
  const start = yield* Clock.currentTimeMillis
  const total = plan.minutes * 60

  const send = (order: Effect.Effect<void>) =>
    FiberSet.run(
      clients,
      Effect.catchCause(order, (cause) =>
        Effect.suspend(() => {
          counts.bad++
          return counts.bad > 3 ? Effect.void : Console.error("a bad answer", cause)
        })
      )
    )
  const one = Effect.suspend(() => {
    const number = counts.orders++
    return Effect.andThen(
      send(filmed(subject)),
      number % 4 === 0
        ? send(ordered(subject, number % 8 === 0 ? imageOrder(subject) : chatOrder(subject, false)))
        : Effect.void
    )
  })

  const samples: Array<Sample> = []
  const sampling = yield* Effect.gen(function* () {
    const seconds = ((yield* Clock.currentTimeMillis) - start) / 1000
    samples.push({ seconds, megabytes: yield* residentMegabytes(pid) })
  }).pipe(
    Effect.repeat(Schedule.fixed(Duration.seconds(Math.min(MAX_SAMPLE_SECONDS, total / SAMPLES)))),
    Effect.forkScoped
  )
  const telling = yield* Effect.gen(function* () {
    const open = yield* FiberSet.size(clients)
    const seconds = ((yield* Clock.currentTimeMillis) - start) / 1000
    const memory = between(samples, seconds - 60, seconds)
    yield* Console.log(
      `${(seconds / 60).toFixed(0).padStart(4)} min  ${counts.orders} tasks, ${open} clients wait, ` +
        `${memory.toFixed(0)} MB`
    )
  }).pipe(Effect.delay("1 minute"), Effect.forever, Effect.forkScoped)

  yield* Effect.repeat(one, {
    schedule: Schedule.fixed(Duration.millis(60_000 / plan.perMinute)),
    while: () => counts.orders < plan.perMinute * plan.minutes
  })
  yield* Fiber.interrupt(sampling)
  yield* FiberSet.awaitEmpty(clients)
  yield* books.settled
  yield* Fiber.interrupt(telling)

  const first = between(samples, total * SETTLED_SHARE, total * (SETTLED_SHARE + COMPARED_SHARE))
  const last = between(samples, total * (1 - COMPARED_SHARE), Number.POSITIVE_INFINITY)
  const growth = last / first - 1
  const expected = counts.orders + Math.ceil(counts.orders / 4)
  const charges = yield* books.charges
  const violations = yield* books.violations
  const held = yield* books.held
  yield* Console.log(
    [
      `${counts.orders} tasks and ${expected - counts.orders} images and chats, ${charges} charges`,
      `bad answers: ${counts.bad}`,
      `held at the end: ${held}`,
      `books: ${violations ?? "clean"}`,
      `memory: ${first.toFixed(0)} MB, at the end ${last.toFixed(0)} MB: ${(growth * 100).toFixed(1)} % more`
    ].join("\n")
  )
  const kept =
    counts.bad === 0 &&
    charges === expected &&
    held === 0n &&
    violations === null &&
    growth < MAX_GROWTH
  if (!kept) return yield* Effect.fail(new Error("a promise was broken"))
})

NodeRuntime.runMain(Effect.scoped(program))
