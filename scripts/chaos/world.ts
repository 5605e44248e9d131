/**
 * The processes of a run: PostgreSQL, the proxy in front of it, the simulated vendors, and the
 * gateways.
 */
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, type Scope } from "effect"
import type { ProcessEnded } from "../../test/support/processes.ts"
import { type Gateway, makeGateway, startLogged } from "./gateways.ts"
import type { ChaosOptions, Pace } from "./options.ts"
import { makePostgres, type Postgres } from "./postgres.ts"
import { makeWire, type Wire } from "./wire.ts"

const simulatorEntry = fileURLToPath(
  new URL("../../src/simulator/simulatorMain.ts", import.meta.url)
)

/** The application name of the test's own connections to PostgreSQL, which no disaster hits. */
export const ACCOUNTANT = "chaos-accountant"

export interface World {
  /** The directory of the logs of all processes and of the vendors' book. */
  readonly directory: string
  readonly postgres: Postgres
  readonly wire: Wire
  readonly simulatorUrl: string
  readonly bookPath: string
  readonly gateways: ReadonlyArray<Gateway>
  readonly adminToken: string
  /** Texts that no log may contain. */
  readonly secrets: ReadonlyArray<string>
}

const paceOf = (pace: Pace): Readonly<Record<string, string>> => ({
  GATEWAY_ASK_INTERVAL_SECONDS: "0.5",
  GATEWAY_POLLER_SECONDS: "0.5",
  GATEWAY_LEASE_SECONDS: String(pace.lease),
  GATEWAY_SUBMIT_DEADLINE_SECONDS: String(pace.submitDeadline),
  GATEWAY_IMAGE_DEADLINE_SECONDS: String(pace.imageDeadline),
  GATEWAY_TEXT_DEADLINE_SECONDS: String(pace.imageDeadline),
  GATEWAY_TEXT_STREAM_DEADLINE_SECONDS: String(pace.imageDeadline),
  GATEWAY_TASK_DEADLINE_SECONDS: String(pace.taskDeadline),
  GATEWAY_UNKNOWN_GRACE_SECONDS: String(pace.unknownGrace)
})

/** Starts all processes. They end with the scope. The gateways already listen when this returns. */
export const makeWorld = Effect.fnUntraced(function* (
  options: ChaosOptions,
  directory: string
): Effect.fn.Return<World, ProcessEnded, Scope.Scope> {
  const bookPath = join(directory, "simulator-book.jsonl")
  const simulator = yield* startLogged({
    directory,
    name: "simulator",
    entry: simulatorEntry,
    env: { GATEWAY_SIMULATOR_PORT: "0", SIMULATOR_BOOK: bookPath }
  })
  const [, simulatorUrl = ""] = yield* simulator.waitForLine(/listens on (http:\S+)/)

  const postgres = yield* makePostgres(options.citus)
  const wire = yield* makeWire(postgres.port)
  const throughWire = new URL(postgres.url)
  throughWire.port = String(wire.port)

  const adminToken = `admin-${randomBytes(16).toString("hex")}`
  const masterKey = randomBytes(32).toString("base64")
  const env = {
    ...paceOf(options.pace),
    PORT: "0",
    DATABASE_URL: throughWire.href,
    GATEWAY_MASTER_KEY: masterKey,
    GATEWAY_ADMIN_TOKEN: adminToken,
    GATEWAY_WEBHOOK_ALLOW_PRIVATE: "1"
  }
  const gateways: Array<Gateway> = []
  for (let number = 1; number <= options.gateways; number++) {
    const gateway = yield* makeGateway({ directory, name: `gateway-${number}`, env })
    gateways.push(gateway)
    // Gateways start one after the other, so that only the first one creates the tables.
    yield* gateway.url
  }
  return {
    directory,
    postgres,
    wire,
    simulatorUrl,
    bookPath,
    gateways,
    adminToken,
    // The cluster's user has no password.
    secrets: [adminToken, masterKey, throughWire.password].filter((secret) => secret !== "")
  }
})
