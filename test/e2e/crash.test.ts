import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Failpoint } from "../../src/services/Failpoints.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import type { DatabaseKind } from "../support/databases.ts"
import {
  failingEntry,
  prepareCustomer,
  processEnvironment,
  settledBalance,
  startGateway
} from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"

/** A gateway that will be killed at `killAt`, with a customer who has 100. */
const prepare = Effect.fnUntraced(function* (kind: DatabaseKind, killAt: Failpoint) {
  const env = {
    ...(yield* processEnvironment(kind)),
    GATEWAY_LEASE_SECONDS: "1",
    GATEWAY_SUBMIT_DEADLINE_SECONDS: "1",
    GATEWAY_IMAGE_DEADLINE_SECONDS: "1"
  }
  const first = yield* startGateway(failingEntry, { ...env, KILL_AT: killAt })
  return { env, first, ...(yield* prepareCustomer(first, "100")) }
})

const film = { model: "film-1", prompt: "a lighthouse" }
const paint = { model: "paint-1", prompt: "a lighthouse" }

/** Where the process dies, what was ordered, jobs the vendor took on, and what is left of 100. */
const places: ReadonlyArray<
  readonly [Failpoint, "videos" | "images", object, jobs: number, left: string]
> = [
  ["video.held", "videos", film, 0, "100"],
  ["video.accepted", "videos", film, 1, "100"],
  ["video.recorded", "videos", film, 1, "94.9906"],
  ["video.verdict", "videos", film, 1, "94.9906"],
  ["video.settled", "videos", film, 1, "94.9906"],
  ["image.held", "images", paint, 0, "100"],
  ["image.made", "images", paint, 1, "100"],
  ["image.captured", "images", paint, 1, "99.8"]
]

for (const kind of ["embedded", "postgres"] as const) {
  it.live.each(places)(
    `${kind}: killed at %s of %s, nothing is lost and nothing is sent twice`,
    ([place, resource, json, jobs, left]) =>
      Effect.gen(function* () {
        const simulator = yield* Simulator
        const { env, first, key, organizationPath } = yield* prepare(kind, place)
        const before = (yield* simulator.book).filter((entry) => entry.event === "accepted").length
        const ordered = call(`${first.url}/v1/${resource}/generations`, { key, json })
        yield* Effect.forkChild(Effect.exit(ordered))
        assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

        const second = yield* startGateway(failingEntry, env)
        assert.strictEqual(yield* settledBalance(second, organizationPath), left)
        const accepted = (yield* simulator.book).filter((entry) => entry.event === "accepted")
        assert.strictEqual(accepted.length - before, jobs)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}
