/**
 * Measures the time from the start of a process to its first successful response, and to its first
 * image. Our gateway starts on a database that already has its schema and accounts, while another
 * gateway runs on that database.
 */
import { join } from "node:path"
import { Clock, Console, Effect } from "effect"
import { clusterSecrets } from "../../../test/support/cluster.ts"
import { freePort } from "../../../test/support/postgresServer.ts"
import { startProcess } from "../../../test/support/processes.ts"
import { rowOf, windowOf } from "../measure/window.ts"
import { answersWell } from "../subjects/answers.ts"
import { startPeer } from "../subjects/peers/peers.ts"
import type { Subject } from "../subjects/subject.ts"
import type { World } from "../subjects/world.ts"
import { imageOrder } from "./cases.ts"

const startAgain = Effect.fnUntraced(function* (subject: Subject, world: World) {
  const { kind, books } = subject
  if (kind === "portkey" || kind === "fastify" || kind === "bare") {
    return yield* startPeer(kind, world, false)
  }
  const port = yield* Effect.promise(freePort)
  const process = yield* startProcess({
    entry: subject.entry,
    command: world.placement.node,
    env: {
      ...clusterSecrets,
      DATABASE_URL: books?.databaseUrl ?? "",
      DATA_DIR: join(world.options.scratch, "data"),
      PORT: String(port)
    }
  })
  const url = `http://127.0.0.1:${port}`
  return { ...subject, processes: [process], url, health: "/healthz" }
})

const timeOne = (subject: Subject, world: World) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const started = yield* startAgain(subject, world)
    const [process] = started.processes
    if (process === undefined) return yield* Effect.die(new Error("the vendor is no subject"))
    yield* answersWell(process, `${started.url}${started.health}`)
    const healthy = (yield* Clock.currentTimeMillis) - start
    const order = imageOrder(started)
    yield* answersWell(process, `${started.url}${order.path}`, order)
    const image = (yield* Clock.currentTimeMillis) - start
    // A graceful stop, so that the next start finds the files that a process writes when it exits.
    yield* process.kill("SIGTERM")
    yield* Effect.timeoutOption(process.end, "30 seconds")
    return { healthy, image }
  }).pipe(Effect.scoped)

/** Two rows for each subject, with the time as `p50`. */
export const runColdStart = Effect.fnUntraced(function* (
  running: ReadonlyArray<Subject>,
  world: World
) {
  // `durable` creates its tables when it starts, so it cannot be started twice on the same
  // database.
  const subjects = running.filter(
    ({ kind }) => kind !== "direct" && kind !== "durable" && kind !== "shared"
  )
  const healthy = new Map<Subject, Array<number>>(subjects.map((subject) => [subject, []]))
  const image = new Map<Subject, Array<number>>(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < world.options.rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const time = yield* timeOne(subject, world)
      healthy.get(subject)?.push(time.healthy)
      image.get(subject)?.push(time.image)
    }
  }
  yield* Console.error("cold done")
  const rows = (name: string, times: ReadonlyMap<Subject, ReadonlyArray<number>>) =>
    [...times].map(([subject, millis]) =>
      rowOf(
        name,
        subject.name,
        millis.map((p50) => windowOf({ p50 }))
      )
    )
  return [...rows("cold-healthz", healthy), ...rows("cold-image", image)]
})
