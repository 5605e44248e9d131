import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Failpoint } from "../../src/services/Failpoints.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import {
  type DatabaseKind,
  temporaryDataDir,
  temporaryServerDatabase
} from "../support/databases.ts"
import { ADMIN_TOKEN, bodyAs, testCatalog } from "../support/gateway.ts"
import { type CallOptions, call } from "../support/http.ts"
import { startProcess } from "../support/processes.ts"

const entry = fileURLToPath(new URL("../support/gatewayProcess.ts", import.meta.url))

const Id = Schema.Struct({ id: Schema.String })
const Key = Schema.Struct({ key: Schema.String })

const environment = Effect.fnUntraced(function* (kind: DatabaseKind) {
  const common = {
    PORT: "0",
    GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    GATEWAY_ASK_INTERVAL_SECONDS: "0.05",
    GATEWAY_POLLER_SECONDS: "0.05",
    GATEWAY_LEASE_SECONDS: "1",
    GATEWAY_SUBMIT_DEADLINE_SECONDS: "1",
    GATEWAY_IMAGE_DEADLINE_SECONDS: "1"
  }
  return kind === "embedded"
    ? { ...common, DATA_DIR: yield* temporaryDataDir({ initialised: true }) }
    : { ...common, DATABASE_URL: yield* temporaryServerDatabase }
})

const start = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const process = yield* startProcess({ entry, env })
  const [, url = ""] = yield* process.waitForLine(/listens on (http:\S+)/)
  const admin = (path: string, options?: CallOptions) =>
    call(`${url}/admin/v1${path}`, { key: ADMIN_TOKEN, ...options })
  return { process, url, admin }
})

/** A gateway that will be killed at `killAt`, with a customer who has 100. */
const prepare = Effect.fnUntraced(function* (kind: DatabaseKind, killAt: Failpoint) {
  const simulator = yield* Simulator
  const env = yield* environment(kind)
  const first = yield* start({ ...env, KILL_AT: killAt })
  yield* first.admin("/catalog", { method: "PUT", json: testCatalog(simulator.url) })
  const organization = yield* bodyAs(
    Id,
    yield* first.admin("/organizations", { json: { name: "Test" } })
  )
  const at = `/organizations/${organization.id}`
  yield* first.admin(`${at}/deposits`, { json: { amount: "100", reference: "r" } })
  const member = yield* bodyAs(Id, yield* first.admin(`${at}/members`, { json: { name: "m" } }))
  const { key } = yield* bodyAs(
    Key,
    yield* first.admin(`/members/${member.id}/keys`, { json: { name: "k" } })
  )
  return { simulator, env, first, key, organizationPath: at }
})

const Organization = Schema.Struct({ balance: Schema.String, held: Schema.String })

/** What the gateway says of the pool once nothing is held any more, and of its books. */
const settled = Effect.fnUntraced(function* (
  gateway: Effect.Success<ReturnType<typeof start>>,
  organizationPath: string
) {
  const { balance } = yield* gateway.admin(organizationPath).pipe(
    Effect.flatMap((answer) => bodyAs(Organization, answer)),
    Effect.delay("50 millis"),
    Effect.repeat({ until: ({ held }) => held === "0" }),
    Effect.timeout("30 seconds")
  )
  assert.strictEqual((yield* gateway.admin("/ledger/verify")).text, '{"ok":true,"violations":[]}')
  return balance
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
        const { simulator, env, first, key, organizationPath } = yield* prepare(kind, place)
        const before = (yield* simulator.book).filter((entry) => entry.event === "accepted").length
        const ordered = call(`${first.url}/v1/${resource}/generations`, { key, json })
        yield* Effect.forkChild(Effect.exit(ordered))
        assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

        const second = yield* start(env)
        assert.strictEqual(yield* settled(second, organizationPath), left)
        const accepted = (yield* simulator.book).filter((entry) => entry.event === "accepted")
        assert.strictEqual(accepted.length - before, jobs)
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}
