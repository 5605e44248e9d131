/** Starts our gateway on a separate database, with accounts that pay. */
import { fileURLToPath } from "node:url"
import { Cause, Effect, Schedule, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CatalogWrite } from "../../../src/domain/catalog/CatalogDocument.ts"
import { ADMIN_TOKEN, connect, good, startGateway } from "../../../test/support/cluster.ts"
import { call } from "../../../test/support/http.ts"
import { type Customer, makeOperator } from "../../../test/support/operator.ts"
import { freePort } from "../../../test/support/postgresServer.ts"
import { type Subject, type SubjectKind, signal } from "./subject.ts"
import { BenchFailed, type World } from "./world.ts"

/** The size of the young generation, as `scripts/Dockerfile` sets it. */
const YOUNG_GENERATION = "--max-semi-space-size=16"
export const gatewayEntry = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

/** The number of organisations that the case of a single busy organisation is compared with. */
export const ACCOUNTS = 64
const DEPOSIT = "50000000"
const SOUND = '{"ok":true,"violations":[]}'
/** The maximum length of the violations that an error message quotes. */
const TOLD_CHARACTERS = 1000
const STOP_PATIENCE = "40 seconds"

/** The ledger of the gateway, which proves that the gateway did all of its work. */
export interface Books {
  readonly databaseUrl: string
  readonly accounts: ReadonlyArray<Customer>
  readonly sql: SqlClient.SqlClient
  /**
   * The number of usage records so far. Each record must have a hold and a capture; otherwise the
   * audit reports a violation.
   */
  readonly charges: Effect.Effect<number>
  /** The sum of the open holds of all accounts, in nano-units. */
  readonly held: Effect.Effect<bigint>
  /**
   * Runs the maintenance of PostgreSQL that this case has caused, so that it does not run during
   * the next case.
   */
  readonly tidy: Effect.Effect<void>
  /** Waits until no task is open. */
  readonly settled: Effect.Effect<void>
  /**
   * The violations that the gateway's audit reports; null when every invariant of the ledger holds.
   */
  readonly violations: Effect.Effect<string | null>
}

const catalogOn = (vendorUrl: string): typeof CatalogWrite.Encoded => {
  const image = { kind: "image", per_image: "0.2" } as const
  const tokens = { kind: "tokens", per_million_input: "2", per_million_output: "8" } as const
  const film = {
    kind: "token_video",
    per_million_tokens: { base: { without_video: "46" } }
  } as const
  const models: (typeof CatalogWrite.Encoded)["models"] = [
    { id: "paint-1", modality: "image", protocol: "ip_a", prices: image },
    { id: "paint-large", modality: "image", protocol: "ip_a", prices: image },
    { id: "talk-1", modality: "chat", protocol: "openai", prices: tokens },
    { id: "film-1", modality: "video", protocol: "vp_a", prices: film }
  ]
  const channel = (id: string, path: string) => ({
    id,
    name: id,
    base_url: `${vendorUrl}${path}`,
    api_key: "vendor-key"
  })
  return {
    channels: [channel("standard", "/v1"), channel("tasks", "")],
    models,
    mounts: models.map(({ id, modality }) => ({
      model: id,
      channel: modality === "video" ? "tasks" : "standard",
      upstream_model: `vendor-${id}`
    }))
  }
}

const Held = Schema.Tuple([Schema.Struct({ held: Schema.BigInt })])
const Counted = Schema.Tuple([Schema.Struct({ count: Schema.Int })])

const counting = (sql: SqlClient.SqlClient, what: string): Effect.Effect<number> =>
  sql.unsafe(`SELECT count(*)::int AS count FROM ${what}`).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Counted)),
    Effect.map(([{ count }]) => count),
    Effect.orDie
  )

/** Starts the gateway on a new database, loads the catalog and creates the accounts. */
export const startOurs = Effect.fnUntraced(function* (
  { placement, server, vendor }: Pick<World, "placement" | "server" | "vendor">,
  asked: {
    readonly name: string
    /** The path of the program; by default that of the sources. */
    readonly entry?: string
    /**
     * The number of processes that share one port, on both cores. By default one process has its
     * own port and its own core.
     */
    readonly sharing?: number
    /** The directory for its CPU profile; null writes none. */
    readonly profile?: string | null
    readonly env?: Readonly<Record<string, string>>
  }
) {
  const { name, entry = gatewayEntry, sharing, profile = null, env = {} } = asked
  const kind: SubjectKind = sharing === undefined ? "ours" : "shared"
  const databaseUrl = yield* server.temporaryDatabase
  const profiling = profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
  const [program, ...before] = sharing === undefined ? placement.node : placement.nodeOnBoth
  const port: Record<string, string> =
    sharing === undefined
      ? {}
      : { GATEWAY_REUSE_PORT: "1", PORT: String(yield* Effect.promise(freePort)) }
  const start = startGateway({ DATABASE_URL: databaseUrl, ...port, ...env }, entry, [
    program,
    ...before,
    YOUNG_GENERATION,
    ...profiling
  ])
  const { url, process } = yield* start
  const operator = makeOperator((path, sent) => call(`${url}${path}`, sent), ADMIN_TOKEN)
  yield* Effect.flatMap(
    operator.admin("/catalog", { method: "PUT", json: catalogOn(vendor.url) }),
    (answer) => good(Schema.Unknown, answer)
  )
  const accounts = yield* Effect.forEach(
    Array.from({ length: ACCOUNTS }, () => DEPOSIT),
    (amount) => operator.customer(amount),
    { concurrency: 8 }
  )
  const sql = yield* connect(databaseUrl)
  const open = counting(sql, "tasks WHERE state IN ('submitting', 'processing')")
  const books: Books = {
    databaseUrl,
    accounts,
    sql,
    charges: counting(sql, "orders WHERE state = 'captured'"),
    held: sql`SELECT sum(held)::bigint AS held FROM pools`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Held)),
      Effect.map(([{ held }]) => held),
      Effect.orDie
    ),
    tidy: Effect.orDie(
      Effect.andThen(sql.unsafe("VACUUM ANALYZE"), Effect.asVoid(sql.unsafe("CHECKPOINT")))
    ),
    settled: open.pipe(
      Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (count) => count === 0 }),
      Effect.timeout("5 minutes"),
      Effect.orDie,
      Effect.asVoid
    ),
    violations: Effect.map(operator.admin("/ledger/verify"), ({ status, text }) =>
      text === SOUND ? null : `${status} ${text.slice(0, TOLD_CHARACTERS)}`
    )
  }
  yield* countable(name, books)
  const processes = [process]
  // The other processes start when the catalog and the accounts exist, so that each process loads
  // them at its start.
  while (processes.length < (sharing ?? 1)) processes.push((yield* start).process)
  const subject: Subject & { readonly books: Books } = {
    name,
    kind,
    url,
    entry,
    processes,
    books,
    headers: headersOf(accounts[0]),
    model: (id) => id
  }
  // Node writes a CPU profile only when the process exits gracefully.
  if (profile !== null) {
    yield* Effect.addFinalizer(() =>
      signal(subject, "SIGCONT").pipe(
        Effect.andThen(signal(subject, "SIGTERM")),
        Effect.andThen(Effect.forEach(processes, ({ end }) => end)),
        Effect.timeoutOption(STOP_PATIENCE)
      )
    )
  }
  return subject
})

/** Fails before any measurement if a revision stores its ledger in other tables. */
const countable = (name: string, { charges, held, settled, violations }: Books) =>
  Effect.all([charges, held, settled, violations]).pipe(
    Effect.catchCause((cause) =>
      Effect.fail(
        new BenchFailed({
          message: `${name} cannot be measured: charges are counted in orders.state, tasks.state and pools.held, which it does not have\n${Cause.pretty(cause)}`
        })
      )
    ),
    Effect.flatMap(([, , , broken]) =>
      broken === null
        ? Effect.void
        : new BenchFailed({ message: `${name}: its books are broken from the start: ${broken}` })
    )
  )

/** The headers of a request with the account's API key. */
export const headersOf = (account: Customer | undefined): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  authorization: `Bearer ${account?.key}`
})
