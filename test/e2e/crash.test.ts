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
const refused = (order: object) => ({ ...order, prompt: "sim:moderate-input" })

/** How a repeat with the same key is answered after the restart. */
type Repeat = "as before" | "given up" | "refused" | "ordered"

/**
 * Where the process dies, what was ordered, jobs the vendor took on by then, what is left of 100,
 * and what a repeat of the request comes to.
 */
const places: ReadonlyArray<
  readonly [Failpoint, "videos" | "images", object, jobs: number, left: string, repeat: Repeat]
> = [
  ["video.ordered", "videos", film, 0, "100", "ordered"],
  ["video.held", "videos", film, 0, "100", "given up"],
  ["video.refused", "videos", refused(film), 0, "100", "given up"],
  ["video.returned", "videos", refused(film), 0, "100", "refused"],
  ["video.accepted", "videos", film, 1, "100", "given up"],
  ["video.recorded", "videos", film, 1, "94.9906", "as before"],
  ["video.verdict", "videos", film, 1, "94.9906", "as before"],
  ["video.settled", "videos", film, 1, "94.9906", "as before"],
  ["image.ordered", "images", paint, 0, "100", "ordered"],
  ["image.held", "images", paint, 0, "100", "given up"],
  ["image.refused", "images", refused(paint), 0, "100", "given up"],
  ["image.returned", "images", refused(paint), 0, "100", "refused"],
  ["image.made", "images", paint, 1, "100", "given up"],
  ["image.captured", "images", paint, 1, "99.8", "as before"]
]

const statusOf: Record<Repeat, number> = {
  "as before": 200,
  "given up": 504,
  refused: 400,
  ordered: 200
}

/** Alone on its database a gateway gives back at its start what others leave to their deadlines. */
const embeddedPlaces: ReadonlySet<Failpoint> = new Set([
  "video.held",
  "video.recorded",
  "image.made"
])

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1)

for (const kind of ["embedded", "postgres"] as const) {
  const rows = places.filter(([place]) => kind === "postgres" || embeddedPlaces.has(place))
  it.live.each(Array.from({ length: ROUNDS }, () => rows).flat())(
    `${kind}: killed at %s of %s, nothing is lost and nothing is sent twice`,
    ([place, resource, json, jobs, left, repeat]) =>
      Effect.gen(function* () {
        const simulator = yield* Simulator
        const { env, first, key, organizationPath } = yield* prepare(kind, place)
        const count = Effect.map(
          simulator.book,
          (book) => book.filter((entry) => entry.event === "accepted").length
        )
        const before = yield* count
        const order = (url: string) =>
          call(`${url}/v1/${resource}/generations`, {
            key,
            json,
            headers: { "idempotency-key": "the-order" }
          })
        yield* Effect.forkChild(Effect.exit(order(first.url)))
        assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

        const second = yield* startGateway(failingEntry, env)
        assert.strictEqual(yield* settledBalance(second, organizationPath), left)
        assert.strictEqual((yield* count) - before, jobs)

        const again = yield* order(second.url)
        assert.strictEqual(again.status, statusOf[repeat], again.text)
        assert.strictEqual(
          again.headers.get("idempotency-replayed"),
          repeat === "ordered" ? null : "true"
        )
        assert.strictEqual((yield* count) - before, repeat === "ordered" ? 1 : jobs)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}
