/**
 * From the start of a process to its first good answer, and to its first image. Our gateway starts
 * on a database that has its schema and its accounts, beside the one that runs there already.
 */
import { join } from "node:path"
import { Clock, Console, Effect } from "effect"
import { clusterSecrets } from "../../test/support/cluster.ts"
import { freePort } from "../../test/support/postgresServer.ts"
import { startProcess } from "../../test/support/processes.ts"
import { answersWell } from "./answers.ts"
import { imageOrder } from "./cases.ts"
import type { Placement } from "./machine.ts"
import { gatewayEntry } from "./ours.ts"
import { type PeerKind, startPeer } from "./peers/peers.ts"
import type { Row, Window } from "./rounds.ts"
import { median } from "./stats.ts"
import type { Subject } from "./subject.ts"

interface World {
  readonly placement: Placement
  readonly scratch: string
  readonly vendorUrl: string
  /** Those that run; each is started once more. */
  readonly subjects: ReadonlyArray<Subject>
}

const startAgain = Effect.fnUntraced(function* (subject: Subject, world: World) {
  if (subject.kind !== "ours") {
    const kind: PeerKind = subject.kind === "direct" ? "bare" : subject.kind
    return yield* startPeer(kind, { ...world, patient: false })
  }
  const port = yield* Effect.promise(freePort)
  const process = yield* startProcess({
    entry: gatewayEntry,
    command: world.placement.node,
    env: {
      ...clusterSecrets,
      DATABASE_URL: subject.books?.databaseUrl ?? "",
      DATA_DIR: join(world.scratch, "data"),
      PORT: String(port)
    }
  })
  return { ...subject, process, url: `http://127.0.0.1:${port}`, health: "/healthz" }
})

const timeOne = (subject: Subject, world: World) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const started = yield* startAgain(subject, world)
    if (started.process === null) return yield* Effect.die(new Error("the vendor is no subject"))
    yield* answersWell(started.process, `${started.url}${started.health}`)
    const healthy = (yield* Clock.currentTimeMillis) - start
    const order = imageOrder(started)
    yield* answersWell(started.process, `${started.url}${order.path}`, order)
    const image = (yield* Clock.currentTimeMillis) - start
    // What an orderly end leaves behind is there at the next start.
    yield* started.process.kill("SIGTERM")
    yield* Effect.timeoutOption(started.process.end, "30 seconds")
    return { healthy, image }
  }).pipe(Effect.scoped)

const windowOf = (millis: number): Window => ({
  perSecond: Number.NaN,
  p50: millis,
  p99: Number.NaN,
  peakMegabytes: null,
  core: null
})

const rowOf = (name: string, subject: string, times: ReadonlyArray<number>): Row => ({
  case: name,
  subject,
  rounds: times.map(windowOf),
  median: windowOf(median(times))
})

/** Two rows for each subject, whose `p50` is the time. */
export const runColdStart = Effect.fnUntraced(function* (world: World, rounds: number) {
  // Its books are made when it starts, so it cannot be started twice on them.
  const subjects = world.subjects.filter(
    ({ process, kind }) => process !== null && kind !== "durable"
  )
  const times = subjects.map(() => ({ healthy: [] as Array<number>, image: [] as Array<number> }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const time = yield* timeOne(subject, world)
      times[index]?.healthy.push(time.healthy)
      times[index]?.image.push(time.image)
    }
  }
  yield* Console.error("cold done")
  return subjects.flatMap(({ name }, index) => [
    rowOf("cold-healthz", name, times[index]?.healthy ?? []),
    rowOf("cold-image", name, times[index]?.image ?? [])
  ])
})
